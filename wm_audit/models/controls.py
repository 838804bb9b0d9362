"""World models with known answers, built around an environment that can be told its state.

They check the instruments: an audit whose oracle is not perfect, or whose action-blind model plans well, is broken.

Shapes: K members (all identical: computed once, expanded), B batch, A action, S numbers of physical state, image `C h w`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.core import AuditError, Stream, stream
from wm_audit.models.protocol import Pixels, State

Floats = NDArray[np.float64]

LOG_VARIANCE = -8.0
"""The least log-variance that the library's own models may claim for a pixel."""

SAMPLE = 64
"""Episodes of uniform actions from which a control takes its constants."""


class WorldSpec(Protocol):
    """The part of a world's description that a control needs."""

    @property
    def action_low(self) -> tuple[float, ...]:
        """Lower bounds (A,)."""
        ...

    @property
    def action_high(self) -> tuple[float, ...]:
        """Upper bounds (A,)."""
        ...

    @property
    def limit(self) -> int:
        """Steps per episode."""
        ...


class World(Protocol):
    """The part of an environment that a control needs."""

    @property
    def spec(self) -> WorldSpec:
        """What this world is."""
        ...

    def reset(self, stream: Stream, n: int) -> NDArray[np.uint8]:
        """Starts n fresh copies."""
        ...

    def advance(self, action: Floats) -> Any:
        """One step of every copy without drawing: has reward (B,) and terminated (B,)."""
        ...

    def render(self) -> NDArray[np.uint8]:
        """(B, C, h, w)."""
        ...

    def snapshot(self) -> Floats:
        """(B, S)."""
        ...

    def restore(self, snapshot: Floats) -> None:
        """Puts states back."""
        ...

    def fork(self) -> Self:
        """An independent world."""
        ...


Rewarding = Callable[[Floats, Floats], Floats]
"""The state reached (B, S) and its true reward (B,) -> the reward the control claims (B,)."""


@dataclass(frozen=True, slots=True)
class Control:
    """A world model that carries the true state; what it does with it is said by its parts.

    Attributes:
        world: its own fork; its state between calls means nothing.
        members: K.
        sees_actions: whether imagination uses the action; if not it takes the zero action.
        rewarding: the reward it claims.
        picture: (C, h, w) in [0, 1], the one image it always draws; None draws the truth.
    """

    world: World
    members: int
    sees_actions: bool
    rewarding: Rewarding
    picture: Tensor | None = None

    def ground(self, snapshot: Floats) -> State:
        """The state at the true one (B, S); nothing was received yet, so its reward is 0."""
        return self._state(snapshot, np.zeros(len(snapshot)), np.ones(len(snapshot), dtype=bool))

    def initial(self, batch: int) -> State:
        """There is no state before the truth is known.

        Raises:
            AuditError: always.
        """
        raise AuditError(
            "a control model cannot start without the true state",
            where=f"initial({batch})",
            expected="ground(snapshot)",
            fix="use ground_or_filter",
        )

    def observe(self, state: State, action: Tensor, obs: Tensor) -> State:  # noqa: ARG002  it knows better than any picture
        """The truth after `action` (B, A)."""
        return self._advance(state, action)

    def imagine(self, state: State, action: Tensor) -> State:
        """What the control believes follows `action` (B, A)."""
        return self._advance(state, action if self.sees_actions else torch.zeros_like(action))

    def reward(self, state: State) -> Tensor:
        """(K, B) float64."""
        return state["reward"]

    def decode(self, state: State) -> Pixels:
        """Drawn only when somebody looks; the log-variance is the least a model may claim."""
        if self.picture is None:
            self.world.restore(state["snapshot"][0].numpy().copy())
            image = torch.from_numpy(self.world.render().astype(np.float32) / np.float32(255.0))
        else:
            image = self.picture.expand(state["reward"].shape[1], *self.picture.shape)
        mean = image.expand(self.members, *image.shape)
        return Pixels(mean, torch.full((), LOG_VARIANCE).expand(mean.shape))

    def _advance(self, state: State, action: Tensor) -> State:
        """One step of the true dynamics; after termination the rewards are 0."""
        alive = state["alive"][0].numpy()
        self.world.restore(state["snapshot"][0].numpy().copy())
        outcome = self.world.advance(action.double().numpy())
        reached = self.world.snapshot()
        reward = np.where(alive, self.rewarding(reached, outcome.reward), 0.0)
        return self._state(reached, reward, alive & ~outcome.terminated)

    def _state(self, snapshot: Floats, reward: Floats, alive: NDArray[np.bool_]) -> State:
        items = {"snapshot": snapshot.copy(), "reward": reward, "alive": alive}
        return {name: torch.from_numpy(item).expand(self.members, *item.shape) for name, item in items.items()}


