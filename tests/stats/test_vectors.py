"""The reference vectors, each by its id. Exact fractions and enumerations were worked out by hand or by brute force."""

import math

import numpy as np
import pytest

from wm_audit.core import Label, Reason, stream
from wm_audit.stats import (
    Interval,
    block_permutation_test,
    calibration_error,
    clopper_pearson,
    dispersion_error,
    effective_tests,
    equivalence,
    fisher_interval,
    hartigan_interval,
    holm,
    jackknife_z,
    kendall_tau_b,
    kendall_within,
    mcnemar_exact,
    permutation_test,
    sign_flip,
    spearman,
    superiority,
    t_approximation,
    wilson,
    within_capacity_rho,
)

NAN = math.nan
V1 = ([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5])
V2 = ([1, 2, 2, 3, 4, 5, 6], [1, 3, 2, 2, 5, 4, 6])
V4 = ([3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8])
V16_X = [(1, 12, 21), (2, 11, 23), (3, 14, 22), (4, 13, 25), (5, 15, 24)]
V16_Y = [(10, 22, 31), (11, 20, 33), (14, 21, 30), (12, 24, 34), (13, 23, 32)]
V18_X = [(3, 1), (1, 2), (4, 4), (2, 3), (6, 6), (5, 5)]
V18_Y = [(30, 20), (10, 10), (50, 40), (20, 30), (40, 60), (60, 50)]


def bounds(interval: Interval) -> tuple[float, float]:
    assert interval.bounds is not None, interval.reason
    return interval.bounds


def test_v01_spearman_and_its_exact_p() -> None:
    assert spearman(*V1).value == pytest.approx(29 / 35, abs=1e-15)
    test = permutation_test(*V1)
    assert (test.hits, test.total) == (42, 720)
    assert test.p == pytest.approx(0.0583333, abs=5e-8)
    assert t_approximation(29 / 35, 6).p == pytest.approx(0.0415627, abs=5e-8)


def test_v02_spearman_with_ties() -> None:
    assert spearman(*V2).value == pytest.approx(0.881818181818, abs=5e-13)
    test = permutation_test(*V2)
    assert (test.hits, test.total) == (66, 5040)
    assert test.p == pytest.approx(0.0130952, abs=5e-8)


def test_v03_kendall_and_its_counts() -> None:
    tau = kendall_tau_b(*V2)
    assert tau.value == pytest.approx(0.75, abs=1e-15)
    assert (tau.concordant, tau.discordant, tau.ties_x, tau.ties_y, tau.ties_both) == (17, 2, 1, 1, 0)


def test_v04_many_ties() -> None:
    assert spearman(*V4).value == pytest.approx(0.198853681210, abs=5e-13)
    assert kendall_tau_b(*V4).value == pytest.approx(0.160514470781, abs=5e-13)


def test_v05_kendall_is_tau_b() -> None:
    x, y = [1, 2, 2, 3], [1, 2, 3, 3]
    assert kendall_tau_b(x, y).reason is Reason.TOO_FEW_PAIRS
    tau = kendall_tau_b(x, y, min_n=4, min_distinct=3)
    assert tau.value == pytest.approx(0.8, abs=1e-15)
    assert tau.variant == "tau-b"


def test_v06_kendall_and_its_exact_p() -> None:
    assert kendall_tau_b(*V1).value == pytest.approx(0.6, abs=1e-15)
    test = permutation_test(*V1, "kendall")
    assert (test.hits, test.total) == (98, 720)
    assert test.p == pytest.approx(0.136111, abs=5e-7)


def test_v07_a_nan_is_dropped_with_its_pair() -> None:
    x, y = [0, NAN, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]
    rho = spearman(x, y)
    assert (rho.value, rho.n, rho.n_dropped) == (1.0, 6, 1)
    test = permutation_test(x, y)
    assert (test.hits, test.total) == (2, 720)
    assert test.p == pytest.approx(0.00277778, abs=5e-9)
    assert fisher_interval(rho.value, rho.n).reason is Reason.PERFECT_CORRELATION


def test_v08_rounding_noise_is_no_order() -> None:
    assert spearman(range(15), 1 + np.arange(15) * 2.3e-16).reason is Reason.CONSTANT_Y


def test_v09_nothing_finite() -> None:
    rho = spearman(range(15), [NAN] * 15)
    assert (rho.reason, rho.n, rho.n_dropped) == (Reason.NO_FINITE_PAIRS, 0, 15)


