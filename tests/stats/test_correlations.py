"""Spearman and Kendall against scipy on clean arrays, and their properties on any input."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from wm_audit.core import Reason, stream
from wm_audit.stats import kendall_tau_b, kendall_within, spearman
from wm_audit.stats.kendall import inversions

Correlation = Callable[..., float | None]


def rho(x: object, y: object, **options: object) -> float | None:
    return spearman(x, y, min_n=2, min_distinct=2, **options).value  # type: ignore[arg-type]


def tau(x: object, y: object, **options: object) -> float | None:
    return kendall_tau_b(x, y, min_n=2, min_distinct=2, **options).value  # type: ignore[arg-type]


few = settings(max_examples=50, deadline=None)
BOTH = pytest.mark.parametrize("correlation", [rho, tau])
# Values on a coarse grid: tied often, and never within a tolerance of each other without being equal.
PAIRS = st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=2, max_size=30).map(
    lambda pairs: np.array(pairs, dtype=np.float64).T * 0.37
)


def test_500_random_inputs_with_and_without_ties_agree_with_scipy() -> None:
    draws = stream(3, "correlations")
    for case in range(500):
        n = 6 + case % 60
        values = draws.normal((2, n))
        if case % 3:
            values = np.rint(values * (1 + case % 5))
        x, y = values
        if len(set(x)) < 2 or len(set(y)) < 2:
            continue
        assert rho(x, y) == pytest.approx(float(scipy_stats.spearmanr(x, y).statistic), abs=1e-12)
        assert tau(x, y) == pytest.approx(float(scipy_stats.kendalltau(x, y, method="asymptotic").statistic), abs=1e-12)


@few
@given(PAIRS)
def test_kendall_counts_are_those_of_all_pairs(pairs: NDArray[np.float64]) -> None:
    a, b = (np.sign(side[:, None] - side[None, :])[np.triu_indices(side.size, 1)] for side in pairs)
    found = kendall_tau_b(*pairs)
    assert found.concordant == np.count_nonzero(a * b > 0)
    assert found.discordant == np.count_nonzero(a * b < 0)
    assert found.ties_x == np.count_nonzero((a == 0) & (b != 0))
    assert found.ties_y == np.count_nonzero((a != 0) & (b == 0))
    assert found.ties_both == np.count_nonzero((a == 0) & (b == 0))


@few
@given(st.lists(st.integers(0, 90), max_size=90))
def test_inversions_are_those_of_all_pairs(codes: list[int]) -> None:
    assert inversions(np.array(codes, dtype=np.int64)) == sum(
        codes[i] > codes[j] for i in range(len(codes)) for j in range(i + 1, len(codes))
    )


def test_kendall_counts_need_no_more_than_64_bits_and_do_not_lose_any() -> None:
    n = 100_000
    up, down = kendall_tau_b(np.arange(n), np.arange(n)), kendall_tau_b(np.arange(n), -np.arange(n))
    assert (up.value, up.concordant) == (1.0, n * (n - 1) // 2)
    assert (down.value, down.discordant) == (-1.0, n * (n - 1) // 2)


@BOTH
@few
@given(pairs=PAIRS, junk=st.lists(st.sampled_from([(math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (0.0, -math.inf)]), max_size=4))
def test_appended_pairs_that_are_not_finite_change_nothing(
    correlation: Correlation, pairs: NDArray[np.float64], junk: list[tuple[float, float]]
) -> None:
    longer = np.concatenate((pairs.T, np.array(junk).reshape(-1, 2))).T
    assert correlation(*longer) == correlation(*pairs)
    assert spearman(*longer).n_dropped == len(junk)
    assert spearman(*longer).reason == spearman(*pairs).reason


@BOTH
@few
@given(pairs=PAIRS)
def test_increasing_maps_change_nothing(correlation: Correlation, pairs: NDArray[np.float64]) -> None:
    x, y = pairs
    assert correlation(np.exp(x), y**3 + y, rtol=0.0) == correlation(x, y, rtol=0.0)


@BOTH
@few
@given(pairs=PAIRS, factor=st.floats(1e-6, 1e6), rtol=st.sampled_from([0.0, 1e-12, 1e-6]))
def test_scaling_changes_nothing(correlation: Correlation, pairs: NDArray[np.float64], factor: float, rtol: float) -> None:
    assert correlation(pairs[0] * factor, pairs[1], rtol=rtol) == correlation(*pairs, rtol=rtol)


@BOTH
@few
@given(pairs=PAIRS)
def test_symmetry_and_antisymmetry_are_exact(correlation: Correlation, pairs: NDArray[np.float64]) -> None:
    x, y = pairs
    value = correlation(x, y)
    assert correlation(y, x) == value
    assert correlation(x, -y) == (None if value is None else -value)
    assert value is None or -1.0 <= value <= 1.0


@BOTH
@few
@given(pairs=PAIRS, seed=st.integers(0, 99))
def test_the_order_of_the_rows_changes_not_one_bit(correlation: Correlation, pairs: NDArray[np.float64], seed: int) -> None:
    order = stream(seed, "rows").permutation(pairs.shape[1])
    assert correlation(*pairs[:, order]) == correlation(*pairs)


@pytest.mark.parametrize("compute", [spearman, kendall_tau_b])
@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], Reason.NO_FINITE_PAIRS),
        ([1, math.nan], [math.nan, 1], Reason.NO_FINITE_PAIRS),
        ([None, None], [1, 2], Reason.NO_FINITE_PAIRS),
        ([1], [2], Reason.CONSTANT_BOTH),
        ([1] * 9, range(9), Reason.CONSTANT_X),
        (range(9), [0.0] * 8 + [-0.0], Reason.CONSTANT_Y),
        ([1] * 9, [1] * 9, Reason.CONSTANT_BOTH),
        ([1, 1], [1, 2], Reason.CONSTANT_X),  # constant comes before too few
        ([1, 2], [1, 2], Reason.TOO_FEW_PAIRS),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], Reason.TOO_FEW_PAIRS),
        ([1, 2, 3, 1, 2, 3], range(6), Reason.TOO_FEW_DISTINCT),
        (range(6), [1, 2, 3, 1, 2, 3], Reason.TOO_FEW_DISTINCT),
    ],
)
def test_degenerate_input_has_a_reason(compute: Callable[..., object], x: object, y: object, reason: Reason) -> None:
    found = compute(x, y)
    assert getattr(found, "value") is None  # noqa: B009  Measurement and Kendall share the member, not a type
    assert getattr(found, "reason") is reason  # noqa: B009


def test_extreme_values_are_only_an_order() -> None:
    assert rho([-1.7e308, 0, 5e-324, 1.7e308], [1, 2, 3, 4]) == 1.0


@pytest.mark.parametrize("compute", [spearman, kendall_tau_b])
@pytest.mark.parametrize(
    ("x", "y", "options", "name"),
    [
        ([1, 2], [1], {}, "y must have the shape of x"),
        ([[1, 2]], [[1, 2]], {}, "x must have 1"),
        ([True, False], [1, 2], {}, "x must hold real"),
        ([1, 2], [1j, 2], {}, "y must hold real"),
        (["1", "2"], [1, 2], {}, "x must hold real"),
        ([True, None], [1, 2], {}, "x must hold real"),
        ([1, [2]], [1, 2], {}, "x must"),
        ([1, 2], [1, 2], {"rtol": 2.0}, "rtol"),
        ([1, 2], [1, 2], {"atol": -1.0}, "atol"),
        ([1, 2], [1, 2], {"min_n": 1}, "min_n"),
        ([1, 2], [1, 2], {"min_distinct": 1.5}, "min_distinct"),
    ],
)
def test_wrong_use_names_the_argument(compute: Callable[..., object], x: object, y: object, options: dict[str, object], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        compute(x, y, **options)


def test_masked_values_are_missing() -> None:
    masked = np.ma.array([1.0, 2.0, 99.0, 3.0], mask=[False, False, True, False])
    assert spearman(masked, [1, 2, 3, 4], min_n=3, min_distinct=3).value == 1.0


def test_kendall_within_counts_an_unanswered_state_and_drops_an_unasked_one() -> None:
    groups = ["a"] * 3 + ["b"] * 3 + ["c"] * 3 + ["d"]
    oracle = [1, 2, 3, 5, 5, 5, 1, 2, 3, 7]
    model = [1, 2, 3, 1, 2, 3, 4, 4, 4, 1]
    found = kendall_within(groups, oracle, model)
    assert (found.value, found.n, found.n_dropped) == (0.5, 2, 2)


def test_kendall_within_drops_pairs_that_are_not_finite() -> None:
    found = kendall_within([0, 0, 0, 1, 1], [1, 2, 3, 1, 2], [1, math.nan, 3, math.nan, 1])
    assert (found.value, found.n, found.n_dropped) == (1.0, 1, 1)


def test_kendall_within_has_a_reason_where_nothing_was_asked() -> None:
    assert kendall_within([], [], []).reason is Reason.PROBE_DEGENERATE
    flat = kendall_within([0, 0], [1, 1], [1, 2])
    assert (flat.reason, flat.n_dropped) == (Reason.PROBE_DEGENERATE, 1)


@pytest.mark.parametrize("groups", [[0], [0.5, 1.5], [[0, 1]]])
def test_kendall_within_refuses_labels_that_do_not_fit(groups: list[object]) -> None:
    with pytest.raises(ValueError, match="groups"):
        kendall_within(groups, [1, 2], [1, 2])


def test_kendall_within_is_the_mean_of_scipys() -> None:
    draws = stream(4, "within")
    groups = draws.integers(12, 90)
    x, y = np.rint(draws.normal((2, 90)) * 2)
    expected = []
    for group in range(12):
        inside = groups == group
        if len(set(x[inside])) > 1:
            expected.append(
                float(scipy_stats.kendalltau(x[inside], y[inside], method="asymptotic").statistic) if len(set(y[inside])) > 1 else 0.0
            )
    assert kendall_within(groups, x, y).value == pytest.approx(np.mean(expected), abs=1e-12)
