"""Permutation tests against enumeration written out one order at a time."""

import math
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from wm_audit.core import Reason, stream
from wm_audit.stats import Design, block_permutation_test, permutation_test, within_capacity_rho

Floats = NDArray[np.float64]


def cells(seed: int, *shape: int, grid: float = 2.0) -> Floats:
    return np.rint(stream(seed, "cells").normal(shape) * grid) / grid


def share(values: list[float], observed: float) -> tuple[int, int, int]:
    largest = max(values)
    return sum(v >= observed - 1e-12 for v in values), len(values), sum(v >= largest - 1e-12 for v in values)


@pytest.mark.parametrize("seeds", [3, 4, 5, 6])
@pytest.mark.parametrize("scope", ["within", "pooled"])
def test_the_block_test_enumerates_the_orders_of_whole_seeds(seeds: int, scope: str) -> None:
    design = Design(scope=scope)  # type: ignore[arg-type]
    for seed in range(4 if seeds < 6 else 1):
        x, y = cells(seed, seeds, 2), cells(seed + 50, seeds, 2)
        observed = within_capacity_rho(x, y, design)
        test = block_permutation_test(x, y, design=design)
        if observed.value is None:
            assert test.reason is observed.reason
            continue
        values = [abs(within_capacity_rho(x[list(order)], y, design).value or 0.0) for order in permutations(range(seeds))]
        hits, total, largest = share(values, abs(observed.value))
        assert (test.hits, test.total, test.p, test.floor) == (hits, total, hits / total, largest / total)
        assert test.value == observed.value


def test_the_block_test_of_a_composite_permutes_the_composite() -> None:
    x, y = cells(1, 3, 5, 2), cells(2, 5, 2)
    values = [abs(within_capacity_rho(x[:, list(order)], y).value or 0.0) for order in permutations(range(5))]
    test = block_permutation_test(x, y)
    assert (test.hits, test.total) == share(values, values[0])[:2]


def test_random_orders_approach_the_enumeration() -> None:
    x, y = cells(3, 8, 3), cells(4, 8, 3)
    x[0] = 9.0  # some association
    a = [np.array([scipy_stats.rankdata(side[:, c]) - 4.5 for c in range(3)]) for side in (x, y)]
    cross = a[0].T @ a[1]
    orders = np.array(list(permutations(range(8))))
    values = np.abs(cross[orders, np.arange(8)].sum(axis=1))
    exact = float(np.mean(values >= values[0] - 1e-9))
    test = block_permutation_test(x, y, stream=stream(1, "orders"))
    assert (test.total, test.floor) == (10_000, 1e-4)
    assert test.p == pytest.approx(exact, abs=4 * math.sqrt(exact / 10_000))


def test_one_stream_one_p() -> None:
    x, y = cells(3, 9, 3), cells(4, 9, 3)
    first, second = (block_permutation_test(x, y, stream=stream(5, "same"), draws=200) for _ in range(2))
    assert first == second
    assert block_permutation_test(x, y, stream=stream(6, "other"), draws=200) != first


@pytest.mark.parametrize("statistic", ["spearman", "kendall"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_free_test_enumerates_all_orders(statistic: str, alternative: str) -> None:
    oracle = scipy_stats.spearmanr if statistic == "spearman" else scipy_stats.kendalltau
    for seed in range(3):
        x, y = cells(seed, 5, grid=2), cells(seed + 9, 5, grid=2)
        if len(set(x)) < 2 or len(set(y)) < 2:
            continue
        values = [float(oracle(x, np.array(order)).statistic) for order in permutations(y)]
        turned = {"two-sided": [abs(v) for v in values], "greater": values, "less": [-v for v in values]}[alternative]
        test = permutation_test(x, y, statistic, alternative=alternative, min_n=2, min_distinct=2)  # type: ignore[arg-type]
        assert (test.hits, test.total) == share(turned, turned[0])[:2]


def test_a_statistic_of_ones_own() -> None:
    def slope(x: Floats, y: Floats) -> Floats:
        return np.asarray((y - y.mean(axis=-1, keepdims=True)) @ (x - x.mean()), dtype=np.float64)

    x, y = np.array([1.0, 2, 3, 4, 5, 9]), np.array([1.0, 4, 2, 6, 5, 7])
    values = [abs(float(slope(x, np.array([order]))[0])) for order in permutations(y)]
    test = permutation_test(x, y, slope)
    assert test.hits == sum(v >= values[0] - 1e-12 for v in values)
    broken = permutation_test(x, y, lambda _, shuffled: shuffled[:, 0] * math.nan)
    assert broken.reason is Reason.DEGENERATE_RESAMPLES


def test_p_is_positive_and_at_most_one() -> None:
    for seed in range(20):
        x, y = cells(seed, 9, grid=2), cells(seed + 50, 9, grid=2)
        test = permutation_test(x, y, stream=stream(seed, "p"), draws=99, min_distinct=2)
        assert test.p is None or 0.01 <= test.p <= 1.0


def test_degenerate_data_have_a_reason() -> None:
    assert permutation_test([1] * 8, range(8)).reason is Reason.CONSTANT_X
    assert permutation_test([], []).reason is Reason.NO_FINITE_PAIRS
    assert permutation_test([1, 2, 3], [1, 2, 3]).reason is Reason.TOO_FEW_PAIRS
    assert block_permutation_test(np.ones((5, 2)), cells(1, 5, 2)).reason is Reason.CONSTANT_X
    assert block_permutation_test(np.ones((2, 2)), cells(1, 2, 2)).reason is Reason.TOO_FEW_SEEDS
    assert block_permutation_test(np.full((5, 2), math.nan), cells(1, 5, 2)).p is None


def test_wrong_use_names_the_argument() -> None:
    long = cells(1, 9, 2)
    with pytest.raises(ValueError, match="stream"):
        block_permutation_test(long, cells(2, 9, 2))
    with pytest.raises(ValueError, match="stream"):
        permutation_test(range(9), range(9))
    with pytest.raises(ValueError, match="draws"):
        block_permutation_test(long, long, draws=0)
    with pytest.raises(ValueError, match="design"):
        block_permutation_test(long, long, design=Design(relaxed=True))
    with pytest.raises(ValueError, match="design"):
        block_permutation_test(long, long, design=Design(method="tau"))
    with pytest.raises(ValueError, match="statistic"):
        permutation_test([1, 2], [1, 2], "pearson")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="alternative"):
        permutation_test([1, 2], [1, 2], alternative="both")  # type: ignore[arg-type]
