"""By simulation: on a grid where capacity drives both sides and nothing else is going on, who sees an association?"""

from typing import Any

import numpy as np
import pytest

from wm_audit.instruments.audit.power import Simulation
from wm_audit.instruments.audit.simulate import Plan
from wm_audit.instruments.audit.size import NULLS, Null, size, size_table, unrelated
from wm_audit.stats.icc import icc_3_1
from wm_audit.verdict import Rules

RULES, REPETITIONS = Rules.default(), 400


@pytest.fixture(scope="module")
def five() -> dict[str, dict[str, Any]]:
    return {row["null"]: row for row in size_table([(5, 3)], RULES, repetitions=REPETITIONS)["rows"]}


@pytest.mark.parametrize("null", NULLS)
def test_the_block_permutation_keeps_its_level(null: Null, five: dict[str, dict[str, Any]]) -> None:
    assert 0.005 < five[null]["primary"] <= 0.07


def test_the_pooled_test_does_not(five: dict[str, dict[str, Any]]) -> None:
    assert five["capacity"]["naive"] > 0.5
    assert five["both"]["naive"] > 0.5
    assert five["seeds"]["naive"] > 0.07


def test_the_random_orders_of_more_seeds_keep_it_too() -> None:
    assert size("both", (10, 3), RULES, 100)["primary"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)


def test_the_grids_are_what_their_names_say() -> None:
    from wm_audit.core import stream

    for null, shift, icc in (("capacity", 1.5, 0.0), ("seeds", 0.0, 0.5), ("both", 1.5, 0.5)):
        x, y = unrelated(null, 2000, 3, 1, stream(1, null))  # type: ignore[arg-type]
        for side in (x[0], y[0]):
            assert np.diff(side.mean(axis=0)) == pytest.approx([shift, shift], abs=0.1)
            assert icc_3_1(side).value == pytest.approx(icc, abs=0.05)
        assert abs(np.corrcoef(x[0, :, 0], y[0, :, 0])[0, 1]) < 0.08


def test_twenty_seeds_decide_the_absence_of_an_association_and_five_do_not() -> None:
    decided = {seeds: Simulation(Plan(seeds, 3, 0.0), RULES, REPETITIONS).share("H1", 0).supported for seeds in (5, 20)}
    assert decided[20] > 0.7
    assert decided[5] < 0.1
