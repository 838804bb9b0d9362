"""What must hold for any seeds and capacities, and for any family of tests."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from wm_audit.core import stream
from wm_audit.stats import (
    Design,
    block_permutation_test,
    hartigan_interval,
    holm,
    jackknife_z,
    leave_one_out,
    sign_flip,
    within_capacity_rho,
)

Floats = NDArray[np.float64]
few = settings(max_examples=30, deadline=None)
HOLED = Design(coverage=0.1)  # so that appended seeds without numbers do not ask for coverage
EXACT = Design(coverage=0.1, rtol=0.0)
PLACES = {"seed": st.integers(0, 999), "seeds": st.integers(4, 9), "capacities": st.integers(1, 3), "members": st.integers(1, 3)}


def cells(seed: int, seeds: int, capacities: int, members: int) -> tuple[Floats, Floats]:
    """A composite's members (M, S, C) and outcomes (S, C) on a grid coarse enough to tie now and then."""
    draws = stream(seed, "properties")
    return np.rint(draws.normal((members, seeds, capacities)) * 3) / 4, np.rint(draws.normal((seeds, capacities)) * 3) / 4


def permuted(x: Floats, y: Floats, design: Design = HOLED) -> tuple[object, ...]:
    found = block_permutation_test(x, y, stream=stream(1, "p"), draws=99, design=design)
    return found.value, found.p, found.hits, found.total, found.floor, found.reason


def estimated(x: Floats, y: Floats, design: Design = HOLED) -> tuple[object, ...]:
    found = within_capacity_rho(x, y, design)
    return found.value, found.reason, found.n, found.constant_capacities


def bounded(x: Floats, y: Floats, design: Design = HOLED) -> tuple[object, ...]:
    found = jackknife_z(x, y, 0.9, design)
    return found.bounds, found.se, found.reason


ANSWERS = pytest.mark.parametrize("answer", [estimated, permuted, bounded])


@ANSWERS
@few
@given(**PLACES, junk=st.lists(st.sampled_from([math.nan, math.inf, -math.inf]), max_size=3))
def test_appended_seeds_without_numbers_change_nothing(
    answer: object, seed: int, seeds: int, capacities: int, members: int, junk: list[float]
) -> None:
    assert callable(answer)
    x, y = cells(seed, seeds, capacities, members)
    longer_x = np.concatenate([x, *(np.full((members, 1, capacities), bad) for bad in junk)], axis=1)
    longer_y = np.concatenate([y, np.zeros((len(junk), capacities))])
    assert answer(longer_x, longer_y) == answer(x, y)
    assert within_capacity_rho(longer_x, longer_y, HOLED).n_dropped == len(junk)


@ANSWERS
@few
@given(**PLACES)
def test_a_map_of_its_own_for_every_capacity_changes_nothing(answer: object, seed: int, seeds: int, capacities: int, members: int) -> None:
    assert callable(answer)
    x, y = cells(seed, seeds, capacities, members)
    scale, shift = stream(seed, "maps").uniform((2, capacities), 1.0, 9.0)
    assert answer(np.exp(x), y**3 + y, EXACT) == answer(x, y, EXACT)
    assert answer(np.exp(x) * scale + shift, (y**3 + y) * scale - shift) == answer(x, y)


@few
@given(**PLACES)
def test_the_two_sides_may_change_places_and_signs(seed: int, seeds: int, capacities: int, members: int) -> None:
    x, y = cells(seed, min(seeds, 7), capacities, members)
    one, p, interval = x[0], block_permutation_test(x[0], y), jackknife_z(x[0], y).bounds
    assert within_capacity_rho(y, one).value == within_capacity_rho(one, y).value
    other, down = block_permutation_test(y, one), block_permutation_test(one, -y)
    assert (other.hits, other.total, other.floor) == (down.hits, down.total, down.floor) == (p.hits, p.total, p.floor)
    assert jackknife_z(y, one).bounds == pytest.approx(interval, abs=1e-12)
    mirrored = None if interval is None else (-interval[1], -interval[0])
    assert jackknife_z(one, -y).bounds == pytest.approx(mirrored, abs=1e-12)


