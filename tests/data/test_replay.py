from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from wm_audit.core import AuditError, stream
from wm_audit.data import Batch, Dataset, Episodes, Replay, assemble
from wm_audit.envs.protocol import Oracle

Pixels = Callable[[NDArray[np.floating]], NDArray[np.uint8]]


def laid_out(dataset: Dataset) -> list[tuple[int, int]]:
    """(episode, step) of every train observation, by two loops."""
    return [(int(e), t) for e in dataset.split["train"] for t in range(int(dataset.episodes.length[e]) + 1)]


@settings(max_examples=60, deadline=None)
@given(length=st.integers(1, 40), root=st.integers(0, 2**32), members=st.integers(1, 5))
def test_every_window_is_the_lived_record_seen_backwards(length: int, root: int, members: int, dataset: Dataset) -> None:
    replay, data, axis = Replay(dataset, 4, length), dataset.episodes, laid_out(dataset)
    start = replay.draw(stream(root), members)
    batch = replay.sample(stream(root), members)
    assert batch.action.shape == (members, 4, length, 2)
    for k, b in np.ndindex(members, 4):
        for i in range(length):
            e, t = axis[start[k, b] + i]
            at = (k, b, i)
            assert np.array_equal(batch.obs[at], data.obs[e, t])
            assert batch.is_first[at] == (t == 0)
            assert np.array_equal(batch.action[at], data.action[e, t - 1] if t else np.zeros(2))
            assert batch.reward[at] == (np.float32(data.reward[e, t - 1]) if t else 0)
            assert batch.terminal[at] == (data.terminated[e, t - 1] if t else False)


def aligned(batch: Batch, pixels: Pixels) -> bool:
    """Whether every observation shows the action that is said to have led to it."""
    return np.array_equal(batch.obs[..., 1, 0, :2], pixels(batch.action))


def test_k16_an_off_by_one_data_set_is_detected(dataset: Dataset, last_action_pixels: Pixels) -> None:
    batch = Replay(dataset, 16, 10).sample(stream(1), 2)
    assert aligned(batch, last_action_pixels)
    for by in (-1, 1):
        assert not aligned(batch._replace(action=np.roll(batch.action, by, axis=2)), last_action_pixels)
        assert not aligned(batch._replace(obs=np.roll(batch.obs, by, axis=2)), last_action_pixels)


def test_k17_nothing_crosses_the_start_of_an_episode(dataset: Dataset) -> None:
    """Every start of every window: what stands at and after is_first is what the episode alone would give."""
    data, axis = dataset.episodes, laid_out(dataset)
    length = 30
    replay = Replay(dataset, 1, length)
    everything = replay.gather(np.arange(replay.starts)[None])
    assert everything.is_first.sum(axis=2).max() >= 3  # several episodes in one sequence
    assert not everything.action[everything.is_first].any()
    assert not everything.reward[everything.is_first].any()
    assert not everything.terminal[everything.is_first].any()
    boundary = everything.is_first[0, :, 1:] & ~everything.is_first[0, :, :-1]
    ended = np.array([[data.terminated[axis[s + i][0]].any() for i in range(length - 1)] for s in range(replay.starts)])
    assert np.array_equal(everything.terminal[0, :, :-1][boundary], ended[boundary])  # truncation is no end
    assert 0 < ended[boundary].mean() < 1
    tokens = everything.obs[0, :, :, 2, 0, 0].astype(int)
    steps = everything.obs[0, :, :, 2, 0, 1].astype(int)
    inside = ~everything.is_first[0, :, 1:]
    assert np.all(np.diff(tokens, axis=1)[inside] == 0)
    assert np.all(np.diff(steps, axis=1)[inside] == 1)
    assert np.all(steps[everything.is_first[0]] == 0)


def test_only_train_episodes_are_read(dataset: Dataset) -> None:
    replay = Replay(dataset, 1, 1)
    assert replay.starts == len(laid_out(dataset)) == int((dataset.episodes.length[dataset.split["train"]] + 1).sum())
    everything = replay.gather(np.arange(replay.starts)[None])
    shown = {(int(o[2, 0, 0]), int(o[2, 0, 1])) for o in everything.obs[0, :, 0]}
    lived = {(int(dataset.episodes.snapshot[e, t, 0]), t) for e, t in laid_out(dataset)}
    assert shown == lived


