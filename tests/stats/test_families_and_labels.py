"""Holm's family, labels from intervals, and the correlation formulas that need only rho and n."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from wm_audit.core import Label, Reason, stream
from wm_audit.stats import Interval, effective_tests, equivalence, fisher_interval, holm, superiority, t_approximation

P_VALUES = st.lists(st.one_of(st.none(), st.floats(0.0, 1.0)), max_size=12)


def numbers(values: list[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def families(count: int) -> list[list[float]]:
    """Families of up to 12 p-values, every other one with ties."""
    draws = stream(1, "holm")
    raw = [draws.uniform(1 + case % 12) ** 2 for case in range(count)]
    return [(np.round(p, 1) if case % 2 else p).tolist() for case, p in enumerate(raw)]


def test_500_families_are_stepped_down_by_definition() -> None:
    for p in families(500):
        ordered = sorted(p)
        steps = [max(min(1.0, (len(p) - j) * ordered[j]) for j in range(i + 1)) for i in range(len(p))]
        assert holm(p) == pytest.approx([steps[ordered.index(value)] for value in p], abs=1e-15)


def test_families_agree_with_statsmodels() -> None:
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    for p in families(12):
        assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)


def test_holm_keeps_a_running_maximum() -> None:
    # Without it the second would be 2 * .011 = .022, below the first's .03.
    assert holm([0.01, 0.011, 0.5]) == pytest.approx([0.03, 0.03, 0.5], abs=1e-15)


@given(P_VALUES, st.integers(0, 5))
def test_holm_lies_between_raw_and_one_and_keeps_the_order(p: list[float | None], more: int) -> None:
    adjusted, larger = holm(p), holm(p, m=len(p) + more)
    assert [value is None for value in adjusted] == [value is None for value in p]
    assert all(raw <= one <= two <= 1.0 for raw, one, two in zip(numbers(p), numbers(adjusted), numbers(larger), strict=True))
    order = np.argsort(numbers(p), kind="stable")
    assert np.all(np.diff(np.array(numbers(adjusted))[order]) >= 0)


def test_a_null_is_whatever_is_not_finite() -> None:
    assert holm([math.nan, 0.02, math.inf]) == [None, 0.06, None]
    assert holm([]) == []
    assert holm([], m=3) == []
    assert holm([None, None]) == [None, None]


def test_wrong_families_are_refused() -> None:
    for p in ([1.5], [-0.1, 0.5]):
        with pytest.raises(ValueError, match="p must lie"):
            holm(p)
    for m in (1, -1, 2.5, True):
        with pytest.raises(ValueError, match="m must"):
            holm([0.1, 0.2], m=m)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="p must hold"):
        holm([True])


def test_bounds_are_strict_and_no_interval_is_no_answer() -> None:
    assert equivalence((-0.4, 0.1), 0.4) is Label.INCONCLUSIVE
    assert equivalence((-0.9, -0.4), 0.4) is Label.INCONCLUSIVE
    assert equivalence((-0.9, -0.41), 0.4) is Label.CONTRADICTED
    assert superiority((0.1, 0.6), 0.6) is Label.INCONCLUSIVE
    for nothing in (None, (None, None), (math.nan, 0.1), (0.1, math.nan), Interval.null(Reason.TOO_FEW_SEEDS, 0.9)):
        assert equivalence(nothing, 0.4) is Label.INCONCLUSIVE
        assert superiority(nothing, 0.4) is Label.INCONCLUSIVE
    assert superiority(Interval(0.7, 0.9, 0.9), 0.6) is Label.SUPPORTED


@pytest.mark.parametrize("margin", [0.0, -0.4, math.nan, math.inf, True])
def test_a_margin_is_positive_and_finite(margin: float) -> None:
    with pytest.raises(ValueError, match="margin"):
        equivalence((0.0, 0.1), margin)


def test_wrong_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="threshold"):
        superiority((0.0, 0.1), math.nan)
    with pytest.raises(ValueError, match="interval"):
        superiority((0.2, 0.1), 0.6)


def test_fisher_and_bonett_wright_intervals_are_their_formulas() -> None:
    for rho in (-0.9, 0.0, 0.3, 0.77):
        for n in (4, 15, 60):
            for level in (0.9, 0.95):
                z = float(scipy_stats.norm.ppf((1 + level) / 2))
                for variance, inflation in (("fisher", 1.0), ("bonett_wright", 1 + rho**2 / 2)):
                    reach = z * math.sqrt(inflation / (n - 3))
                    expected = (math.tanh(math.atanh(rho) - reach), math.tanh(math.atanh(rho) + reach))
                    found = fisher_interval(rho, n, level, variance=variance)  # type: ignore[arg-type]
                    assert found.bounds == pytest.approx(expected, abs=1e-12)


def test_the_t_approximation_is_scipys() -> None:
    draws = stream(2, "t")
    for _ in range(60):
        x, y = draws.normal((2, 12))
        oracle = scipy_stats.spearmanr(x, y)
        assert t_approximation(float(oracle.statistic), 12).p == pytest.approx(float(oracle.pvalue), abs=1e-12)


@pytest.mark.parametrize(
    ("rho", "n", "reason"),
    [
        (None, 9, Reason.NO_FINITE_PAIRS),
        (math.nan, 9, Reason.NO_FINITE_PAIRS),
        (0.5, 2, Reason.TOO_FEW_PAIRS),
        (1.0, 9, Reason.PERFECT_CORRELATION),
        (-1.0, 9, Reason.PERFECT_CORRELATION),
        (1.0 - 1e-13, 9, Reason.PERFECT_CORRELATION),
    ],
)
def test_correlations_without_an_error(rho: float | None, n: int, reason: Reason) -> None:
    assert fisher_interval(rho, n).reason is reason
    assert t_approximation(rho, n).reason is reason


def test_wrong_correlations_are_refused() -> None:
    with pytest.raises(ValueError, match="rho"):
        fisher_interval(1.1, 9)
    with pytest.raises(ValueError, match="rho"):
        t_approximation(-2.0, 9)
    with pytest.raises(ValueError, match="n must"):
        t_approximation(0.5, -1)
    with pytest.raises(ValueError, match="level"):
        fisher_interval(0.5, 9, 0.0)
    with pytest.raises(ValueError, match="variance"):
        fisher_interval(0.5, 9, variance="hotelling")  # type: ignore[arg-type]


def test_effective_tests_between_one_and_all() -> None:
    assert effective_tests(np.eye(4)).value == pytest.approx(4.0)
    assert effective_tests(np.ones((4, 4))).value == pytest.approx(1.0, abs=1e-6)
    indefinite = [[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]  # pairwise deletion can give such a matrix
    eigen = np.maximum(np.linalg.eigvalsh(indefinite), 0)
    assert effective_tests(indefinite).value == pytest.approx(np.sqrt(eigen).sum() ** 2 / eigen.sum())


def test_matrices_without_an_answer() -> None:
    assert effective_tests([[1.0, None], [None, 1.0]]).reason is Reason.NULL_MEMBER
    assert effective_tests(np.zeros((0, 0))).reason is Reason.TOO_FEW_SAMPLES
    assert effective_tests(np.zeros((2, 2))).reason is Reason.NO_SPREAD
    for matrix in (np.ones((2, 3)), [[1.0, 0.5], [0.4, 1.0]], np.ones(3)):
        with pytest.raises(ValueError, match="matrix"):
            effective_tests(matrix)