@few
@given(**PLACES)
def test_the_order_of_seeds_capacities_and_members_is_irrelevant(seed: int, seeds: int, capacities: int, members: int) -> None:
    x, y = cells(seed, min(seeds, 7), capacities, members)
    by_seed, by_capacity, by_member = (stream(seed, "order", n).permutation(n) for n in (y.shape[0], capacities, members))
    other_x, other_y = x[by_member][:, by_seed][:, :, by_capacity], y[by_seed][:, by_capacity]
    assert within_capacity_rho(other_x, other_y).value == within_capacity_rho(x, y).value
    p, other = block_permutation_test(x, y), block_permutation_test(other_x, other_y)
    assert (other.value, other.hits, other.floor, other.reason) == (p.value, p.hits, p.floor, p.reason)
    assert leave_one_out(other_x, other_y).tolist() == pytest.approx(leave_one_out(x, y)[by_seed].tolist(), abs=1e-14, nan_ok=True)
    assert jackknife_z(other_x, other_y).bounds == pytest.approx(jackknife_z(x, y).bounds, abs=1e-12)


@few
@given(**PLACES)
def test_numbers_stay_in_their_ranges_and_one_stream_gives_one_p(seed: int, seeds: int, capacities: int, members: int) -> None:
    x, y = cells(seed, seeds, capacities, members)
    value, interval = within_capacity_rho(x, y).value, jackknife_z(x, y).bounds
    test = block_permutation_test(x, y, stream=stream(seed, "p"), draws=50)
    assert block_permutation_test(x, y, stream=stream(seed, "p"), draws=50) == test
    assert (test.value, test.p is None, test.floor is None) == (value, value is None, value is None)
    if value is not None and test.p is not None and test.floor is not None:
        assert -1 <= value <= 1
        assert 0 < test.floor <= test.p <= 1
    if interval is not None:
        assert value is not None
        assert -1 <= interval[0] < value < interval[1] <= 1
        wide = jackknife_z(x, y, 0.95).bounds
        assert wide is not None
        assert wide[0] < interval[0]
        assert interval[1] < wide[1]


@few
@given(d=st.lists(st.integers(-20, 20), min_size=1, max_size=9), junk=st.lists(st.sampled_from([math.nan, math.inf, None]), max_size=3))
def test_sign_flips_look_at_finite_differences_in_any_order_and_mirror(d: list[int], junk: list[float | None]) -> None:
    found, shuffled, mirrored = sign_flip(d), sign_flip([*junk, *d[::-1]]), sign_flip([-value for value in d])
    assert (shuffled.up, shuffled.down, shuffled.two_sided, shuffled.value) == (found.up, found.down, found.two_sided, found.value)
    assert shuffled.n_dropped == len(junk)
    assert (mirrored.up.hits, mirrored.down.hits, mirrored.two_sided.hits) == (found.down.hits, found.up.hits, found.two_sided.hits)
    interval, other = hartigan_interval(d, 0.1).bounds, hartigan_interval([-value for value in d[::-1]], 0.1).bounds
    assert other == pytest.approx(None if interval is None else (-interval[1], -interval[0]), abs=1e-12)


P_VALUES = st.lists(st.one_of(st.none(), st.floats(0.0, 1.0)), max_size=12)


@few
@given(P_VALUES, st.integers(0, 5), st.integers(0, 99))
def test_holm_keeps_places_and_counts_the_plan(p: list[float | None], more: int, seed: int) -> None:
    planned = len(p) + more
    adjusted = holm(p, m=planned)
    assert all(raw is None or (one is not None and raw <= one <= 1.0) for raw, one in zip(p, adjusted, strict=True))
    order = stream(seed, "order").permutation(len(p)).tolist()
    assert holm([p[place] for place in order], m=planned) == [adjusted[place] for place in order]
    assert holm([*p, *[None] * more], m=planned) == [*adjusted, *[None] * more]
    assert holm([value for value in p if value is not None], m=planned) == [value for value in adjusted if value is not None]


@few
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=10), st.data())
def test_a_larger_p_never_makes_another_smaller(p: list[float], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(p) - 1))
    raised = [*p[:place], data.draw(st.floats(p[place], 1.0)), *p[place + 1 :]]
    assert all(one <= two + 1e-15 for one, two in zip(holm(p), holm(raised), strict=True) if one is not None and two is not None)