def test_v10_holm() -> None:
    assert holm([0.04, 0.01, 0.03, 0.005]) == pytest.approx([0.06, 0.03, 0.06, 0.02], abs=1e-15)


def test_v11_a_null_keeps_its_place_and_counts() -> None:
    planned, tested = holm([0.01, None, 0.03], m=3), holm([0.01, None, 0.03], m=2)
    assert planned[1] is None
    assert tested[1] is None
    assert planned[::2] == pytest.approx([0.03, 0.06], abs=1e-15)
    assert tested[::2] == pytest.approx([0.02, 0.03], abs=1e-15)


def test_v12_no_five_seed_test_survives_eleven() -> None:
    assert holm([1 / 120] * 11) == pytest.approx([0.0916667] * 11, abs=5e-8)


@pytest.mark.parametrize(("rho", "expected"), [(0.021, (-0.49661, 0.52759)), (0.130, (-0.40954, 0.60216)), (0.301, (-0.24978, 0.70462))])
def test_v13_fisher_interval(rho: float, expected: tuple[float, float]) -> None:
    assert bounds(fisher_interval(rho, 15)) == pytest.approx(expected, abs=5e-6)


@pytest.mark.parametrize(("rho", "n", "p"), [(0.3167, 9, 0.406345), (-0.525, 15, 0.0444839)])
def test_v14_t_approximation(rho: float, n: int, p: float) -> None:
    assert t_approximation(rho, n).p == pytest.approx(p, abs=5e-7)


def test_v15_least_n_for_equivalence() -> None:
    def least(level: float) -> int:
        return next(n for n in range(4, 100) if equivalence(fisher_interval(0.0, n, level), 0.4) is Label.SUPPORTED)

    assert (least(0.90), least(0.95)) == (19, 25)


def test_v16_the_primary_analysis() -> None:
    assert within_capacity_rho(V16_X, V16_Y).value == pytest.approx(2 / 3, abs=1e-15)
    test = block_permutation_test(V16_X, V16_Y)
    assert (test.hits, test.total, test.floor) == (1, 120, 1 / 120)
    interval = jackknife_z(V16_X, V16_Y, 0.95)
    assert interval.z == pytest.approx(0.804718956, abs=5e-10)
    assert interval.se == pytest.approx(0.613786007, abs=5e-10)
    assert bounds(interval) == pytest.approx((-0.716017, 0.986848), abs=5e-7)
    assert bounds(jackknife_z(V16_X, V16_Y, 0.90)) == pytest.approx((-0.465084, 0.971212), abs=5e-7)
    pooled = spearman(np.ravel(V16_X), np.ravel(V16_Y))
    assert pooled.value == pytest.approx(0.964286, abs=5e-7)
    assert t_approximation(pooled.value, pooled.n).p == pytest.approx(7e-9, abs=5e-10)


def test_v17_simpsons_reversal() -> None:
    seed, capacity = np.arange(5)[:, None], np.arange(3)[None, :]
    x, y = seed + 10 * capacity, (5 - seed) + 10 * capacity
    assert within_capacity_rho(x, y).value == -1.0
    assert jackknife_z(x, y).reason is Reason.PERFECT_CORRELATION
    assert spearman(x.ravel(), y.ravel()).value == pytest.approx(0.785714, abs=5e-7)


def test_v18_six_seeds_two_capacities() -> None:
    assert within_capacity_rho(V18_X, V18_Y).value == pytest.approx(0.885714286, abs=5e-10)
    test = block_permutation_test(V18_X, V18_Y)
    assert (test.hits, test.total, test.p) == (9, 720, 0.0125)
    assert bounds(jackknife_z(V18_X, V18_Y, 0.95)) == pytest.approx((0.055526, 0.991824), abs=5e-7)


def test_v19_sign_flip() -> None:
    test = sign_flip([1, 2, 3, 4, 5])
    assert (test.up.p, test.down.p, test.two_sided.p) == (1 / 32, 1.0, 2 / 32)
    assert bounds(hartigan_interval([1, 2, 3, 4, 5])) == (1.0, 5.0)


def test_v20_sign_flip_with_a_negative() -> None:
    d = [0.5, -0.2, 0.3, 0.9, 0.1, 0.4]
    assert sign_flip(d).up.p == 3 / 64
    assert bounds(hartigan_interval(d)) == pytest.approx((0.05, 0.65), abs=1e-15)


