"""Our distribution functions against scipy's, and at the edges where precision is lost."""

import math

import numpy as np
import pytest
from scipy import special
from scipy import stats as scipy_stats

from wm_audit.core import stream
from wm_audit.stats.distributions import (
    beta_cdf,
    beta_quantile,
    normal_cdf,
    normal_quantile,
    student_cdf,
    student_quantile,
    student_tail,
)

DRAWS = stream(1, "distributions")
PROBABILITIES = [*DRAWS.uniform(150, 1e-6, 1 - 1e-6), 1e-300, 1e-12, 0.025, 0.05, 0.5, 0.95, 0.975, 1 - 1e-12]


def test_the_normal_quantile_agrees_with_scipy() -> None:
    for p in PROBABILITIES:
        assert normal_quantile(p) == pytest.approx(float(special.ndtri(p)), rel=1e-12, abs=1e-15)


def test_the_normal_distribution_agrees_with_scipy_in_both_tails() -> None:
    for z in np.linspace(-37, 8, 91):
        assert normal_cdf(float(z)) == pytest.approx(float(special.ndtr(z)), rel=1e-12)


def test_the_incomplete_beta_function_agrees_with_scipy() -> None:
    for a, b, share in zip(10 ** DRAWS.uniform(400, -0.5, 5), 10 ** DRAWS.uniform(400, -0.5, 5), DRAWS.uniform(400), strict=True):
        x = float(special.betaincinv(a, b, share))
        assert beta_cdf(x, a, b) == pytest.approx(float(special.betainc(a, b, x)), abs=1e-12)


def test_beta_quantiles_agree_with_scipy() -> None:
    for a, b, p in zip(10 ** DRAWS.uniform(300, -0.3, 4), 10 ** DRAWS.uniform(300, -0.3, 4), DRAWS.uniform(300), strict=True):
        assert beta_quantile(float(p), float(a), float(b)) == pytest.approx(float(special.betaincinv(a, b, p)), abs=1e-12)


def test_student_tails_agree_with_scipy_also_where_they_are_tiny() -> None:
    for df in (1, 2, 3, 4, 7.5, 19, 498, 100_000):
        for t in (0.0, 0.01, 0.3, 2.0, 7.0, 25.0):
            assert student_tail(t, df) == pytest.approx(float(scipy_stats.t.sf(t, df)), rel=2e-12, abs=1e-280)
            assert student_cdf(-t, df) == pytest.approx(float(scipy_stats.t.cdf(-t, df)), rel=2e-12, abs=1e-280)
            assert student_cdf(t, df) == pytest.approx(float(scipy_stats.t.cdf(t, df)), abs=1e-12)


def test_one_degree_of_freedom_is_cauchys_distribution() -> None:
    for t in (1e-12, 1e-9, 0.01, 1.0, 40.0):
        assert 0.5 - student_tail(t, 1) == pytest.approx(math.atan(t) / math.pi, rel=1e-12, abs=1e-16)


def test_student_quantiles_agree_with_scipy() -> None:
    for df in (1, 2, 3, 4, 7.5, 19, 498, 100_000):
        for p in (1e-9, 0.025, 0.05, 0.3, 0.5, 0.6, 0.95, 0.975, 0.9995):
            assert student_quantile(p, df) == pytest.approx(float(scipy_stats.t.ppf(p, df)), rel=1e-12, abs=1e-12)


def test_limits() -> None:
    assert beta_cdf(0.0, 2.0, 3.0) == 0.0
    assert beta_cdf(1.0, 2.0, 3.0) == 1.0
    assert student_tail(1e200, 3.0) == 0.0
    assert student_tail(0.0, 3.0) == 0.5
    assert normal_quantile(0.25) == -normal_quantile(0.75)


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, 1.1, math.nan])
def test_a_probability_outside_the_open_unit_interval_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="p must"):
        normal_quantile(p)
    with pytest.raises(ValueError, match="p must"):
        student_quantile(p, 3.0)
    with pytest.raises(ValueError, match="p must"):
        beta_quantile(p, 1.0, 1.0)


def test_impossible_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="a and b"):
        beta_cdf(0.5, 0.0, 1.0)
    with pytest.raises(ValueError, match="x must"):
        beta_cdf(1.5, 1.0, 1.0)
    with pytest.raises(ValueError, match="df"):
        student_tail(1.0, 0.0)
    with pytest.raises(ValueError, match="t must"):
        student_tail(-1.0, 3.0)
