"""Every statistic that scipy or statsmodels also has agrees with theirs to 1e-12 over 500 random inputs; where theirs is wrong,
enumeration says who is right."""

import gc
import math
import warnings
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from wm_audit.core import Reason, stream
from wm_audit.stats import (
    block_permutation_test,
    clopper_pearson,
    correlation_bootstrap,
    fisher_interval,
    holm,
    kendall_tau_b,
    kendall_within,
    mcnemar_exact,
    newcombe,
    permutation_test,
    ranks,
    sign_flip,
    spearman,
    t_approximation,
    wilson,
    within_capacity_rho,
)

NAN = math.nan
CASES = range(500)
Floats = NDArray[np.float64]


def close(value: object) -> object:
    return pytest.approx(value, abs=1e-12, rel=0.0)


def vectors(case: int) -> tuple[Floats, Floats]:
    """Two related vectors of 6 to 40 values, on a coarse grid so that most of them tie, with four distinct values or more."""
    draws = stream(case, "agreement")
    n = 6 + int(draws.integers(35, 1)[0])
    x, noise = draws.normal((2, n))
    x, y = (np.rint(side * (1 + case % 4)) / 8 for side in (x, 0.5 * x + noise))
    for side in (x, y):
        side[:4] = np.arange(4) / 8
    order = draws.permutation(n)
    return x, y[order] if case % 2 else y


def trial(case: int) -> tuple[int, int, int, int, float]:
    """Two samples' successes and trials, and a level."""
    draws = stream(case, "trials")
    n1, n2 = (1 + draws.integers(200, 2)).tolist()
    k1, k2 = int(draws.integers(n1 + 1, 1)[0]), int(draws.integers(n2 + 1, 1)[0])
    return k1, n1, k2, n2, (0.8, 0.9, 0.95, 0.99)[case % 4]


def test_ranks() -> None:
    for case in CASES:
        x, _ = vectors(case)
        assert ranks(x).ranks.tolist() == scipy_stats.rankdata(x).tolist()
        assert ranks(x).groups == len(np.unique(x))


def test_spearman_and_its_t_approximation() -> None:
    for case in CASES:
        x, y = vectors(case)
        found, theirs = spearman(x, y), scipy_stats.spearmanr(x, y)
        assert found.value == close(float(theirs.statistic))
        t = t_approximation(found.value, x.size)
        assert t.p == close(float(theirs.pvalue)) or t.reason is Reason.PERFECT_CORRELATION


def test_fishers_interval() -> None:
    for case in CASES:
        x, y = vectors(case)
        theirs = scipy_stats.pearsonr(scipy_stats.rankdata(x), scipy_stats.rankdata(y)).confidence_interval(0.9)
        found = fisher_interval(spearman(x, y).value, x.size, 0.9)
        assert found.reason is Reason.PERFECT_CORRELATION or found.bounds == close((float(theirs.low), float(theirs.high)))


def test_kendalls_tau_b() -> None:
    for case in CASES:
        x, y = vectors(case)
        assert kendall_tau_b(x, y).value == close(float(scipy_stats.kendalltau(x, y, method="asymptotic").statistic))


def test_kendall_inside_groups() -> None:
    for case in CASES:
        x, y = vectors(case)
        groups = stream(case, "groups").integers(4, x.size)
        inside = [groups == group for group in range(4)]
        taus = [
            float(scipy_stats.kendalltau(x[at], y[at]).statistic) if len(set(y[at])) > 1 else 0.0 for at in inside if len(set(x[at])) > 1
        ]
        assert kendall_within(groups, x, y).value == close(float(np.mean(taus)))


def test_one_capacity_is_spearman() -> None:
    for case in CASES:
        x, y = vectors(case)
        assert within_capacity_rho(x[:, None], y[:, None]).value == close(float(scipy_stats.spearmanr(x, y).statistic))


def test_holm() -> None:
    gc.freeze()  # multipletests collects garbage at every call, which would take half a minute
    try:
        for case in CASES:
            raw = stream(case, "holm").uniform(1 + case % 15) ** 2
            p = np.round(raw, 2) if case % 2 else raw
            assert holm(p.tolist()) == close(multipletests(p, method="holm")[1].tolist())
    finally:
        gc.unfreeze()


