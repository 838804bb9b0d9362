"""The versions for simulations decide exactly as the single ones do."""

import numpy as np
import pytest

from wm_audit.core import Reason, stream
from wm_audit.stats import hartigan_interval, jackknife_z, sign_flip, superiority
from wm_audit.stats.jackknife_many import jackknife_many
from wm_audit.stats.sign_flip_many import directions, flips_many


@pytest.mark.parametrize(("seeds", "capacities"), [(3, 2), (4, 1), (5, 3), (9, 2), (20, 3)])
def test_every_interval_is_the_single_one(seeds: int, capacities: int) -> None:
    draws = stream(1, "many", seeds, capacities)
    x, y = draws.normal((30, seeds, capacities)), draws.normal((30, seeds, capacities))
    y[:10] = x[:10] + 0.2 * y[:10]  # some close to perfect
    x[10:15], y[12:17] = np.rint(x[10:15]), np.rint(y[12:17])  # ties
    x[17, :, 0] = 1.0  # a constant capacity
    x[18], y[19] = 2.0, 3.0  # nothing varies
    y[20] = x[20]  # perfect
    x[21, 1:], y[21, 1:] = 0.0, 0.0  # everything hangs on one seed
    found = jackknife_many(x, y, 0.9)
    assert found == [jackknife_z(one, other, 0.9) for one, other in zip(x, y, strict=True)]
    if seeds > 3:
        assert {found[18].reason, found[19].reason, found[20].reason} == {
            Reason.CONSTANT_X,
            Reason.CONSTANT_Y,
            Reason.PERFECT_CORRELATION,
        }


def test_a_batch_that_is_cut_in_pieces_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = stream(2, "many")
    x, y = draws.normal((7, 6, 2)), draws.normal((7, 6, 2))
    whole = jackknife_many(x, y)
    monkeypatch.setattr("wm_audit.stats.jackknife_many._CELLS", 1)
    assert jackknife_many(x, y) == whole


def test_incomplete_grids_are_refused() -> None:
    x = np.ones((1, 5, 2))
    with pytest.raises(ValueError, match="finite"):
        jackknife_many(np.where(np.arange(2) == 0, np.nan, x), x)
    with pytest.raises(ValueError, match="shape"):
        jackknife_many(x, np.ones((1, 5, 3)))
    with pytest.raises(ValueError, match="finite"):
        flips_many([[1.0, np.nan]])


@pytest.mark.parametrize("seeds", [1, 2, 4, 5, 8, 11, 20, 23])
def test_every_count_and_direction_is_the_single_one(seeds: int) -> None:
    repetitions = 4 if seeds >= 20 else 40
    d = stream(3, "many", seeds).normal((repetitions, seeds)) + np.linspace(-1, 1, repetitions)[:, None]
    d[1] = np.rint(10 * d[1]) / 10 + 0.05  # sums that differ from zero by rounding alone; no integers, which are convolved
    flips = flips_many(d, root=7)
    single = [sign_flip(row, root=7) for row in d]
    assert flips.up.tolist() == [item.up.hits for item in single]
    assert flips.down.tolist() == [item.down.hits for item in single]
    assert flips.total == single[0].up.total
    for alpha in (0.05, 0.1):
        assert directions(flips, alpha) == [superiority(hartigan_interval(row, alpha, root=7), 0.0) for row in d]


def test_rounding_does_not_separate_counts_from_the_exact_ones() -> None:
    d = [0.6, 0.4, -0.1, 0.0, 0.4, 0.2, -0.3, 0.5]
    tenths = sign_flip([6, 4, -1, 0, 4, 2, -3, 5])
    flips = flips_many([d])
    assert (flips.up[0], flips.down[0]) == (tenths.up.hits, tenths.down.hits)