def test_v21_a_bound_of_exactly_zero_decides_nothing() -> None:
    d = [0, 0, 1, 2, 3, 4]
    assert sign_flip(d).up.p == 4 / 64
    interval = hartigan_interval(d)
    assert interval.low == 0.0
    assert superiority(interval, 0.0) is Label.INCONCLUSIVE


def test_v22_four_seeds_have_no_interval() -> None:
    assert hartigan_interval([1, 2, 3, 4]).reason is Reason.TOO_FEW_SEEDS


@pytest.mark.parametrize(
    ("k", "n", "expected"), [(0, 20, (0.0, 0.161125)), (58, 61, (0.865089, 0.983134)), (11, 506, (0.012181, 0.038504))]
)
def test_v23_wilson(k: int, n: int, expected: tuple[float, float]) -> None:
    assert bounds(wilson(k, n)) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(("k", "expected"), [(0, (0.0, 0.168433)), (20, (0.831567, 1.0))])
def test_v24_clopper_pearson(k: int, expected: tuple[float, float]) -> None:
    assert bounds(clopper_pearson(k, 20)) == pytest.approx(expected, abs=5e-7)


def test_v25_calibration_error() -> None:
    predicted = np.arange(1.0, 9.0)
    assert calibration_error(predicted, [1, 1, 4, 4, 5, 7, 7, 9], 4).value == 0.5
    assert calibration_error(predicted, predicted - 0.5, 4).value == 0.5
    assert calibration_error(predicted, predicted + 0.5, 4).value == 0.5
    assert calibration_error(predicted, predicted, 4).value == 0.0


def test_v26_dispersion_error() -> None:
    # (0 + |1 - 2| + |6 - 3|) / 3 over sqrt(38 / 3), which is 4 / sqrt(114).
    value = dispersion_error([1, 1, 4, 4, 9, 9], [1, 1, 1, 1, 36, 36], 3).value
    assert value == pytest.approx(4 / math.sqrt(114), abs=1e-15)
    assert value == pytest.approx(0.374634323, abs=5e-9)


def test_v27_effective_tests() -> None:
    assert effective_tests(0.1 * np.eye(3) + 0.9).value == pytest.approx(1.772200350, abs=5e-10)


def test_v29_per_state_against_pooled_tau() -> None:
    state, oracle, model = [0, 0, 1, 1], [1, 2, 10, 11], [2, 1, 12, 13]
    assert kendall_tau_b(oracle, model, min_n=4).value == pytest.approx(0.666667, abs=5e-7)
    assert kendall_within(state, oracle, model).value == 0.0


def test_v30_labels_from_intervals() -> None:
    assert [equivalence(interval, 0.4) for interval in ((-0.35, 0.41), (-0.39, 0.39), (0.41, 0.9))] == [
        Label.INCONCLUSIVE,
        Label.SUPPORTED,
        Label.CONTRADICTED,
    ]
    assert [superiority(interval, 0.6) for interval in ((0.6, 0.9), (0.61, 0.9), (0.1, 0.59))] == [
        Label.INCONCLUSIVE,
        Label.SUPPORTED,
        Label.CONTRADICTED,
    ]


def test_v31_mcnemar() -> None:
    assert mcnemar_exact(3, 8).p == 0.2265625
    assert mcnemar_exact(0, 5).p == 0.0625
    assert mcnemar_exact(0, 0).reason is Reason.NO_DISCORDANT_PAIRS


def test_v32_a_constant_capacity_does_not_shrink_the_estimate() -> None:
    x = np.repeat(np.arange(1.0, 6.0)[:, None], 3, axis=1)
    y = np.column_stack([np.arange(1.0, 6.0), np.full(5, 2.0), np.full(5, 3.0)])
    within = within_capacity_rho(x, y)
    assert within.value == 1.0
    assert within.n_constant_capacities == 2
    assert within.constant_capacities == (1, 2)


def test_v33_uneven_bins() -> None:
    predicted = np.arange(23)
    result = calibration_error(predicted, predicted + predicted % 5 - 2, 10)
    assert [one.n for one in result.bins] == [3, 2, 2, 3, 2, 2, 3, 2, 2, 2]
    assert result.value == pytest.approx(0.826086957, abs=5e-10)


def test_the_enumeration_is_what_a_large_sample_of_orders_approaches() -> None:
    rng = stream(1, "vector orders")
    x, y = rng.normal(8), rng.normal(8)
    drawn = permutation_test(x, y, stream=stream(2, "orders"))
    assert drawn.total == 10_000
    assert drawn.floor == 1e-4
    assert drawn.p == pytest.approx(drawn.hits / 10_000)
