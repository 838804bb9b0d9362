"""What every member of `MODELS` and every control promises."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.core import stream
from wm_audit.data import Dataset, Replay, assemble, collect, uniform
from wm_audit.envs import Oracle, make
from wm_audit.models import MODELS, Task
from wm_audit.models.controls import CONTROLS
from wm_audit.models.filter import ground_or_filter
from wm_audit.models.protocol import Continues, Decodes, Grounds, Pixels, Rewards, State, WorldModel, tile

MEMBERS, BATCH, CONTEXT = 3, 5, 3
SETTINGS: dict[str, Any] = {
    "members": MEMBERS,
    "stoch": 4,
    "patch": 8,
    "width": 5,
    "variance": "pixel",
    "log_variance": {"low": -8, "high": 0},
}
"""The `model` section of a promise, small; families may read settings of their own from `own`."""

CAPABILITIES: dict[str, tuple[type, ...]] = {
    "dreamer_lite": (Decodes, Rewards, Continues),
    **dict.fromkeys(CONTROLS, (Decodes, Rewards, Grounds)),
}
"""What a member must be able to do beside being a world model; what is not named here may lack everything else."""


@pytest.fixture(scope="module")
def world() -> Oracle:
    return make("pixel_nav", {"image": 16, "limit": 12})


@pytest.fixture(scope="module")
def dataset(world: Oracle) -> Dataset:
    episodes = collect(world, {"uniform": uniform}, {"uniform": 1.0}, 120, root=1, seed=1)
    return assemble(episodes, world.spec, {"train": 0.6, "probe": 0.2, "held_out": 0.2}, 1, 1)


def order(world: Oracle, members: tuple[int, ...] = (0, 1, 2)) -> Task:
    return Task(
        image=world.spec.image,
        actions=len(world.spec.action_low),
        hidden=9,
        embed=7,
        settings=SETTINGS | {"members": len(members)},
        streams=tuple(stream(2, "initial", k) for k in members),
        centre=np.full(world.spec.image, 0.4, dtype=np.float32),
        accelerate=lambda function: function,
    )


def finished(name: str, world: Oracle) -> WorldModel:
    if name in CONTROLS:
        return cast("WorldModel", CONTROLS[name](world, MEMBERS))
    made = MODELS[name](order(world))
    return cast("WorldModel", made.trained() if hasattr(made, "trained") else made)


class Seen(NamedTuple):
    """A context and what follows: obs (B, c, C, h, w), action (B, c - 1, A), snapshot (B, S), the next action (B, A) and obs."""

    obs: NDArray[np.uint8]
    action: NDArray[np.float32]
    snapshot: NDArray[np.float64]
    push: Tensor
    next: Tensor

    def rows(self, which: slice | list[int]) -> "Seen":
        return Seen(self.obs[which], self.action[which], self.snapshot[which], self.push[which], self.next[which])


@pytest.fixture(scope="module")
def seen(world: Oracle) -> Seen:
    low, high = np.array(world.spec.action_low), np.array(world.spec.action_high)
    actions = (low + (high - low) * stream(3).uniform((BATCH, CONTEXT, low.size))).astype(np.float32)
    first = world.reset(stream(4), BATCH)
    frames = [first, *(world.step(actions[:, t].astype(np.float64)).obs for t in range(CONTEXT - 1))]
    snapshot = world.snapshot()
    after = world.step(actions[:, -1].astype(np.float64)).obs
    return Seen(np.stack(frames, axis=1), actions[:, :-1], snapshot, torch.from_numpy(actions[:, -1].copy()), torch.from_numpy(after))


@pytest.fixture(params=[*MODELS, *CONTROLS])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(name: str, world: Oracle) -> WorldModel:
    return finished(name, world)


def begin(model: WorldModel, seen: Seen) -> State:
    return ground_or_filter(model, seen.snapshot, seen.obs, seen.action)


def said(model: WorldModel, state: State) -> dict[str, Tensor]:
    """Everything the model can say of a state."""
    out: dict[str, Tensor] = {}
    if isinstance(model, Decodes):
        pixels = model.decode(state)
        out["mean"] = pixels.mean
        if pixels.log_variance is not None:
            out["log_variance"] = pixels.log_variance
    if isinstance(model, Rewards):
        out["reward"] = model.reward(state)
    if isinstance(model, Continues):
        out["continues"] = model.continues(state)
    return out


def everything(model: WorldModel, seen: Seen) -> dict[str, Tensor]:
    start = begin(model, seen)
    states = {"start": start, "observed": model.observe(start, seen.push, seen.next), "ahead": model.imagine(start, seen.push)}
    states["further"] = model.imagine(states["ahead"], -seen.push)
    out: dict[str, Tensor] = {}
    for where, state in states.items():
        out |= {f"{where}.state.{part}": item.clone() for part, item in state.items()}
        out |= {f"{where}.{part}": item.clone() for part, item in said(model, state).items()}
    return out


def test_it_can_do_what_its_kind_can(name: str, model: WorldModel) -> None:
    assert all(hasattr(model, part) for part in ("members", "initial", "observe", "imagine"))
    for capability in CAPABILITIES.get(name, ()):
        assert isinstance(model, capability), capability.__name__
    assert model.members == MEMBERS


def test_shapes_begin_with_members_and_batch(model: WorldModel, seen: Seen, world: Oracle) -> None:
    for name, item in everything(model, seen).items():
        assert item.shape[:2] == (MEMBERS, BATCH), name
        assert not item.requires_grad, name
        last = name.rsplit(".", maxsplit=1)[-1]
        if last in ("mean", "log_variance") and ".state." not in name:
            assert item.shape[2:] == world.spec.image, name
        if last in ("reward", "continues") and ".state." not in name:
            assert item.ndim == 2, name


def test_what_it_says_is_finite_and_in_range(model: WorldModel, seen: Seen) -> None:
    for name, item in everything(model, seen).items():
        if item.is_floating_point():
            assert bool(torch.isfinite(item).all()), name
        if name.endswith((".mean", ".continues")) and ".state." not in name:
            assert 0.0 <= float(item.min()) <= float(item.max()) <= 1.0, name


def test_it_says_the_same_twice_and_another_time(name: str, world: Oracle, seen: Seen) -> None:
    """Also after it was asked something else, and when it is built anew."""
    model = finished(name, world)
    first = everything(model, seen)
    everything(model, seen.rows([3, 1]))
    for other in (everything(model, seen), everything(finished(name, world), seen)):
        assert other.keys() == first.keys()
        for part, item in first.items():
            assert torch.equal(other[part], item), part


def test_states_and_pictures_are_left_as_they_are(model: WorldModel, seen: Seen) -> None:
    start = begin(model, seen)
    kept = {part: item.clone() for part, item in start.items()}
    push, after = seen.push.clone(), seen.next.clone()
    model.observe(start, push, after)
    model.imagine(start, push)
    said(model, start)
    for part, item in kept.items():
        assert torch.equal(start[part], item), part
    assert torch.equal(push, seen.push)
    assert torch.equal(after, seen.next)


def test_rows_of_a_batch_are_independent(model: WorldModel, seen: Seen) -> None:
    """In another order, and each alone: to the rounding of float32 products."""
    together = everything(model, seen)
    for rows in ([4, 2, 0, 1, 3], [0], [3], [1, 1]):
        for part, item in everything(model, seen.rows(rows)).items():
            torch.testing.assert_close(item, together[part][:, rows], rtol=1e-5, atol=1e-5, msg=part)


def test_candidates_of_a_planner_are_rows(model: WorldModel, seen: Seen) -> None:
    """Three actions from every state, tiled, are the three asked one by one."""
    start = begin(model, seen)
    pushes = torch.stack([seen.push, -seen.push, torch.zeros_like(seen.push)], dim=1)
    tiled = said(model, model.imagine(tile(start, 3), pushes.flatten(0, 1)))
    for i in range(3):
        for part, item in said(model, model.imagine(start, pushes[:, i])).items():
            torch.testing.assert_close(tiled[part][:, i::3], item, rtol=1e-5, atol=1e-5, msg=part)


@pytest.mark.parametrize("family", MODELS)
def test_a_family_answers_a_task(family: str, world: Oracle, dataset: Dataset, seen: Seen) -> None:
    """A learner gives K losses of a batch of sequences and a gradient for every member; the picture it learns from is arranged once."""
    learner = MODELS[family](order(world))
    if not hasattr(learner, "gradient"):
        return
    assert learner.parameters.shape[0] == MEMBERS
    assert learner.parameters.is_leaf
    for batch, length in ((2, 4), (1, 1)):
        drawn = Replay(dataset, batch, length, learner.arrange).sample(stream(5), MEMBERS)
        found, gradient = learner.gradient(drawn, torch.Generator().manual_seed(1))
        for part in ("total", "image", "reward", "continues", "kl"):
            assert getattr(found, part).shape == (MEMBERS,)
            assert bool(torch.isfinite(getattr(found, part)).all())
        assert found.means.shape[:2] == (MEMBERS, batch * length)
        assert gradient.shape == learner.parameters.shape
        assert bool((gradient != 0).any(dim=1).all())
    model = learner.trained()
    before = everything(model, seen)
    with torch.no_grad():
        learner.parameters.mul_(0.5)
    for part, item in everything(model, seen).items():
        assert torch.equal(item, before[part]), part


@pytest.mark.parametrize("family", MODELS)
def test_a_member_is_ordered_by_its_stream(family: str, world: Oracle) -> None:
    parameters: Callable[..., Tensor] = lambda *members: MODELS[family](order(world, members)).parameters  # noqa: E731
    if not hasattr(MODELS[family](order(world)), "parameters"):
        return
    assert torch.equal(parameters(0, 1, 2), parameters(0, 1, 2))
    assert torch.equal(parameters(2, 0), parameters(0, 1, 2)[[2, 0]])
    assert not torch.equal(parameters(0), parameters(1))


def test_the_protocol_is_typed(model: WorldModel, seen: Seen) -> None:
    state = begin(model, seen)
    assert isinstance(state, dict)
    assert all(isinstance(item, Tensor) for item in state.values())
    if isinstance(model, Decodes):
        assert isinstance(model.decode(state), Pixels)
