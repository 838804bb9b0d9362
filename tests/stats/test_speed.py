"""Guards against losing the speed that makes resampling free: processor time, loose enough for a busy machine."""

import time
from collections.abc import Callable

import numpy as np
from scipy import stats as scipy_stats

from wm_audit.core import stream
from wm_audit.stats import block_permutation_test, correlation_bootstrap, kendall_tau_b


def least(action: Callable[[], object], repeats: int) -> float:
    """The shortest of some runs, in seconds of this process."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return float(best)


def test_bootstrapping_spearman_is_at_least_20_times_faster_than_resample_by_resample() -> None:
    x, y = stream(1, "speed").normal((2, 60))

    def rho(a: object, b: object) -> float:
        return float(scipy_stats.spearmanr(a, b).statistic)

    def theirs() -> None:
        scipy_stats.bootstrap(
            (x, y), rho, paired=True, vectorized=False, n_resamples=100, method="percentile", rng=np.random.default_rng(1)
        )

    ours = least(lambda: correlation_bootstrap(x, y, stream=stream(1, "draws")), 3)
    assert 20 * ours < 20 * least(theirs, 2)  # 2,000 resamples against 20 times 100


def test_all_orders_of_seven_seeds_take_less_than_a_second() -> None:
    x, y = stream(1, "x").normal((7, 3)), stream(1, "y").normal((7, 3))
    assert least(lambda: block_permutation_test(x, y), 2) < 1.0


def test_kendall_keeps_up_with_scipy_at_100_000() -> None:
    x, y = stream(1, "large").normal((2, 100_000))
    ours = least(lambda: kendall_tau_b(x, y), 4)
    assert ours < 3 * least(lambda: scipy_stats.kendalltau(x, y), 4)  # 1.1 to 1.5 where measured
