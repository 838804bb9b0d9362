"""Statistics of our own, numpy only, float64: validate, then compute."""

from wm_audit.stats.block_permutation import block_permutation_test
from wm_audit.stats.blocks import Design
from wm_audit.stats.bootstrap import bootstrap
from wm_audit.stats.calibration import Calibration, CalibrationBin, calibration_error
from wm_audit.stats.correlation_bootstrap import correlation_bootstrap
from wm_audit.stats.dispersion import Dispersion, DispersionBin, dispersion_error
from wm_audit.stats.effective_tests import effective_tests
from wm_audit.stats.fisher import fisher_interval, t_approximation
from wm_audit.stats.hartigan import hartigan_interval
from wm_audit.stats.holm import holm
from wm_audit.stats.jackknife import jackknife_z, leave_one_out
from wm_audit.stats.kendall import kendall_tau_b
from wm_audit.stats.kendall_within import kendall_within
from wm_audit.stats.labels import equivalence, superiority
from wm_audit.stats.mcnemar import mcnemar_exact
from wm_audit.stats.outcome_resolution import OutcomeResolution, Resolution, outcome_resolution
from wm_audit.stats.permutation import permutation_test
from wm_audit.stats.proportions import clopper_pearson, newcombe, wilson
from wm_audit.stats.ranks import Ranks, ranks
from wm_audit.stats.reliability import reliability
from wm_audit.stats.results import Interval, Kendall, TestResult
from wm_audit.stats.sign_flip import SignFlip, sign_flip
from wm_audit.stats.spearman import spearman
from wm_audit.stats.within_capacity import Within, within_capacity_rho

__all__ = [
    "Calibration",
    "CalibrationBin",
    "Design",
    "Dispersion",
    "DispersionBin",
    "Interval",
    "Kendall",
    "OutcomeResolution",
    "Ranks",
    "Resolution",
    "SignFlip",
    "TestResult",
    "Within",
    "block_permutation_test",
    "bootstrap",
    "calibration_error",
    "clopper_pearson",
    "correlation_bootstrap",
    "dispersion_error",
    "effective_tests",
    "equivalence",
    "fisher_interval",
    "hartigan_interval",
    "holm",
    "jackknife_z",
    "kendall_tau_b",
    "kendall_within",
    "leave_one_out",
    "mcnemar_exact",
    "newcombe",
    "outcome_resolution",
    "permutation_test",
    "ranks",
    "reliability",
    "sign_flip",
    "spearman",
    "superiority",
    "t_approximation",
    "wilson",
    "within_capacity_rho",
]
