"""ICC(3,1) against the published example, against analysis of variance, and against its own coverage."""

import numpy as np
import pytest
from scipy.stats import f as f_distribution

from wm_audit.core import Reason, stream
from wm_audit.stats.icc import f_quantile, icc_3_1

# Shrout and Fleiss (1979), table 2: six targets, four judges; table 4 prints ICC(3,1) = .71
EXAMPLE = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def test_the_published_example() -> None:
    found = icc_3_1(EXAMPLE, 0.95)
    rows, error = 11.2417, 1.0194  # the published mean squares
    assert found.value == pytest.approx((rows - error) / (rows + 3 * error), abs=1e-4)
    assert found.value == pytest.approx(0.71, abs=0.006)
    ratio = rows / error
    low, high = ratio / f_distribution.ppf(0.975, 5, 15), ratio * f_distribution.ppf(0.975, 15, 5)
    assert found.interval.bounds == pytest.approx(((low - 1) / (low + 3), (high - 1) / (high + 3)), abs=1e-4)
    assert (found.n, found.n_dropped) == (6, 0)


def test_it_agrees_with_the_analysis_of_variance_of_statsmodels() -> None:
    pd = pytest.importorskip("pandas")
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    values = stream(5, "icc").normal((9, 4)) + stream(5, "seed").normal((9, 1))
    frame = pd.DataFrame({"v": values.ravel(), "s": np.repeat(np.arange(9), 4).astype(str), "c": np.tile(np.arange(4), 9).astype(str)})
    squares = anova_lm(ols("v ~ s + c", frame).fit())["mean_sq"]
    expected = (squares["s"] - squares["Residual"]) / (squares["s"] + 3 * squares["Residual"])
    assert icc_3_1(values).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("p", "df1", "df2"), [(0.95, 2, 4), (0.95, 19, 38), (0.05, 19, 38), (0.975, 1, 1), (0.995, 299, 598)])
def test_f_quantiles(p: float, df1: int, df2: int) -> None:
    assert f_quantile(p, df1, df2) == pytest.approx(f_distribution.ppf(p, df1, df2), rel=1e-9)


def test_the_interval_covers_as_often_as_it_says() -> None:
    draws = stream(6, "icc")
    covered = 0
    for _ in range(600):
        values = np.sqrt(0.4) * draws.normal((8, 1)) + np.sqrt(0.6) * draws.normal((8, 3)) + 7.0 * np.arange(3)
        low, high = icc_3_1(values, 0.90).interval.bounds or (1.0, -1.0)
        covered += low <= 0.4 <= high
    assert covered / 600 == pytest.approx(0.90, abs=3 * np.sqrt(0.09 / 600))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.full((3, 2), np.nan), Reason.NO_FINITE_PAIRS),
        ([[1.0, 2.0, 3.0]], Reason.TOO_FEW_SEEDS),
        ([[1.0], [2.0]], Reason.TOO_FEW_SAMPLES),
        ([[0.1, 0.3]] * 5, Reason.NO_SPREAD),
    ],
)
def test_what_cannot_be_estimated_is_null(values: list[list[float]], reason: Reason) -> None:
    found = icc_3_1(values)
    assert (found.value, found.reason, found.interval.reason) == (None, reason, reason)


def test_perfect_agreement_has_no_interval() -> None:
    found = icc_3_1(0.1 * np.arange(5)[:, None] + 0.7 * np.arange(3))
    assert found.value == 1.0
    assert found.interval.reason is Reason.PERFECT_CORRELATION


def test_incomplete_targets_are_dropped_and_counted() -> None:
    found = icc_3_1([*EXAMPLE, [1, 2, np.nan, 3]])
    assert found.value == icc_3_1(EXAMPLE).value
    assert (found.n, found.n_dropped) == (6, 1)
