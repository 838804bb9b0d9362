from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wm_audit.core import AuditError, Reason, stream
from wm_audit.data import Counterfactual, Dataset, assemble, check, counterfactual, segments
from wm_audit.data.episode import Episodes
from wm_audit.envs.protocol import Oracle


@settings(max_examples=40, deadline=None)
@given(context=st.integers(1, 4), horizon=st.integers(1, 6), split=st.sampled_from(["train", "probe", "held_out"]), root=st.integers(0, 99))
def test_segments_are_pieces_of_the_record(context: int, horizon: int, split: str, root: int, dataset: Dataset) -> None:
    probe = segments(dataset, split, 5, context=context, horizon=horizon, stream=stream(root))
    data = dataset.episodes
    assert len({*zip(probe.episode.tolist(), probe.step.tolist(), strict=True)}) == 5
    for b in range(5):
        e, t = int(probe.episode[b]), int(probe.step[b])
        assert e in dataset.split[split]
        assert t + horizon <= data.length[e]
        assert np.array_equal(probe.context_obs[b], data.obs[e, t - context + 1 : t + 1])
        assert np.array_equal(probe.context_action[b], data.action[e, t - context + 1 : t])
        assert np.array_equal(probe.snapshot[b], data.snapshot[e, t])
        assert np.array_equal(probe.action[b], data.action[e, t : t + horizon])
        assert np.array_equal(probe.obs[b], data.obs[e, t + 1 : t + horizon + 1])
        assert np.array_equal(probe.reward[b], data.reward[e, t : t + horizon])
        assert np.array_equal(probe.terminated[b], data.terminated[e, t : t + horizon])


def test_replaying_a_segment_from_its_snapshot_gives_its_future(dataset: Dataset, world: Oracle) -> None:
    probe, again = segments(dataset, "held_out", 10, context=3, horizon=4, stream=stream(1)), world.fork()
    again.restore(probe.snapshot)
    assert np.array_equal(again.render(), probe.context_obs[:, -1])
    for t in range(4):
        step = again.step(probe.action[:, t].astype(np.float64))
        assert np.array_equal(step.obs, probe.obs[:, t])
        assert np.array_equal(step.reward, probe.reward[:, t])
        assert np.array_equal(step.terminated, probe.terminated[:, t])


def places(dataset: Dataset, split: str, context: int, horizon: int) -> set[tuple[int, int]]:
    lengths = dataset.episodes.length
    return {(int(e), t) for e in dataset.split[split] for t in range(context - 1, int(lengths[e]) - horizon + 1)}


def test_all_places_can_be_asked_for_and_no_more(dataset: Dataset) -> None:
    every = places(dataset, "probe", 3, 4)
    probe = segments(dataset, "probe", len(every), context=3, horizon=4, stream=stream(1))
    assert {*zip(probe.episode.tolist(), probe.step.tolist(), strict=True)} == every
    assert probe.terminated[:, -1].any()
    assert not probe.terminated[:, :-1].any()
    with pytest.raises(AuditError, match=f"has {len(every)} places"):
        segments(dataset, "probe", len(every) + 1, context=3, horizon=4, stream=stream(1))


def test_places_are_equally_likely(dataset: Dataset) -> None:
    every = sorted(places(dataset, "probe", 1, 3))
    counts = dict.fromkeys(every, 0)
    for root in range(1000):
        probe = segments(dataset, "probe", 1, context=1, horizon=3, stream=stream(root))
        counts[int(probe.episode[0]), int(probe.step[0])] += 1
    expected = 1000 / len(every)
    chi2 = sum((n - expected) ** 2 / expected for n in counts.values())
    assert abs(chi2 - (len(every) - 1)) < 4 * np.sqrt(2 * (len(every) - 1))


@pytest.mark.parametrize("hold", [1, 4])
def test_counterfactual_rewards_are_what_one_world_at_a_time_gives(hold: int, dataset: Dataset, world: Oracle) -> None:
    probe = counterfactual(dataset, world, n_states=12, n_actions=5, hold=hold, context=2, stream=stream(4))
    assert probe.actions.dtype == np.float32
    assert (probe.hold, probe.actions.shape, probe.reward.shape) == (hold, (12, 5, 2), (12, 5))
    assert np.all(np.abs(probe.actions) <= 1)
    assert len(np.unique(probe.actions[:, :, 0])) == 60
    stopped = 0
    for b, m in np.ndindex(12, 5):
        assert probe.episode[b] in dataset.split["probe"]
        assert probe.step[b] + hold <= dataset.episodes.limit
        single, total = world.fork(), 0.0
        single.restore(probe.snapshot[b : b + 1])
        for _ in range(hold):
            outcome = single.advance(probe.actions[b, m : m + 1].astype(np.float64))
            total += float(outcome.reward[0])
            if outcome.terminated[0]:
                stopped += 1
                break
        assert probe.reward[b, m] == total
    assert hold == 1 or stopped
    assert check(probe).value == 1.0


