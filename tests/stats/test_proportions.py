"""Intervals of proportions and the exact McNemar test against scipy and statsmodels."""

import math
from typing import Any

import pytest
from scipy import stats as scipy_stats

from wm_audit.core import Reason
from wm_audit.stats import clopper_pearson, mcnemar_exact, newcombe, wilson

CASES = [(k, n) for n in (1, 2, 7, 20, 61, 506) for k in sorted({0, 1, n // 3, n // 2, n - 1, n}) if k <= n]


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_two_sided_intervals_agree_with_scipy(level: float) -> None:
    for k, n in CASES:
        test = scipy_stats.binomtest(k, n)
        for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
            theirs = test.proportion_ci(level, method=method)
            bounds = ours(k, n, level=level).bounds
            assert bounds == pytest.approx((theirs.low, theirs.high), abs=1e-12)
            assert bounds is not None
            assert 0.0 <= bounds[0] <= k / n <= bounds[1] <= 1.0


def test_one_sided_bounds_agree_with_scipy() -> None:
    for k, n in CASES:
        for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
            greater = scipy_stats.binomtest(k, n, alternative="greater").proportion_ci(0.95, method=method)
            less = scipy_stats.binomtest(k, n, alternative="less").proportion_ci(0.95, method=method)
            assert ours(k, n, side="lower").bounds == pytest.approx((greater.low, 1.0), abs=1e-12)
            assert ours(k, n, side="upper").bounds == pytest.approx((0.0, less.high), abs=1e-12)


def test_differences_agree_with_statsmodels() -> None:
    confint = pytest.importorskip("statsmodels.stats.proportion").confint_proportions_2indep
    for k1, n1, k2, n2 in ((56, 70, 48, 80), (9, 10, 3, 10), (0, 10, 0, 20), (10, 10, 0, 20), (1, 1, 1, 1)):
        theirs = confint(k1, n1, k2, n2, compare="diff", method="newcomb", alpha=0.05)
        assert newcombe(k1, n1, k2, n2).bounds == pytest.approx(theirs, abs=1e-12)


def test_mcnemar_is_the_exact_binomial_test() -> None:
    for b in range(9):
        for c in range(9):
            if b + c:
                found, oracle = mcnemar_exact(b, c), scipy_stats.binomtest(min(b, c), b + c).pvalue
                assert found.p == pytest.approx(oracle, abs=1e-12)
                assert found.value == (b - c) / (b + c)
                assert found.floor == pytest.approx(min(1.0, 2 * 0.5 ** (b + c)))


def test_the_mid_p_takes_off_the_observed_outcome() -> None:
    for b, c in ((3, 8), (0, 5), (4, 4), (1, 0)):
        exact, at = mcnemar_exact(b, c), scipy_stats.binom.pmf(min(b, c), b + c, 0.5)
        two_tails = 2 * scipy_stats.binom.cdf(min(b, c), b + c, 0.5)
        assert mcnemar_exact(b, c, mid=True).p == pytest.approx(two_tails - at, abs=1e-12)
        assert (mcnemar_exact(b, c, mid=True).p or 0) < (exact.p or 0) or b == c


def test_large_counts_keep_a_positive_p() -> None:
    assert mcnemar_exact(400, 500).p == pytest.approx(scipy_stats.binomtest(400, 900).pvalue, rel=1e-9)
    p = mcnemar_exact(0, 3000).p
    assert p is not None
    assert p > 0.0


def test_nothing_tried_is_no_answer() -> None:
    assert wilson(0, 0).reason is Reason.NO_TRIALS
    assert clopper_pearson(0, 0).reason is Reason.NO_TRIALS
    assert newcombe(0, 0, 1, 2).reason is Reason.NO_TRIALS
    assert newcombe(1, 2, 0, 0).reason is Reason.NO_TRIALS
    assert mcnemar_exact(0, 0).p is None


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
@pytest.mark.parametrize(
    ("k", "n", "options", "name"),
    [
        (3, 2, {}, "k must not exceed"),
        (-1, 2, {}, "k must be"),
        (1.0, 2, {}, "k must be"),
        (True, 2, {}, "k must be"),
        (1, math.nan, {}, "n must be"),
        (1, 2, {"level": 1.0}, "level"),
        (1, 2, {"side": "both"}, "side"),
    ],
)
def test_wrong_use_names_the_argument(interval: Any, k: Any, n: Any, options: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        interval(k, n, **options)


def test_wrong_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="c must"):
        mcnemar_exact(1, -1)
    with pytest.raises(ValueError, match="b must"):
        mcnemar_exact(0.5, 1)  # type: ignore[arg-type]
