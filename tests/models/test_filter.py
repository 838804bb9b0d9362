"""A context becomes a belief in one way: the first picture with a zero action, every other with the action that led to it."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.models.filter import filter_context, ground_or_filter
from wm_audit.models.protocol import State


@dataclass
class Listener:
    """Keeps what it was shown; its belief is a weighted sum in which the order matters, and it can be trained."""

    shown: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    weight: Tensor = field(default_factory=lambda: torch.ones(2, 1, requires_grad=True))
    members: int = 2

    def initial(self, batch: int) -> State:
        return {"x": torch.zeros(2, batch)}

    def observe(self, state: State, action: Tensor, obs: Tensor) -> State:
        self.shown.append((action, obs))
        return {"x": self.weight * (0.5 * state["x"] + action.sum(dim=1) + obs.float().mean(dim=(1, 2, 3)))}

    def imagine(self, state: State, action: Tensor) -> State:
        return state


class Told(Listener):
    def ground(self, snapshot: NDArray[np.float64]) -> State:
        return {"x": torch.from_numpy(snapshot[:, 0]).expand(2, -1)}


def context(steps: int) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    obs = np.arange(2 * steps * 3 * 2 * 2, dtype=np.uint8).reshape(2, steps, 3, 2, 2)
    return obs, np.arange(2 * (steps - 1) * 2, dtype=np.float32).reshape(2, steps - 1, 2) + 1.0


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_every_picture_comes_with_the_action_that_led_to_it(steps: int) -> None:
    model = Listener()
    obs, action = context(steps)
    state = filter_context(model, obs, action)
    assert len(model.shown) == steps
    for i, (led, seen) in enumerate(model.shown):
        np.testing.assert_array_equal(seen.numpy(), obs[:, i])
        np.testing.assert_array_equal(led.numpy(), action[:, i - 1] if i else np.zeros((2, 2)))
        assert seen.dtype == torch.uint8
    expected = np.zeros(2)
    for i in range(steps):
        expected = 0.5 * expected + (action[:, i - 1].sum(axis=1) if i else 0.0) + obs[:, i].mean(axis=(1, 2, 3))
    np.testing.assert_allclose(state["x"].numpy(), np.broadcast_to(expected, (2, 2)), rtol=1e-6)
    assert not state["x"].requires_grad


def test_a_belief_can_be_used_in_training() -> None:
    model = Listener()
    state = filter_context(model, *context(3))
    (model.weight * state["x"]).sum().backward()  # type: ignore[no-untyped-call]  # torch's own
    assert model.weight.grad is not None


def test_memory_mapped_contexts_are_read(tmp_path: Path) -> None:
    obs, action = context(3)
    np.save(tmp_path / "obs.npy", obs)
    mapped = np.load(tmp_path / "obs.npy", mmap_mode="r")
    assert torch.equal(filter_context(Listener(), mapped, action)["x"], filter_context(Listener(), obs, action)["x"])


def test_a_model_that_can_be_told_is_told() -> None:
    obs, action = context(3)
    told, snapshot = Told(), np.array([[7.0, 0.0], [8.0, 0.0]])
    np.testing.assert_array_equal(ground_or_filter(told, snapshot, obs, action)["x"].numpy(), [[7.0, 8.0], [7.0, 8.0]])
    assert told.shown == []
    other = Listener()
    ground_or_filter(other, snapshot, obs, action)
    assert len(other.shown) == 3


def test_contexts_that_do_not_fit_are_refused() -> None:
    obs, action = context(3)
    for bad_obs, bad_action in (
        (obs, action[:, :1]),
        (obs[:, :2], action),
        (obs[:1], action),
        (obs, action[..., 0]),
        (obs[:, :0], action[:, :0]),
    ):
        with pytest.raises(ValueError, match="context actions"):
            filter_context(Listener(), bad_obs, bad_action)
