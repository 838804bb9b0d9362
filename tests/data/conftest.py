"""A counting world: it draws its last action, counts its steps, and its future is a few additions."""

from collections.abc import Callable
from typing import Self

import numpy as np
import pytest
from numpy.typing import NDArray

from wm_audit.core import Stream
from wm_audit.data import Dataset, Episodes, assemble, collect, correlated, held, noisy, uniform
from wm_audit.envs.protocol import Bools, EnvSpec, Floats, Images, Oracle, Outcome, Step

FRACTIONS = {"train": 0.6, "probe": 0.2, "held_out": 0.2}
SHARES = {"uniform": 0.5, "correlated": 0.25, "noisy": 0.25}


class CountingWorld:
    """State: token, stop, count, position, last action (2). Terminates when count reaches stop, truncates at the limit."""

    def __init__(self, limit: int = 12, size: int = 8, weight: float = 1.0, high: float = 1.0) -> None:
        self._weight = weight
        self._state = np.zeros((0, 6))
        self.spec = EnvSpec(
            id="counting",
            image=(3, size, size),
            action_low=(-1.0, -1.0),
            action_high=(1.0, high),
            limit=limit,
            step_seconds=0.1,
            reward="dense",
            distractor="none",
            cue="none",
            renderer="counting 1",
            settings={"size": size, "weight": weight},
        )

    @property
    def n(self) -> int:
        return len(self._state)

    def reset(self, stream: Stream, n: int) -> Images:
        self._state = np.zeros((n, 6))
        for i in range(n):
            draw = stream.child(i).uniform(2)
            self._state[i, :2] = np.floor(draw[0] * 200), np.floor(2 + draw[1] * 2 * self.spec.limit)
        return self.render()

    def advance(self, action: Floats) -> Outcome:
        action = np.clip(action, self.spec.action_low, self.spec.action_high)
        state = self._state.copy()
        state[:, 2] += 1
        state[:, 3] += self._weight * np.sin(action[:, 0] + 0.3 * action[:, 1])
        state[:, 4:] = action
        self._state = state
        return Outcome(state[:, 3] + 0.1 * state[:, 2], state[:, 2] >= state[:, 1], state[:, 2] >= self.spec.limit)

    def step(self, action: Floats) -> Step:
        outcome = self.advance(action)
        return Step(self.render(), *outcome)

    def render(self) -> Images:
        image = np.zeros((self.n, *self.spec.image), dtype=np.uint8)
        image[:, 0] = (self._state[:, 0] + 7 * self._state[:, 2]).astype(np.int64)[:, None, None] % 256
        image[:, 1, 0, :2] = shown(self._state[:, 4:])
        image[:, 2, 0, 0] = self._state[:, 0]
        image[:, 2, 0, 1] = self._state[:, 2]
        return image

    def snapshot(self) -> Floats:
        return self._state.copy()

    def restore(self, snapshot: Floats) -> None:
        self._state = snapshot.copy()

    def fork(self) -> Self:
        return type(self)(self.spec.limit, self.spec.image[1], self._weight, self.spec.action_high[1])


def shown(action: NDArray[np.floating]) -> NDArray[np.uint8]:
    """The two pixels in which an action appears."""
    return np.rint((action.astype(np.float64) + 1) * 127.5).astype(np.uint8)


@pytest.fixture(scope="session")
def last_action_pixels() -> Callable[[NDArray[np.floating]], NDArray[np.uint8]]:
    return shown


@pytest.fixture(scope="session")
def make_world() -> Callable[..., Oracle]:
    def make(limit: int = 12, size: int = 8, weight: float = 1.0, high: float = 1.0) -> Oracle:
        return CountingWorld(limit, size, weight, high)

    return make


@pytest.fixture(scope="session")
def record() -> Callable[..., Episodes]:
    """Records a world with three behaviours."""

    def run(world: Oracle, steps: int = 480, root: int = 7, seed: int = 3, chunk: int = 256) -> Episodes:
        behaviours = {"uniform": uniform, "correlated": correlated(0.9), "noisy": noisy(held(3), (0.0, 0.5))}
        return collect(world, behaviours, SHARES, steps, root=root, seed=seed, chunk=chunk)

    return run


@pytest.fixture(scope="session")
def world(make_world: Callable[..., Oracle]) -> Oracle:
    return make_world()


@pytest.fixture(scope="session")
def dataset(world: Oracle, record: Callable[..., Episodes]) -> Dataset:
    return assemble(record(world), world.spec, FRACTIONS, 7, 3)


def _protocol_check(world: CountingWorld) -> tuple[Oracle, Bools]:
    """The counting world is an oracle, as far as types can say."""
    return world, np.zeros(0, dtype=np.bool_)