def test_k34_the_number_of_copies_changes_no_byte(dataset: Dataset, world: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = counterfactual(dataset, world, n_states=10, n_actions=4, hold=3, context=2, stream=stream(4))
    monkeypatch.setattr("wm_audit.data.probe._COPIES", 7)
    pieces = counterfactual(dataset, world, n_states=10, n_actions=4, hold=3, context=2, stream=stream(4))
    assert whole.reward.tobytes() == pieces.reward.tobytes()


def test_the_last_steps_of_an_episode_that_will_end_are_asked_too(dataset: Dataset, world: Oracle) -> None:
    lengths, limit = dataset.episodes.length, dataset.episodes.limit
    every = {(int(e), t) for e in dataset.split["probe"] for t in range(1, int(lengths[e])) if t + 5 <= limit}
    probe = counterfactual(dataset, world, n_states=len(every), n_actions=2, hold=5, context=2, stream=stream(0))
    assert {*zip(probe.episode.tolist(), probe.step.tolist(), strict=True)} == every
    with pytest.raises(AuditError, match="places"):
        counterfactual(dataset, world, n_states=len(every) + 1, n_actions=2, hold=5, context=2, stream=stream(0))


def test_a_world_in_which_actions_do_nothing_is_a_degenerate_probe(
    make_world: Callable[..., Oracle], record: Callable[..., Episodes]
) -> None:
    still = make_world(weight=0.0)
    data = assemble(record(still), still.spec, {"train": 0.6, "probe": 0.2, "held_out": 0.2}, 7, 3)
    result = check(counterfactual(data, still, n_states=10, n_actions=4, hold=3, context=2, stream=stream(4)))
    assert (result.value, result.reason, result.n) == (None, Reason.PROBE_DEGENERATE, 10)


def test_check_counts_states_by_the_tie_rule(dataset: Dataset, world: Oracle) -> None:
    probe = counterfactual(dataset, world, n_states=4, n_actions=2, hold=1, context=1, stream=stream(4))

    def with_rewards(*rows: tuple[float, float]) -> Counterfactual:
        return probe._replace(reward=np.array(rows))

    mixed = with_rewards((1.0, 1.0), (1.0, 1.0 + 3e-16), (1.0, 1.1), (np.nan, 2.0))
    assert (check(mixed).value, check(mixed).n, check(mixed).n_dropped) == (1 / 3, 3, 1)
    assert check(mixed, rtol=0.0).value == 2 / 3
    assert check(mixed, atol=0.2).reason is Reason.PROBE_DEGENERATE
    assert check(with_rewards((np.inf, 1.0))).reason is Reason.PROBE_DEGENERATE
    assert check(with_rewards((-2.0, -2.0), (0.0, 1e-300))).value == 1 / 2


def test_requests_that_cannot_be_met_are_refused(dataset: Dataset, world: Oracle, make_world: Callable[..., Oracle]) -> None:
    source = stream(0)
    wrong: list[Callable[[], object]] = [
        lambda: segments(dataset, "test", 1, context=1, horizon=1, stream=source),
        lambda: segments(dataset, "train", 0, context=1, horizon=1, stream=source),
        lambda: segments(dataset, "train", 1, context=0, horizon=1, stream=source),
        lambda: segments(dataset, "train", 1, context=1, horizon=0, stream=source),
        lambda: segments(dataset, "train", 1, context=8, horizon=8, stream=source),
        lambda: counterfactual(dataset, world, n_states=1, n_actions=1, hold=1, context=1, stream=source),
        lambda: counterfactual(dataset, world, n_states=1, n_actions=2, hold=0, context=1, stream=source),
        lambda: counterfactual(dataset, world, n_states=1, n_actions=2, hold=13, context=1, stream=source),
        lambda: counterfactual(dataset, make_world(weight=2.0), n_states=1, n_actions=2, hold=1, context=1, stream=source),
    ]
    for ask in wrong:
        with pytest.raises(AuditError):
            ask()
