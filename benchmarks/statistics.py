"""The statistics against scipy: same data, same answer, less time."""

import math
import sys

import numpy as np
from scipy import stats as scipy_stats

from benchmarks.report import Report, interleaved, seconds
from wm_audit.core import stream
from wm_audit.stats import block_permutation_test, correlation_bootstrap, kendall_tau_b, spearman

RESAMPLES, DIAGNOSTICS, N = 2_000, 11, 60
FEW = 100  # resamples that scipy is asked for; its cost grows linearly


def kendall() -> list[str]:
    """The same value, to 1e-12; then the time of both."""
    source = stream(0, "benchmark", "kendall")
    x = source.normal(100_000)
    y = 0.5 * x + source.normal(100_000)
    ours, theirs = kendall_tau_b(x, y).value, scipy_stats.kendalltau(x, y).statistic
    assert ours is not None
    assert math.isclose(ours, theirs, rel_tol=1e-12)
    times = interleaved({"ours": (lambda: kendall_tau_b(x, y), 1), "scipy": (lambda: scipy_stats.kendalltau(x, y), 1)}, rounds=7)
    return _row("Kendall's tau-b, n = 100,000", times, "scipy.stats.kendalltau")


def bootstrap() -> list[str]:
    """Eleven diagnostics at once against one call for each; scipy runs fewer resamples, and its time is scaled up."""
    source = stream(0, "benchmark", "bootstrap")
    y = source.normal(N)
    columns = [0.5 * y + source.normal(N) for _ in range(DIAGNOSTICS)]

    def ours() -> None:
        for i, x in enumerate(columns):
            correlation_bootstrap(x, y, stream=source.child(i), resamples=RESAMPLES)

    def theirs() -> None:
        scipy_stats.bootstrap(
            (columns[0], y),
            lambda a, b: scipy_stats.spearmanr(a, b).statistic,
            n_resamples=FEW,
            paired=True,
            vectorized=False,
            method="percentile",
            rng=np.random.default_rng(0),
        )

    rho = spearman(columns[0], y).value
    assert rho is not None
    assert math.isclose(rho, scipy_stats.spearmanr(columns[0], y).statistic, rel_tol=1e-12)
    times = interleaved({"ours": (ours, 1), "scipy": (theirs, 1)}, rounds=5)
    times["scipy"] *= DIAGNOSTICS * RESAMPLES / FEW
    return _row(f"bootstrap of {DIAGNOSTICS} Spearman correlations, n = {N}, {RESAMPLES:,} resamples", times, "scipy.stats.bootstrap")


def permutation() -> list[str]:
    """Every arrangement of seven seeds."""
    source = stream(0, "benchmark", "blocks")
    x, y = source.normal((7, 3)), source.normal((7, 3))
    found = block_permutation_test(x, y)
    assert found.p is not None
    took = seconds(lambda: block_permutation_test(x, y), 20)
    return ["exact block permutation test, 7 seeds x 3 capacities (all 5,040 orders)", _time(took), "-", "-"]


def _row(name: str, times: dict[str, float], peer: str) -> list[str]:
    return [name, _time(times["ours"]), f"{_time(times['scipy'])} ({peer})", f"{times['scipy'] / times['ours']:.1f} x"]


def _time(taken: float) -> str:
    return f"{taken * 1e3:.3g} ms" if taken < 1.0 else f"{taken:.3g} s"


def measure() -> Report:
    """The table of this page."""
    notes = [
        "Both sides are checked to give the same coefficient before they are timed.",
        f"scipy's bootstrap was run with {FEW} resamples of one diagnostic, and its time multiplied.",
    ]
    return Report("Statistics", ("what", "wm_audit", "peer", "ratio"), [kendall(), bootstrap(), permutation()], notes)


if __name__ == "__main__":
    sys.stdout.write(measure().markdown())