def test_wilson_and_clopper_pearson() -> None:
    for case in CASES:
        k, n, _, _, level = trial(case)
        test = scipy_stats.binomtest(k, n)
        for ours, name, other in ((wilson, "wilson", "wilson"), (clopper_pearson, "exact", "beta")):
            theirs = test.proportion_ci(level, method=name)
            assert ours(k, n, level=level).bounds == close((float(theirs.low), float(theirs.high)))
            assert ours(k, n, level=level).bounds == close(tuple(float(bound) for bound in proportion_confint(k, n, 1 - level, other)))


def test_newcombe() -> None:
    for case in CASES:
        k1, n1, k2, n2, level = trial(case)
        theirs = confint_proportions_2indep(k1, n1, k2, n2, compare="diff", method="newcomb", alpha=1 - level)
        assert newcombe(k1, n1, k2, n2, level=level).bounds == close(tuple(float(bound) for bound in theirs))


def test_mcnemar() -> None:
    for case in CASES:
        b, _, c, _, _ = trial(case)
        if b + c:
            assert mcnemar_exact(b, c).p == close(float(mcnemar([[3, b], [c, 5]], exact=True).pvalue))


@pytest.mark.parametrize("statistic", ["spearman", "kendall"])
def test_exact_permutation_tests(statistic: str) -> None:
    kernel = {"spearman": scipy_stats.spearmanr, "kendall": scipy_stats.kendalltau}[statistic]
    for case in range(6):  # 720 calls each: scipy evaluates order by order
        x, y = (side[:6] for side in vectors(case))
        theirs = scipy_stats.permutation_test(
            (y,), lambda order, x=x: abs(kernel(x, order).statistic), permutation_type="pairings", alternative="greater", n_resamples=np.inf
        )
        assert permutation_test(x, y, statistic).p == close(float(theirs.pvalue))  # type: ignore[arg-type]


def test_exact_block_permutation() -> None:
    for case in range(6):
        x, y = (np.rint(side * 3) for side in stream(case, "blocks").normal((2, 5, 2)))

        def size(order: NDArray[np.float64], x: Floats = x, y: Floats = y) -> float:
            return abs(within_capacity_rho(x, y[order.astype(int)]).value or 0.0)

        theirs = scipy_stats.permutation_test(
            (np.arange(5.0),), size, permutation_type="pairings", alternative="greater", n_resamples=np.inf, vectorized=False
        )
        assert block_permutation_test(x, y).p == close(float(theirs.pvalue))


def test_sign_flips() -> None:
    for case in CASES:
        d = np.rint(stream(case, "signs").normal(3 + case % 6) * 4)
        ours = sign_flip(d)
        for found, alternative in ((ours.up, "greater"), (ours.down, "less"), (ours.two_sided, "two-sided")):
            theirs = scipy_stats.permutation_test(
                (d,),
                lambda x, axis: np.sum(x, axis=axis),
                permutation_type="samples",
                alternative=alternative,
                n_resamples=np.inf,
                vectorized=True,
            )
            assert found.p == close(float(theirs.pvalue))


# ---- where they are wrong or unusable, and what is right


def exact_p(x: list[float], y: list[float], score: object) -> Fraction:
    """The share of all orders of y whose |score| is at least the observed one, in exact arithmetic."""
    assert callable(score)
    sizes = [abs(score(x, order)) for order in permutations(y)]
    return Fraction(sum(size >= sizes[0] for size in sizes), len(sizes))


def rank_score(x: list[float], y: tuple[float, ...]) -> Fraction:
    """Spearman's numerator, from twice the mid-ranks: integers."""

    def twice(values: list[float] | tuple[float, ...]) -> list[int]:
        return [sum(other < value for other in values) * 2 + sum(other == value for other in values) + 1 for value in values]

    n = len(x)
    return Fraction(sum(a * b for a, b in zip(twice(x), twice(y), strict=True)) - n * (n + 1) ** 2, 4)


def pair_score(x: list[float], y: tuple[float, ...]) -> int:
    """Kendall's numerator."""
    return sum(((x[i] > x[j]) - (x[i] < x[j])) * ((y[i] > y[j]) - (y[i] < y[j])) for i, j in product(range(len(x)), repeat=2) if i < j)


