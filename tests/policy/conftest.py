"""A small world for planners: a point with inertia is pushed towards a goal."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from wm_audit.core import Stream
from wm_audit.envs.protocol import EnvSpec, Floats, Images, Outcome, Step
from wm_audit.policy.cem import CemSettings

torch.set_num_threads(1)


class PointMass:
    """State (x, y, vx, vy, gx, gy, t); reward is minus the distance to the goal; ends on arrival where `ends` is set."""

    def __init__(self, *, ends: bool = False, limit: int = 15, low: float = -1.0, high: float = 1.0) -> None:
        self.ends, self.rendered = ends, 0
        self.spec = EnvSpec("point_mass", (3, 8, 8), (low, low), (high, high), limit, 0.1, "dense", "none", "none", "numpy/1")
        self._state = np.zeros((0, 7))

    @property
    def n(self) -> int:
        return self._state.shape[0]

    def reset(self, stream: Stream, n: int) -> Images:
        draws = np.stack([stream.child(i).uniform(4, -0.9, 0.9) for i in range(n)])
        self._state = np.concatenate([draws[:, :2], np.zeros((n, 2)), draws[:, 2:], np.zeros((n, 1))], axis=1)
        return self.render()

    def advance(self, action: Floats) -> Outcome:
        push = np.clip(action, self.spec.action_low, self.spec.action_high)
        velocity = 0.6 * self._state[:, 2:4] + 0.15 * push
        place = np.clip(self._state[:, :2] + velocity, -1.0, 1.0)
        self._state = np.concatenate([place, velocity, self._state[:, 4:6], self._state[:, 6:] + 1.0], axis=1)
        distance = np.sqrt(((place - self._state[:, 4:6]) ** 2).sum(axis=1))
        terminated = (distance < 0.15) & self.ends
        return Outcome(-distance, terminated, (self._state[:, 6] >= self.spec.limit) & ~terminated)

    def step(self, action: Floats) -> Step:
        outcome = self.advance(action)
        return Step(self.render(), *outcome)

    def render(self) -> Images:
        self.rendered += 1
        image = np.zeros((self.n, 3, 8, 8), dtype=np.uint8)
        for channel, column in ((0, 0), (1, 4)):
            cells = np.clip(((self._state[:, column : column + 2] + 1.0) * 4.0).astype(int), 0, 7)
            image[np.arange(self.n), channel, cells[:, 1], cells[:, 0]] = 255
        return image

    def snapshot(self) -> Floats:
        return self._state.copy()

    def restore(self, snapshot: Floats) -> None:
        self._state = snapshot.copy()

    def fork(self) -> Self:
        spec = self.spec
        return type(self)(ends=self.ends, limit=spec.limit, low=spec.action_low[0], high=spec.action_high[0])


@dataclass
class Recorder:
    """Scores with another function and remembers every action it was asked about."""

    inner: Any
    seen: list[NDArray[np.float64]]

    def __call__(self, actions: NDArray[np.float64]) -> NDArray[np.float64]:
        self.seen.append(actions.copy())
        result: NDArray[np.float64] = self.inner(actions)
        return result


@pytest.fixture
def world() -> PointMass:
    return PointMass()


@pytest.fixture
def ending_world() -> PointMass:
    return PointMass(ends=True)


@pytest.fixture
def lopsided_world() -> PointMass:
    return PointMass(low=-0.3, high=1.1)


@pytest.fixture
def settings() -> CemSettings:
    return CemSettings(horizon=6, candidates=24, elites=5, iterations=3)


@pytest.fixture
def recorder() -> type[Recorder]:
    return Recorder
