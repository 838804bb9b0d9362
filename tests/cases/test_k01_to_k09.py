"""Things that happened in published statistics code, and what happens here (K01 to K09, K14, K27)."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from wm_audit.core import Reason, stream
from wm_audit.stats import (
    calibration_error,
    correlation_bootstrap,
    dispersion_error,
    holm,
    kendall_tau_b,
    permutation_test,
    reliability,
    spearman,
    t_approximation,
    wilson,
)

NAN, INF = math.nan, math.inf


def test_k01_nan_and_infinity_are_no_large_values() -> None:
    """scipy#6530: a NaN ranked as the largest value gave a correlation out of nothing."""
    x, y = [0, NAN, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]
    assert (spearman(x, y).value, spearman(x, y).n_dropped) == (1.0, 1)
    assert spearman(range(15), [NAN] * 15).reason is Reason.NO_FINITE_PAIRS
    for junk in (NAN, INF, -INF, None):
        rising = [0.0, 1, 2, 3, 4, 5, junk]
        assert spearman(rising, [0, 1, 2, 3, 4, 5, -9]).value == 1.0
        assert kendall_tau_b(rising, [0, 1, 2, 3, 4, 5, -9]).value == 1.0


@pytest.mark.parametrize("junk", [(NAN, 1.0), (1.0, NAN), (NAN, NAN), (INF, 1.0)])
def test_k02_one_missing_value_opens_no_other_code_path(junk: tuple[float, float]) -> None:
    """scipy#9414, #12241: with one NaN present ties were ignored, and constants gave r = 0, p = 1."""
    tied = ([1, 2, 2, 3, 4, 5, 6], [1, 3, 2, 2, 5, 4, 6])
    longer = ([*tied[0], junk[0]], [*tied[1], junk[1]])
    assert spearman(*longer).value == spearman(*tied).value
    assert kendall_tau_b(*longer).value == kendall_tau_b(*tied).value
    assert permutation_test(*longer) == permutation_test(*tied)
    constant = ([*range(7), junk[0]], [2.0] * 7 + [junk[1]])
    assert spearman(*constant).reason is Reason.CONSTANT_Y
    assert permutation_test(*constant).p is None


def test_k03_two_pairs_are_no_correlation() -> None:
    """scipy#13900: 15 rows of which two are left gave r = 1."""
    x = np.arange(15.0)
    y = np.where(np.isin(x, [3, 8]), x, NAN)
    rho = spearman(x, y)
    assert (rho.value, rho.reason, rho.n, rho.n_dropped) == (None, Reason.TOO_FEW_PAIRS, 2, 13)
    assert kendall_tau_b(x, y).reason is Reason.TOO_FEW_PAIRS


def test_k04_the_last_bit_decides_nothing() -> None:
    """scipy#15869: equal values differing in the last bit changed ranks and p."""
    x, y = np.arange(15.0), 1 + np.arange(15) * 2.3e-16
    assert scipy_stats.spearmanr(x, y).statistic > 0.9  # what happens without a tolerance
    assert spearman(x, y).reason is Reason.CONSTANT_Y
    third = [0.1 + 0.2, 0.3, 1, 2, 3, 4, 5]
    assert permutation_test(range(7), third) == permutation_test(range(7), [0.3, 0.3, 1, 2, 3, 4, 5])


def test_k04_a_statistic_that_ties_up_to_rounding_counts_as_a_hit() -> None:
    x, y = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.3, 0.1, 0.2, 0.6, 0.4, 0.5]
    in_tenths = [
        abs(sum(a * b for a, b in zip(range(1, 7), order, strict=True)) - 6 * 3.5 * 3.5) for order in permutations([3, 1, 2, 6, 4, 5])
    ]
    hits = sum(one >= in_tenths[0] for one in in_tenths)
    test = permutation_test(x, y, lambda a, shuffled: np.asarray((shuffled - np.mean(y)) @ (a - np.mean(x)), dtype=np.float64))
    assert test.hits == hits


