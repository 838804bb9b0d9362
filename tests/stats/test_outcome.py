"""The outcome's resolution and reliability."""

import math

import numpy as np
import pytest

from wm_audit.core import Reason, stream
from wm_audit.stats import outcome_resolution, reliability


def layout(noise: float, seeds: int = 30, capacities: int = 3, starts: int = 12) -> np.ndarray:
    """Cell effects of variance 1, start effects of variance 25, noise."""
    draws = stream(1, "layout", str(noise))
    cell, start = draws.normal((seeds, capacities, 1)), 5 * draws.normal(starts)
    return 100 * np.arange(capacities)[None, :, None] + cell + start + noise * draws.normal((seeds, capacities, starts))


def test_reliability_is_its_formula() -> None:
    returns = layout(2.0, 5, 2, 4)
    cells = returns.reshape(10, 4)
    residual = cells - cells.mean(1, keepdims=True) - cells.mean(0, keepdims=True) + cells.mean()
    noise = (residual**2).sum() / (9 * 3)
    spread = returns.mean(axis=2).var(axis=0, ddof=1).mean()
    assert reliability(returns).value == pytest.approx(1 - noise / (4 * spread), abs=1e-12)


def test_start_and_capacity_effects_cancel() -> None:
    # Cells of variance 1 with noise 2 averaged over 12 starts: 1 / (1 + 4 / 12) = .75.
    assert reliability(layout(2.0)).value == pytest.approx(0.75, abs=0.1)
    assert reliability(layout(0.0)).value == pytest.approx(1.0, abs=1e-9)
    assert reliability(layout(2.0) * 1e200).value == pytest.approx(reliability(layout(2.0)).value, abs=1e-12)


def test_pure_noise_is_clipped_at_zero() -> None:
    value = reliability(stream(4, "noise").normal((4, 2, 6))).value
    assert value is not None
    assert 0.0 <= value <= 1.0


def test_an_incomplete_cell_is_dropped_and_counted() -> None:
    returns = layout(2.0, 6, 2, 4)
    returns[1, 1, 2] = math.nan
    found = reliability(returns)
    assert (found.n, found.n_dropped) == (11, 1)
    assert found.value is not None


@pytest.mark.parametrize(
    ("returns", "reason"),
    [
        (np.full((4, 2, 3), math.nan), Reason.NO_FINITE_PAIRS),
        (np.zeros((0, 2, 3)), Reason.NO_FINITE_PAIRS),
        (np.zeros((4, 2, 0)), Reason.NO_FINITE_PAIRS),
        (np.ones((4, 2, 1)), Reason.TOO_FEW_SAMPLES),
        (np.ones((1, 1, 3)), Reason.TOO_FEW_SAMPLES),
        (np.ones((1, 3, 3)), Reason.TOO_FEW_SEEDS),
        (np.ones((4, 2, 3)), Reason.NO_SPREAD),
        (np.zeros((4, 2, 3)), Reason.NO_SPREAD),
    ],
)
def test_degenerate_returns_have_a_reason(returns: np.ndarray, reason: Reason) -> None:
    assert reliability(returns).reason is reason


def test_resolution_counts_distinct_outcomes_by_the_tie_rule() -> None:
    outcome = [[1.0, 2.0], [1.0 + 1e-15, 3.0], [5.0, 5.0], [None, 4.0]]
    found = outcome_resolution(outcome)
    assert (found.overall.n, found.overall.n_dropped, found.overall.distinct, found.overall.largest_tie) == (7, 1, 5, 2)
    assert found.overall.share == pytest.approx(5 / 7)
    assert [one.distinct for one in found.inside] == [2, 4]
    assert [one.largest_tie for one in found.inside] == [2, 1]
    assert found.seeds_without_variation == 1
    assert found.reliability is None


def test_resolution_carries_the_reliability() -> None:
    returns = layout(2.0, 6, 2, 4)
    assert outcome_resolution(returns.mean(axis=2), returns).reliability == reliability(returns)


def test_no_outcome_has_no_share() -> None:
    found = outcome_resolution(np.zeros((0, 2)))
    assert (found.overall.n, found.overall.share, found.overall.largest_tie) == (0, None, 0)


def test_wrong_use_names_the_argument() -> None:
    with pytest.raises(ValueError, match="returns"):
        reliability(np.ones((2, 2)))
    with pytest.raises(ValueError, match="returns"):
        outcome_resolution(np.ones((2, 2)), np.ones((3, 2, 4)))
    with pytest.raises(ValueError, match="outcome"):
        outcome_resolution(np.ones(3))
    with pytest.raises(ValueError, match="rtol"):
        outcome_resolution(np.ones((2, 2)), rtol=-1.0)
