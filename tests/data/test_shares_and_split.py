import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wm_audit.core import AuditError
from wm_audit.data import Dataset
from wm_audit.data.shares import apportion
from wm_audit.data.split import SPLITS, split_episodes

WEIGHTS = st.lists(st.integers(1, 1000), min_size=1, max_size=6)


@given(total=st.integers(0, 5000), weights=WEIGHTS)
def test_apportioned_counts_add_up_and_stay_within_one_of_their_quota(total: int, weights: list[int]) -> None:
    shares = {str(i): w / sum(weights) for i, w in enumerate(weights)}
    counts = apportion(total, shares)
    assert sum(counts.values()) == total
    assert list(counts) == list(shares)
    assert all(abs(counts[name] - total * share) < 1 + 1e-6 for name, share in shares.items())


def test_shares_are_read_as_decimals() -> None:
    assert int(100 * 0.29) == 28  # what floats would do
    assert apportion(100, {"a": 0.29, "b": 0.71}) == {"a": 29, "b": 71}
    assert apportion(3, {"a": 0.5, "b": 0.5}) == {"a": 2, "b": 1}


@pytest.mark.parametrize("shares", [{}, {"a": 0.5}, {"a": 0.0, "b": 1.0}, {"a": -0.5, "b": 1.5}, {"a": float("nan"), "b": 1.0}])
def test_shares_that_are_no_shares_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(AuditError, match="shares"):
        apportion(10, shares)


def test_split_is_a_partition_that_holds_every_behaviour_everywhere(dataset: Dataset) -> None:
    together = np.concatenate([dataset.split[name] for name in SPLITS])
    assert np.array_equal(np.sort(together), np.arange(dataset.episodes.count))
    for name in SPLITS:
        assert set(dataset.episodes.behaviour[dataset.split[name]]) == {0, 1, 2}
        assert np.all(np.diff(dataset.split[name]) > 0)
    assert [dataset.split[name].size for name in SPLITS] == [24, 8, 8]


def test_split_depends_on_its_names_alone(dataset: Dataset) -> None:
    fractions = dataset.collection["fractions"]
    again = split_episodes(dataset.episodes, fractions, 7, 3, "counting")
    other = split_episodes(dataset.episodes, fractions, 7, 4, "counting")
    assert all(np.array_equal(again[name], dataset.split[name]) for name in SPLITS)
    assert any(not np.array_equal(other[name], dataset.split[name]) for name in SPLITS)


def test_tiny_fractions_still_get_an_episode_of_every_behaviour(dataset: Dataset) -> None:
    split = split_episodes(dataset.episodes, {"train": 0.98, "probe": 0.01, "held_out": 0.01}, 0, 0, "counting")
    assert [split[name].size for name in SPLITS] == [34, 3, 3]


def test_too_few_episodes_of_a_behaviour_are_refused(dataset: Dataset) -> None:
    behaviour = np.zeros(dataset.episodes.count, dtype=np.int64)
    behaviour[:2] = 1
    few = dataclasses.replace(dataset.episodes, behaviour=behaviour)
    with pytest.raises(AuditError, match="'correlated' has 2 episodes"):
        split_episodes(few, dataset.collection["fractions"], 0, 0, "counting")


def test_other_split_names_are_refused(dataset: Dataset) -> None:
    with pytest.raises(AuditError, match="held_out"):
        split_episodes(dataset.episodes, {"train": 0.5, "test": 0.5}, 0, 0, "counting")