TIED: tuple[list[float], list[float]] = ([1, 2, 2, 3, 4, 5, 6], [1, 3, 2, 2, 5, 4, 6])
UNTIED: tuple[list[float], list[float]] = ([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5])


@pytest.mark.parametrize("pair", [TIED, UNTIED], ids=["tied", "untied"])
def test_p_of_few_pairs_is_enumerated_where_theirs_is_an_approximation(pair: tuple[list[float], list[float]]) -> None:
    right = exact_p(*pair, rank_score)
    found = permutation_test(*pair)
    assert Fraction(found.hits, found.total) == right
    assert float(scipy_stats.spearmanr(*pair).pvalue) < 0.75 * float(right)


def test_kendalls_p_with_ties_is_enumerated_where_theirs_is_an_approximation() -> None:
    right = exact_p(*TIED, pair_score)
    found = permutation_test(*TIED, "kendall")
    assert Fraction(found.hits, found.total) == right
    assert abs(float(scipy_stats.kendalltau(*TIED).pvalue) - float(right)) > 1e-3


def test_a_perfect_pair_with_gaps_has_the_p_of_its_complete_pairs() -> None:
    """nan_policy="omit" may leave rho a rounding error above 1, and p is 1 then; without the error it is 0, as wrong."""
    x, y = [0, NAN, 2, 3, 4, 5, NAN], [0, 1, 2, 3, NAN, 5, 6]
    right = exact_p([0, 2, 3, 5], [0, 2, 3, 5], rank_score)
    found = permutation_test(x, y, min_n=4)
    assert Fraction(found.hits, found.total) == right == Fraction(2, 24)
    theirs = float(scipy_stats.spearmanr(x, y, nan_policy="omit").pvalue)
    assert min(theirs, 1 - theirs) < 1e-6


def test_two_pairs_have_no_correlation() -> None:
    assert scipy_stats.spearmanr([1, 2], [1, 2]).statistic == close(1.0)
    assert exact_p([1, 2], [1, 2], rank_score) == 1  # both orders are as extreme: two pairs can show nothing
    assert spearman([1, 2], [1, 2]).reason is Reason.TOO_FEW_PAIRS


def test_rounding_noise_is_no_order() -> None:
    x, y = np.arange(15.0), 1 + np.arange(15) * 2.3e-16
    assert scipy_stats.spearmanr(x, y).statistic == close(1.0)
    assert spearman(x, y).reason is Reason.CONSTANT_Y


def test_one_constant_resample_does_not_take_the_interval_away() -> None:
    x, y = np.arange(12.0), np.array([0.0] * 9 + [1, 2, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = scipy_stats.bootstrap(
            (x, y),
            lambda a, b: scipy_stats.spearmanr(a, b).statistic,
            paired=True,
            vectorized=False,
            method="percentile",
            n_resamples=200,
            rng=np.random.default_rng(1),
        )
    # All 12**12 resamples have a value except those that draw from the nine zeros alone, or one row only: 3.2 in a hundred.
    constant = int(np.count_nonzero(np.isnan(theirs.bootstrap_distribution)))
    assert 0 < constant <= 0.05 * 200
    assert math.isnan(theirs.confidence_interval.low)
    ours = correlation_bootstrap(x, y, stream=stream(1, "agreement"))
    expected = ((9 / 12) ** 12 + 3 * (1 / 12) ** 12) * ours.resamples
    assert abs(ours.n_degenerate - expected) < 5 * math.sqrt(expected)
    assert ours.bounds is not None
    defined = theirs.bootstrap_distribution[np.isfinite(theirs.bootstrap_distribution)]
    assert ours.bounds == pytest.approx(tuple(np.quantile(defined, [0.025, 0.975])), abs=0.15)


def test_a_missing_p_is_counted_by_the_plan_not_by_its_place() -> None:
    """statsmodels counts a NaN as a test (before 0.15 it lost the whole family); here the planned size says whether it counts."""
    p, alone = [0.01, NAN, 0.03], multipletests([0.01, 0.03], method="holm")[1].tolist()
    theirs = multipletests(p, method="holm")[1][[0, 2]].tolist()
    assert theirs != close(alone)
    assert holm(p, m=2) == [close(alone[0]), None, close(alone[1])]
    assert holm(p, m=3) == [close(0.03), None, close(0.06)]
