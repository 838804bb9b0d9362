"""A world small enough to compute by hand: a walker on 0..200 whose frame shows where it stands.

position' = clip(position + action, 0, 200), reward = position' / 100 (dense) or 1 at the goal (sparse);
channel 0 of the frame holds the position, channel 1 a ramp, channel 2 nothing.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.core import Stream, stream
from wm_audit.data.probe import Counterfactual, Segments
from wm_audit.diagnostics.evidence import Evidence
from wm_audit.diagnostics.parameters import Parameters
from wm_audit.models.protocol import Pixels, State

TOP, GOAL = 200.0, 120.0


class World:
    """The truth, in numpy."""

    def __init__(self, size: int = 16, sparse: bool = False) -> None:
        self.size, self.sparse = size, sparse

    def move(self, position: NDArray[np.float64], action: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.clip(position + action[..., 0].astype(np.float64), 0.0, TOP)

    def reward(self, position: NDArray[np.float64]) -> NDArray[np.float64]:
        return (position == GOAL).astype(np.float64) if self.sparse else position / 100.0

    def draw(self, position: NDArray[np.float64]) -> NDArray[np.uint8]:
        frame = np.zeros((*position.shape, 3, self.size, self.size), np.uint8)
        frame[..., 0, :, :] = position.astype(np.uint8)[..., None, None]
        frame[..., 1, :, :] = np.arange(self.size, dtype=np.uint8) * 7
        return frame

    def steps(self, draw: Stream, shape: tuple[int, ...]) -> NDArray[np.float32]:
        return (draw.integers(9, (*shape, 1)) - 4).astype(np.float32)

    def context(self, draw: Stream, n: int) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.float64]]:
        action = self.steps(draw, (n, 2))
        path = [draw.integers(150, n).astype(np.float64) + 20.0]
        for t in range(2):
            path.append(self.move(path[-1], action[:, t]))
        return self.draw(np.stack(path, axis=1)), action, path[-1]

    def segments(self, n: int = 24, horizon: int = 5, root: int = 0) -> Segments:
        draw = stream(root, "segments")
        obs, context_action, position = self.context(draw, n)
        action, path = self.steps(draw, (n, horizon)), [position]
        for t in range(horizon):
            path.append(self.move(path[-1], action[:, t]))
        future = np.stack(path[1:], axis=1)
        return Segments(
            context_obs=obs,
            context_action=context_action,
            snapshot=position[:, None],
            action=action,
            obs=self.draw(future),
            reward=self.reward(future),
            terminated=np.zeros(future.shape, np.bool_),
            episode=np.arange(n),
            step=np.full(n, 2),
        )

    def probe(self, n: int = 6, tried: int = 5, hold: int = 3, root: int = 0) -> Counterfactual:
        draw = stream(root, "probe")
        obs, context_action, position = self.context(draw, n)
        actions = np.stack([(draw.permutation(9)[:tried] - 4).astype(np.float32) for _ in range(n)])[:, :, None]
        here, total = np.repeat(position[:, None], tried, axis=1), np.zeros((n, tried))
        for _ in range(hold):
            here = self.move(here, actions)
            total += self.reward(here)
        return Counterfactual(obs, context_action, position[:, None], actions, hold, total, np.arange(n), np.full(n, 2))


class Bare:
    """K members that know the walker up to the errors given to them; can neither draw nor judge."""

    def __init__(self, world: World, drift: Sequence[float] = (0.0,), gain: float = 1.0) -> None:
        self.world, self.gain = world, gain
        self.drift = torch.tensor(drift, dtype=torch.float64)[:, None]

    @property
    def members(self) -> int:
        return len(self.drift)

    def initial(self, batch: int) -> State:
        return {"position": torch.zeros(self.members, batch, dtype=torch.float64)}

    def observe(self, state: State, action: Tensor, obs: Tensor) -> State:
        return {"position": obs[:, 0, 0, 0].to(torch.float64).repeat(self.members, 1)}

    def imagine(self, state: State, action: Tensor) -> State:
        moved = state["position"] + self.gain * action[:, 0].to(torch.float64) + self.drift
        return {"position": moved.clamp(0.0, TOP)}


class Judging(Bare):
    """Rewards without images."""

    def __init__(self, world: World, *args: Any, reward_error: Sequence[float] = (0.0,), **rest: Any) -> None:
        super().__init__(world, *args, **rest)
        self.reward_error = torch.tensor(reward_error, dtype=torch.float64)[:, None]

    def reward(self, state: State) -> Tensor:
        position = state["position"]
        exact = (position == GOAL).to(torch.float64) if self.world.sparse else position / 100.0
        return exact + self.reward_error


class Walker(Judging):
    """Draws and judges; `pixel_error` is added to every predicted intensity of a member."""

    def __init__(
        self, world: World, *args: Any, pixel_error: Sequence[float] = (0.0,), log_variance: float | None = None, **rest: Any
    ) -> None:
        super().__init__(world, *args, **rest)
        self.pixel_error, self.log_variance = torch.tensor(pixel_error, dtype=torch.float32), log_variance

    def decode(self, state: State) -> Pixels:
        position = state["position"].to(torch.float32)
        size = self.world.size
        mean = torch.zeros(*position.shape, 3, size, size)
        mean[:, :, 0] = position[:, :, None, None] / 255.0
        mean[:, :, 1] = torch.arange(size) * 7 / 255.0
        mean = mean + self.pixel_error[:, None, None, None, None]
        return Pixels(mean, None if self.log_variance is None else torch.full_like(mean, self.log_variance))


class Oracle(Walker):
    """Is told the truth."""

    def ground(self, snapshot: NDArray[np.float64]) -> State:
        return {"position": torch.from_numpy(snapshot[:, 0]).repeat(self.members, 1)}


class Mortal(Walker):
    """Believes that the world ends with probability 1/2 in every state."""

    def continues(self, state: State) -> Tensor:
        return torch.full_like(state["position"], 0.5)


class Dense(Bare):
    """Matrix products in float32, as a real model has them: one hidden layer, K members with weights of their own."""

    def __init__(self, world: World, members: int = 2) -> None:
        super().__init__(world, drift=(0.0,) * members)
        noise = torch.Generator().manual_seed(3)
        self.enter = torch.randn(members, 2, 32, generator=noise)
        self.leave = torch.randn(members, 32, 3 * world.size**2, generator=noise) / 6.0
        self.judge = torch.randn(members, 32, 1, generator=noise) / 6.0

    def hidden(self, state: State) -> Tensor:
        position = state["position"].to(torch.float32) / 100.0
        return torch.tanh(torch.stack([position, 1.0 - position], dim=-1) @ self.enter)

    def decode(self, state: State) -> Pixels:
        flat = torch.sigmoid(self.hidden(state) @ self.leave)
        mean = flat.reshape(*flat.shape[:2], 3, self.world.size, self.world.size)
        return Pixels(mean, mean - 2.0)

    def reward(self, state: State) -> Tensor:
        return (self.hidden(state) @ self.judge)[..., 0]


MODELS: dict[str, Callable[..., Any]] = {
    "bare": Bare,
    "judging": Judging,
    "walker": Walker,
    "mortal": Mortal,
    "oracle": Oracle,
    "dense": Dense,
}


@pytest.fixture
def model() -> Callable[..., Any]:
    """`model("walker", world, drift=(0.0, 1.0))`."""
    return lambda kind, world, *args, **rest: MODELS[kind](world, *args, **rest)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def make_world() -> Callable[..., World]:
    return World


@pytest.fixture
def evidence() -> Callable[..., Evidence]:
    """`evidence(model, batch=7)`: probes of the model's own world, unless given."""

    def make(model: Any, segments: Segments | None = None, probe: Counterfactual | None = None, **parameters: Any) -> Evidence:
        settings = Parameters(**{"batch": 8, **parameters})
        world: World = model.world
        return Evidence(model, segments or world.segments(), probe or world.probe(), settings)

    return make