def test_k34_a_member_draws_the_same_however_many_there_are(dataset: Dataset) -> None:
    replay = Replay(dataset, 8, 5)
    alone, many = stream(3, "replay"), stream(3, "replay")
    for _ in range(5):
        few, more = replay.draw(alone, 2), replay.draw(many, 7)
        assert np.array_equal(few, more[:2])
    assert np.array_equal(alone.words(3), many.words(3))  # and the stream stands at the same place


def test_draws_continue_with_the_stream_and_restart_with_its_name(dataset: Dataset) -> None:
    replay = Replay(dataset, 8, 5)
    source = stream(3)
    first, second = replay.draw(source, 2), replay.draw(source, 2)
    assert not np.array_equal(first, second)
    assert np.array_equal(replay.draw(stream(3), 2), first)
    assert np.array_equal(Replay(dataset, 8, 5).draw(stream(3), 2), first)


def test_starts_are_uniform_and_members_independent(dataset: Dataset) -> None:
    replay = Replay(dataset, 20_000, 5)
    start = replay.draw(stream(11), 3)
    assert start.min() == 0
    assert start.max() == replay.starts - 1
    expected = 20_000 / replay.starts
    for k in range(3):
        chi2 = float(((np.bincount(start[k], minlength=replay.starts) - expected) ** 2 / expected).sum())
        freedom = replay.starts - 1
        assert abs(chi2 - freedom) < 4 * np.sqrt(2 * freedom)
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        assert abs(np.corrcoef(start[a], start[b])[0, 1]) < 4 / np.sqrt(20_000)
    assert abs(np.corrcoef(start[0, 1:], start[0, :-1])[0, 1]) < 4 / np.sqrt(20_000)


def test_frames_may_be_arranged_once(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def patches(obs: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """(N, 3, 8, 8) -> (N, 4, 48): quarters of the image."""
        return obs.reshape(-1, 3, 2, 4, 2, 4).transpose(0, 2, 4, 1, 3, 5).reshape(-1, 4, 48)

    monkeypatch.setattr("wm_audit.data.replay._PIECE", 50)
    plain, arranged = Replay(dataset, 4, 6).sample(stream(2), 3), Replay(dataset, 4, 6, arrange=patches).sample(stream(2), 3)
    assert arranged.obs.shape == (3, 4, 6, 4, 48)
    assert np.array_equal(arranged.obs, patches(plain.obs.reshape(-1, 3, 8, 8)).reshape(3, 4, 6, 4, 48))
    assert np.array_equal(arranged.action, plain.action)


def test_requests_that_cannot_be_met_are_refused(dataset: Dataset) -> None:
    n = Replay(dataset, 1, 1).starts
    assert Replay(dataset, 1, n).starts == 1
    for batch, length in [(0, 1), (1, 0), (1, n + 1)]:
        with pytest.raises(AuditError, match="replay"):
            Replay(dataset, batch, length)
    with pytest.raises(AuditError, match="members"):
        Replay(dataset, 1, 1).sample(stream(0), 0)
    with pytest.raises(AuditError, match="arrange"):
        Replay(dataset, 1, 1, arrange=lambda obs: obs[:1])


def test_dtypes_and_sizes_are_those_of_training(make_world: Callable[..., Oracle], record: Callable[..., Episodes]) -> None:
    world = make_world(size=32)
    data = assemble(record(world), world.spec, {"train": 0.6, "probe": 0.2, "held_out": 0.2}, 7, 3)
    batch = Replay(data, 2, 16).sample(stream(0), 3)
    assert [(item.dtype.name, item.shape) for item in batch] == [
        ("uint8", (3, 2, 16, 3, 32, 32)),
        ("float32", (3, 2, 16, 2)),
        ("float32", (3, 2, 16)),
        ("bool", (3, 2, 16)),
        ("bool", (3, 2, 16)),
    ]
    assert all(item.flags.c_contiguous and item.flags.writeable for item in batch)
