"""Statistics of our own, numpy only, float64: validate, then compute."""

from wm_audit.stats.calibration import Calibration, CalibrationBin, calibration_error
from wm_audit.stats.dispersion import Dispersion, DispersionBin, dispersion_error
from wm_audit.stats.kendall import kendall_tau_b
from wm_audit.stats.kendall_within import kendall_within
from wm_audit.stats.ranks import Ranks, ranks
from wm_audit.stats.results import Interval, Kendall, TestResult
from wm_audit.stats.spearman import spearman

__all__ = [
    "Calibration",
    "CalibrationBin",
    "Dispersion",
    "DispersionBin",
    "Interval",
    "Kendall",
    "Ranks",
    "TestResult",
    "calibration_error",
    "dispersion_error",
    "kendall_tau_b",
    "kendall_within",
    "ranks",
    "spearman",
]