def oracle(world: World, members: int = 3) -> Control:
    """Knows everything: every return it predicts is the environment's, bit for bit."""
    return Control(world.fork(), members, sees_actions=True, rewarding=_true)


def action_blind(world: World, members: int = 3) -> Control:
    """Follows the truth while it observes, so its pictures are good; imagines as if nobody acted, so its plans are worth nothing."""
    return Control(world.fork(), members, sees_actions=False, rewarding=_true)


def constant(world: World, members: int = 3) -> Control:
    """Predicts one picture (the mean start) and one reward (the mean under uniform actions) whatever happens."""
    images, rewards = _sample(world.fork(), stream(0, "control", "constant"))
    mean = float(rewards.mean())
    picture = torch.from_numpy((images.mean(axis=0) / 255.0).astype(np.float32))
    return Control(world.fork(), members, sees_actions=True, rewarding=lambda _, true: np.full_like(true, mean), picture=picture)


def shuffled_reward(world: World, members: int = 3) -> Control:
    """True dynamics; the reward is a fixed pseudo-random function of the state.

    It has the distribution of the rewards under uniform actions and no association with the true one, and depends on
    nothing but the state, so the control is as deterministic as the oracle.
    """
    _, rewards = _sample(world.fork(), stream(0, "control", "shuffled_reward"))
    ordered = np.sort(rewards)

    def drawn(reached: Floats, true: Floats) -> Floats:  # noqa: ARG001  the association is what is destroyed
        return ordered[(unit_hash(reached) * ordered.size).astype(np.int64)]

    return Control(world.fork(), members, sees_actions=True, rewarding=drawn)


CONTROLS: dict[str, Callable[[World, int], Control]] = {
    "oracle": oracle,
    "action_blind": action_blind,
    "constant": constant,
    "shuffled_reward": shuffled_reward,
}


def unit_hash(rows: Floats) -> Floats:
    """(B, S) -> (B,) in [0, 1): a number that looks random, the same for the same row wherever it stands.

    The bits of each number are folded in with the finaliser of SplitMix64 (Steele, Lea and Flood 2014, figure 17).
    """
    bits = np.ascontiguousarray(rows + 0.0).view(np.uint64)  # minus zero is the same state as zero
    value = np.full(rows.shape[0], 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in range(rows.shape[1]):
        value = value * np.uint64(0x9E3779B97F4A7C15) + bits[:, column]
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        value = value ^ (value >> np.uint64(31))
    return (value >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _true(reached: Floats, true: Floats) -> Floats:  # noqa: ARG001  one signature for all
    return true


def _sample(world: World, draws: Stream) -> tuple[NDArray[np.uint8], Floats]:
    """Start images (SAMPLE, C, h, w) and all rewards of that many episodes of uniform actions."""
    low, high = np.array(world.spec.action_low), np.array(world.spec.action_high)
    images = world.reset(draws.child("start"), SAMPLE)
    alive, rewards = np.ones(SAMPLE, dtype=bool), []
    for _ in range(world.spec.limit):
        outcome = world.advance(low + (high - low) * draws.uniform((SAMPLE, low.size)))
        rewards.append(np.asarray(outcome.reward, dtype=np.float64)[alive])
        alive = alive & ~outcome.terminated
    return images, np.concatenate(rewards)