@pytest.mark.parametrize("y", [[1, 2, 3, 4, 5, 6, 7], [2, 1, 1, 3, 3, 4, 1], [3, 1, 2, 2, 2, 5, 4]])
@pytest.mark.parametrize("x", [[1, 2, 3, 4, 5, 6, 7], [1, 1, 2, 2, 3, 3, 4]])
def test_k05_kendalls_p_is_enumerated(x: list[int], y: list[int]) -> None:
    """scipy#8456, #5755: .62 for an exact .82, .067 for .099."""
    orders = np.array(list(permutations(y)))
    signs_x = np.sign(np.subtract.outer(x, x)).ravel()
    scores = np.abs(np.sign(orders[:, :, None] - orders[:, None, :]).reshape(len(orders), -1) @ signs_x)
    test = permutation_test(x, y, "kendall", min_distinct=2)
    assert (test.hits, test.total) == (int(np.count_nonzero(scores >= scores[0])), 5040)


def test_k06_tau_b_is_tau_b_and_says_so() -> None:
    """pandas#43401: tau-a delivered as tau-b."""
    tau = kendall_tau_b([1, 2, 2, 3], [1, 2, 3, 3], min_n=4, min_distinct=3)
    assert tau.value == pytest.approx(0.8)
    assert tau.variant == "tau-b"
    assert (tau.concordant - tau.discordant) / 6 == pytest.approx(2 / 3)


def test_k07_the_t_approximation_is_not_the_exact_p() -> None:
    """scipy#7882: at n = 6 the approximation gives .042 for .058."""
    x, y = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]
    exact, approximate = permutation_test(x, y).p, t_approximation(spearman(x, y).value, 6).p
    assert exact == pytest.approx(42 / 720)
    assert approximate == pytest.approx(0.0415627, abs=5e-8)


def test_k08_degenerate_resamples_neither_poison_nor_vanish() -> None:
    """scipy#14351, fairlearn#1441: one constant resample made the interval (nan, nan), or was dropped unseen."""
    x = np.arange(15.0)
    shown = correlation_bootstrap(x, [0.0] * 12 + [1, 2, 3], stream=stream(8, "k08"))
    assert shown.bounds is not None
    assert 0 < shown.n_degenerate <= 0.05 * shown.resamples
    refused = correlation_bootstrap(x, [0.0] * 13 + [1, 2], stream=stream(8, "k08"), min_distinct=3)
    assert refused.reason is Reason.DEGENERATE_RESAMPLES
    assert refused.n_degenerate > 0.05 * refused.resamples


def test_k09_an_undefined_test_stays_undefined_and_still_counts() -> None:
    """statsmodels#2899: does an undefined test count? Here the family is as large as it was planned."""
    assert holm([0.01, None, 0.03]) == [pytest.approx(0.03), None, pytest.approx(0.06)]
    assert holm([0.01, NAN, 0.03], m=2) == [pytest.approx(0.02), None, pytest.approx(0.03)]
    with pytest.raises(ValueError, match="m must"):
        holm([0.01, None, 0.03], m=1)


def test_k14_values_on_every_edge_fall_into_a_bin() -> None:
    """torchmetrics#1646, #3510: 0.0 and 1.0 fell outside the bins."""
    edges = np.linspace(0.0, 1.0, 11)
    for values in (edges, np.repeat(edges, 3), [0.0] * 5 + [1.0] * 5, [0.0], [1.0]):
        calibration = calibration_error(values, np.ones(len(values)), 10)
        assert sum(one.n for one in calibration.bins) == calibration.n == len(values)
        dispersion = dispersion_error(values, np.ones(len(values)), 10)
        assert sum(one.n for one in dispersion.bins) == dispersion.n == len(values)


def test_k27_one_model_evaluated_ten_times_is_no_ten_models() -> None:
    """SimplerEnv#108: one checkpoint scored 16% to 40% at 25 trials. Noise alone has a reliability near 0, and skill has not."""
    noise: list[float] = []
    skill: list[float] = []
    for case in range(60):
        trials = stream(case, "k27").uniform((10, 1, 25))
        rate = np.linspace(0.05, 0.95, 10)[:, None, None]
        for found, chance in ((noise, np.full_like(rate, 0.28)), (skill, rate)):
            value = reliability((trials < chance).astype(np.float64)).value
            assert value is not None
            found.append(value)
    assert np.median(noise) < 0.25
    assert min(skill) > 0.75
    successes = (stream(27, "k27").uniform((400, 25)) < 0.28).sum(axis=1)
    bounds = [wilson(int(k), 25).bounds for k in successes]
    assert np.ptp(successes) >= 6  # 16% to 40% are 4 to 10 of 25
    assert np.mean([pair is not None and pair[0] <= 0.28 <= pair[1] for pair in bounds]) > 0.92
