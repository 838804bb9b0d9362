"""Training of a tiny ensemble on a moving dot: it learns, the report tells what it did, the same streams give the same bits."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from wm_audit.core import stream
from wm_audit.data import Dataset
from wm_audit.models.dreamer_lite import Config, DreamerLite
from wm_audit.models.filter import filter_context
from wm_audit.train import Report, Settings, fit

Make = Callable[..., Any]
STEPS = 240


class Trained(NamedTuple):
    model: DreamerLite
    report: Report
    ticks: list[int]


@pytest.fixture(scope="session")
def trained(learner: Make, replay: Make) -> Trained:
    ticks: list[int] = []
    pupil = learner()
    settings = Settings(steps=STEPS, batch=8, length=6, learning_rate=1e-2, warmup=20, decay=0.2)
    report = fit(pupil, replay(8, 6), settings, stream(3, "train"), tick=ticks.append)
    return Trained(pupil.trained(), report, ticks)


class Unseen(NamedTuple):
    """Episodes that were not trained on: (B, T, ...)."""

    obs: NDArray[np.uint8]
    action: NDArray[np.float32]
    reward: NDArray[np.float64]


@pytest.fixture(scope="session")
def unseen(dots: Dataset) -> Unseen:
    data = dots.episodes
    ids = np.concatenate([dots.split["probe"], dots.split["held_out"]])
    ids = ids[data.length[ids] == data.limit]
    return Unseen(data.obs[ids], data.action[ids], data.reward[ids])


def test_every_loss_falls_for_every_member(trained: Trained) -> None:
    first, last = trained.report.curve[0], trained.report.curve[-1]
    for part in ("image", "reward", "continues"):
        assert last[part] < first[part], part
        assert all(value < first[part] for value in trained.report.final[part]), part
    assert trained.report.active_units == [4, 4, 4]
    assert trained.report.collapsed == [False] * 3


def test_pictures_beat_the_mean_picture(trained: Trained, unseen: Unseen, mean_picture: NDArray[np.float32]) -> None:
    """On unseen episodes, every member, at every observation of the second half."""
    for at in range(5, unseen.obs.shape[1]):
        state = filter_context(trained.model, unseen.obs[:, : at + 1], unseen.action[:, :at])
        truth = torch.from_numpy(unseen.obs[:, at] / np.float32(255.0))
        error = (trained.model.decode(state).mean - truth).square().mean(dim=(1, 2, 3, 4))
        baseline = (torch.from_numpy(mean_picture) - truth).square().mean()
        assert bool((error < 0.8 * baseline).all()), at


def test_imagination_follows_the_action(trained: Trained, unseen: Unseen) -> None:
    """The picture imagined for the action that was taken is nearer to what came than the one for its opposite."""
    errors = {1.0: torch.zeros(3), -1.0: torch.zeros(3)}
    for at in range(3, unseen.action.shape[1]):
        seen = filter_context(trained.model, unseen.obs[:, : at + 1], unseen.action[:, :at])
        truth = torch.from_numpy(unseen.obs[:, at + 1] / np.float32(255.0))
        for sign in errors:
            ahead = trained.model.imagine(seen, sign * torch.from_numpy(unseen.action[:, at]))
            errors[sign] += (trained.model.decode(ahead).mean - truth).square().mean(dim=(1, 2, 3, 4))
    assert bool((errors[1.0] < 0.95 * errors[-1.0]).all())


def test_k20_the_reward_head_speaks_where_there_is_reward(trained: Trained, dots: Dataset) -> None:
    """Rewards are rare (5 in 100): silence would be nearly right everywhere and wrong where it counts."""
    data = dots.episodes
    ids = dots.split["train"][data.length[dots.split["train"]] == data.limit]
    state = trained.model.observe(trained.model.initial(len(ids)), torch.zeros(len(ids), 2), torch.from_numpy(data.obs[ids, 0]))
    said, true = [], []
    for t in range(data.limit):
        state = trained.model.observe(state, torch.from_numpy(data.action[ids, t]), torch.from_numpy(data.obs[ids, t + 1]))
        said.append(trained.model.reward(state).numpy())
        true.append(data.reward[ids, t])
    rewarded = np.stack(true) > 0
    assert 0.0 < rewarded.mean() < 0.15
    for k in range(3):
        voice = np.stack(said)[:, k]
        assert voice[rewarded].mean() > voice[~rewarded].mean() + 0.3


def test_the_report_counts_what_was_done(trained: Trained) -> None:
    report = trained.report
    assert report.steps == STEPS
    assert [point["step"] for point in report.curve] == trained.ticks == list(range(12, STEPS + 1, 12))
    assert set(report.final) == {"image", "reward", "continues", "kl"}
    for part, members in report.final.items():
        assert len(members) == 3
        assert report.curve[-1][part] == pytest.approx(np.mean(members), rel=1e-6)


@pytest.mark.parametrize("steps", [1, 3, 45])
def test_the_curve_ends_with_the_last_step(steps: int, learner: Make, replay: Make) -> None:
    report = fit(learner(0), replay(1, 1), Settings(steps=steps, batch=1, length=1), stream(3), points=20)
    assert report.curve[-1]["step"] == report.steps == steps
    assert all(np.isfinite(list(point.values())).all() for point in report.curve)


def test_single_transitions_can_be_trained_on(learner: Make, replay: Make) -> None:
    """Length 1: no memory to learn, and every picture still gets better."""
    pupil = learner()
    report = fit(pupil, replay(16, 1), Settings(steps=60, batch=16, length=1, learning_rate=1e-2, warmup=10), stream(3))
    assert report.curve[-1]["image"] < 0.5 * report.curve[0]["image"]
    assert report.curve[-1]["reward"] < report.curve[0]["reward"]
    assert not any(report.collapsed)


def test_the_same_stream_gives_the_same_bits_and_another_does_not(learner: Make, replay: Make) -> None:
    def run(*name: str) -> tuple[torch.Tensor, Report]:
        pupil = learner()
        report = fit(pupil, replay(), Settings(steps=6), stream(3, *name))
        return pupil.parameters.detach(), report

    one, two, other = run("a"), run("a"), run("b")
    assert torch.equal(one[0], two[0])
    assert one[1] == two[1]
    assert not torch.equal(one[0], other[0])


def test_a_latent_that_costs_too_much_collapses_and_is_flagged(config: Config, learner: Make, replay: Make) -> None:
    import dataclasses

    dear = dataclasses.replace(config, free_nats=0.0, kl_dynamics=1e6, kl_representation=1e6)
    settings = Settings(steps=80, batch=4, length=3, learning_rate=1e-2, warmup=1)
    report = fit(learner(like=dear), replay(4, 3), settings, stream(3))
    assert report.active_units == [0, 0, 0]
    assert report.collapsed == [True, True, True]
