"""The primary estimate and its interval against definitions written out one cell at a time."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from wm_audit.core import Reason, stream
from wm_audit.stats import Design, jackknife_z, kendall_tau_b, leave_one_out, spearman, within_capacity_rho

Floats = NDArray[np.float64]
few = settings(max_examples=25, deadline=None)


def definition(x: Floats, y: Floats) -> float:
    """The formula, capacity by capacity; x is (S, C) or (M, S, C)."""
    members = x if x.ndim == 3 else x[None]
    ab = aa = bb = 0.0
    for c in range(y.shape[1]):
        composite = np.mean([scipy_stats.rankdata(member[:, c]) for member in members], axis=0)
        a = scipy_stats.rankdata(composite) - (len(y) + 1) / 2
        b = scipy_stats.rankdata(y[:, c]) - (len(y) + 1) / 2
        if a.any() and b.any():
            ab, aa, bb = ab + a @ b, aa + a @ a, bb + b @ b
    return float(ab / math.sqrt(aa * bb)) if aa > 0 else math.nan


def jackknife_by_deletion(x: Floats, y: Floats, level: float) -> tuple[float, float]:
    seeds = len(y)
    z = np.array([math.atanh(definition(np.delete(x, s, axis=-2), np.delete(y, s, axis=0))) for s in range(seeds)])
    se = math.sqrt((seeds - 1) / seeds * ((z - z.mean()) ** 2).sum())
    reach = float(scipy_stats.t.ppf((1 + level) / 2, seeds - 1)) * se
    centre = math.atanh(definition(x, y))
    return math.tanh(centre - reach), math.tanh(centre + reach)


def cells(seed: int, *shape: int, grid: float = 1.0) -> Floats:
    """Random cells on a grid coarse enough to tie now and then."""
    return np.rint(stream(seed, "cells").normal(shape) * grid) / grid


@few
@given(seed=st.integers(0, 999), seeds=st.integers(3, 9), capacities=st.integers(1, 4), members=st.integers(0, 4))
def test_the_estimate_is_its_definition(seed: int, seeds: int, capacities: int, members: int) -> None:
    x = cells(seed, *((members,) if members else ()), seeds, capacities)
    y = cells(seed + 1000, seeds, capacities)
    found, expected = within_capacity_rho(x, y), definition(x, y)
    if math.isnan(expected):
        assert found.reason in (Reason.CONSTANT_X, Reason.CONSTANT_Y, Reason.CONSTANT_BOTH)
    else:
        assert found.value == pytest.approx(expected, abs=1e-14)


@few
@given(seed=st.integers(0, 999), seeds=st.integers(4, 9), capacities=st.integers(1, 4), members=st.integers(0, 4))
def test_every_deletion_ranks_and_averages_anew(seed: int, seeds: int, capacities: int, members: int) -> None:
    x = cells(seed, *((members,) if members else ()), seeds, capacities)
    y = cells(seed + 1000, seeds, capacities)
    expected = [definition(np.delete(x, s, axis=-2), np.delete(y, s, axis=0)) for s in range(seeds)]
    assert leave_one_out(x, y) == pytest.approx(expected, abs=1e-14, nan_ok=True)


@pytest.mark.parametrize("members", [0, 3])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_is_its_definition(members: int, level: float) -> None:
    for seed in range(5):
        x, y = cells(seed, *((members,) if members else ()), 12, 3, grid=4), cells(seed + 50, 12, 3, grid=4)
        assert jackknife_z(x, y, level).bounds == pytest.approx(jackknife_by_deletion(x, y, level), abs=1e-12)


@few
@given(seed=st.integers(0, 999))
def test_level_up_interval_wider_and_the_estimate_inside(seed: int) -> None:
    x, y = cells(seed, 7, 3, grid=3), cells(seed + 1000, 7, 3, grid=3)
    estimate, narrow, wide = within_capacity_rho(x, y).value, jackknife_z(x, y, 0.9), jackknife_z(x, y, 0.95)
    if narrow.bounds is None or wide.bounds is None:
        assert narrow.reason == wide.reason
        return
    assert estimate is not None
    assert wide.bounds[0] < narrow.bounds[0] < estimate < narrow.bounds[1] < wide.bounds[1]


@few
@given(seed=st.integers(0, 999), flip=st.booleans())
def test_symmetry_and_the_order_of_seeds_and_capacities(seed: int, flip: bool) -> None:
    x, y = cells(seed, 6, 3, grid=2), cells(seed + 1000, 6, 3, grid=2)
    order, places = stream(seed, "order").permutation(6), stream(seed, "places").permutation(3)
    value = within_capacity_rho(x, y).value
    assert within_capacity_rho(y, x).value == value
    assert within_capacity_rho(x[order][:, places], y[order][:, places]).value == value
    assert within_capacity_rho(x, -y).value == (None if value is None else -value)
    assert jackknife_z(x[order], y[order]).bounds == pytest.approx(jackknife_z(x, y).bounds, rel=1e-12)


def test_a_seed_with_a_hole_leaves_as_a_whole() -> None:
    x, y = cells(1, 10, 3, grid=4), cells(2, 10, 3, grid=4)
    x[4, 1] = math.nan
    found = within_capacity_rho(x, y)
    assert (found.n, found.n_dropped) == (9, 1)
    assert found.value == within_capacity_rho(np.delete(x, 4, 0), np.delete(y, 4, 0)).value
    assert jackknife_z(x, y).bounds == jackknife_z(np.delete(x, 4, 0), np.delete(y, 4, 0)).bounds


def test_one_missing_member_takes_its_seed_out_of_the_composite() -> None:
    x, y = cells(1, 3, 10, 3, grid=4), cells(2, 10, 3, grid=4)
    x[2, 4, 1] = math.inf
    assert within_capacity_rho(x, y).value == within_capacity_rho(np.delete(x, 4, 1), np.delete(y, 4, 0)).value


def test_coverage_is_asked_of_the_planned_seeds() -> None:
    x, y = cells(1, 5, 3, grid=9), cells(2, 5, 3, grid=9)
    x[0, 0] = math.nan
    assert within_capacity_rho(x, y).value is not None  # 4 of 5 is exactly .8
    x[1, 2] = math.nan
    assert within_capacity_rho(x, y).reason is Reason.COVERAGE
    assert within_capacity_rho(x[2:], y[2:]).value is not None
    assert within_capacity_rho(x[2:], y[2:], Design(planned=5)).reason is Reason.COVERAGE
    assert jackknife_z(x, y).reason is Reason.COVERAGE


def test_relaxed_ranks_the_pairs_that_are_there() -> None:
    x, y = cells(1, 6, 2, grid=9), cells(2, 6, 2, grid=9)
    x[0, 0] = y[3, 1] = math.nan
    ab = aa = bb = 0.0
    for c in range(2):
        there = np.isfinite(x[:, c]) & np.isfinite(y[:, c])
        a, b = (scipy_stats.rankdata(side[there, c]) - (there.sum() + 1) / 2 for side in (x, y))
        ab, aa, bb = ab + a @ b, aa + a @ a, bb + b @ b
    assert within_capacity_rho(x, y, Design(relaxed=True)).value == pytest.approx(ab / math.sqrt(aa * bb), abs=1e-14)


def test_the_relaxed_composite_averages_the_members_that_are_there() -> None:
    x, y = cells(1, 3, 6, 2, grid=9), cells(2, 6, 2, grid=9)
    x[0, 1, 0] = x[1, 1, 0] = x[2, 5, 1] = math.nan
    composite = np.full((6, 2), math.nan)
    for c in range(2):
        shares = np.full((3, 6), math.nan)
        for m in range(3):
            there = np.isfinite(x[m, :, c])
            shares[m, there] = (scipy_stats.rankdata(x[m, there, c]) - 0.5) / there.sum()
        composite[:, c] = np.nanmean(shares, axis=0)
    relaxed = Design(relaxed=True)
    assert within_capacity_rho(x, y, relaxed).value == within_capacity_rho(composite, y, relaxed).value


def test_without_holes_relaxed_is_strict() -> None:
    x, y = cells(1, 3, 8, 2, grid=2), cells(2, 8, 2, grid=2)
    assert within_capacity_rho(x, y, Design(relaxed=True)).value == within_capacity_rho(x, y).value
    assert jackknife_z(x, y, design=Design(relaxed=True)).bounds == jackknife_z(x, y).bounds


def test_pooled_is_the_correlation_of_all_cells() -> None:
    x, y = cells(1, 6, 3, grid=2), cells(2, 6, 3, grid=2)
    assert within_capacity_rho(x, y, Design(scope="pooled")).value == spearman(x.ravel(), y.ravel()).value
    tau = within_capacity_rho(x, y, Design(scope="pooled", method="tau")).value
    assert tau == pytest.approx(kendall_tau_b(x.ravel(), y.ravel()).value, abs=1e-14)


def test_pooled_deletions_take_out_whole_seeds() -> None:
    x, y = cells(1, 6, 3, grid=2), cells(2, 6, 3, grid=2)
    expected = [spearman(np.delete(x, s, 0).ravel(), np.delete(y, s, 0).ravel()).value for s in range(6)]
    assert leave_one_out(x, y, Design(scope="pooled")).tolist() == pytest.approx(expected, abs=1e-15)


def test_tau_within_sums_over_capacities_before_dividing() -> None:
    x, y = cells(1, 6, 2, grid=2), cells(2, 6, 2, grid=2)
    counts = [kendall_tau_b(x[:, c], y[:, c]) for c in range(2)]
    score = sum(one.concordant - one.discordant for one in counts)
    untied_x = sum(one.concordant + one.discordant + one.ties_y for one in counts)
    untied_y = sum(one.concordant + one.discordant + one.ties_x for one in counts)
    assert within_capacity_rho(x, y, Design(method="tau")).value == pytest.approx(score / math.sqrt(untied_x * untied_y), abs=1e-14)


def test_ties_follow_the_tolerance_of_their_side() -> None:
    x, y = np.arange(5.0)[:, None] * 1e-8 + 1, np.arange(5.0)[:, None]
    assert within_capacity_rho(x, y).value == 1.0
    assert within_capacity_rho(x, y, Design(rtol=1e-6)).reason is Reason.CONSTANT_X
    assert within_capacity_rho(y, x, Design(rtol=1e-12, rtol_y=1e-6)).reason is Reason.CONSTANT_Y
    both = np.stack([x, y])
    assert within_capacity_rho(both, y, Design(rtol=(1e-6, 1e-12), rtol_y=1e-12)).value == 1.0


SOME = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        (np.full((4, 3), math.nan), SOME, Reason.NO_FINITE_PAIRS),
        (np.zeros((0, 3)), np.zeros((0, 3)), Reason.NO_FINITE_PAIRS),
        (np.zeros((4, 0)), np.zeros((4, 0)), Reason.NO_FINITE_PAIRS),
        (SOME[:2], SOME[:2], Reason.TOO_FEW_SEEDS),
        (np.ones((4, 3)), SOME, Reason.CONSTANT_X),
        (SOME, np.ones((4, 3)), Reason.CONSTANT_Y),
        (np.ones((4, 3)), np.ones((4, 3)), Reason.CONSTANT_BOTH),
        (np.array([[1.0, 1]] * 3 + [[2, 1]]), np.array([[1.0, 1]] * 3 + [[1, 2]]), Reason.CONSTANT_BOTH),
    ],
)
def test_degenerate_blocks_have_a_reason(x: Floats, y: Floats, reason: Reason) -> None:
    assert within_capacity_rho(x, y).reason is reason
    assert jackknife_z(x, y).reason is reason


def test_intervals_that_cannot_be() -> None:
    three = jackknife_z([[1], [2], [3]], [[1], [3], [2]])
    assert three.reason is Reason.TOO_FEW_SEEDS
    # Without the last seed the others agree perfectly.
    assert jackknife_z([[1], [2], [3], [4]], [[2], [3], [4], [1]]).reason is Reason.PERFECT_REPLICATE
    # Without the last seed x does not vary.
    lonely = jackknife_z([[1], [1], [1], [1], [2]], [[2], [3], [4], [1], [5]])
    assert (lonely.reason, lonely.n_degenerate) == (Reason.DEGENERATE_RESAMPLES, 1)


def test_replicates_that_all_agree_are_no_evidence_of_precision() -> None:
    # A cyclic design: every deletion leaves the same pattern.
    seed, capacity = np.arange(5)[:, None], np.arange(5)[None, :]
    x, y = (seed + capacity) % 5, np.array([3, 0, 4, 1, 2])[(seed + capacity) % 5]
    assert np.ptp(leave_one_out(x, y)) < 1e-12
    assert jackknife_z(x, y).reason is Reason.DEGENERATE_RESAMPLES


def test_wrong_use_names_the_argument() -> None:
    for options, name in (
        ({"scope": "all"}, "scope"),
        ({"method": "r"}, "method"),
        ({"coverage": 0.0}, "coverage"),
        ({"planned": 0}, "planned"),
        ({"rtol": 2.0}, "rtol"),
        ({"rtol": (0.1, 0.2)}, "rtol_y"),
    ):
        with pytest.raises(ValueError, match=name):
            Design(**options)
    with pytest.raises(ValueError, match="x must hold the seeds"):
        within_capacity_rho(SOME, SOME[:3])
    with pytest.raises(ValueError, match="planned"):
        within_capacity_rho(SOME, SOME, Design(planned=3))
    with pytest.raises(ValueError, match="rtol"):
        within_capacity_rho(SOME, SOME, Design(rtol=(0.1, 0.2), rtol_y=0.1))
    with pytest.raises(ValueError, match="level"):
        jackknife_z(SOME, SOME, 1.0)
    with pytest.raises(ValueError, match="y must hold real"):
        jackknife_z(SOME, SOME > 3)


@pytest.mark.parametrize("design", [Design(), Design(scope="pooled"), Design(method="tau"), Design(relaxed=True)])
def test_replicates_taken_a_few_at_a_time_are_the_same_to_the_bit(design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = stream(0, "chunks")
    x, y = draws.normal((3, 12, 2)), np.round(draws.normal((12, 2)), 1)
    found = []
    for cells in (1, 200, 10**9):
        monkeypatch.setattr("wm_audit.stats.jackknife._CELLS", cells)
        found.append(leave_one_out(x, y, design))
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    assert np.isfinite(found[0]).all()


def test_memory_does_not_grow_with_the_cube_of_the_seeds() -> None:
    """Every pair of 300 seeds in each of 300 replicates would be 216 MB."""
    draws = stream(0, "memory")
    x, y = draws.normal((300, 1)), draws.normal((300, 1))
    tracemalloc.start()
    leave_one_out(x, y, Design(method="tau"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6
