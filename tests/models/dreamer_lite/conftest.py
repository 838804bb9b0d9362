"""Tiny ensembles (image 16x16, width 8, three members) and batches made of named streams."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from wm_audit.core import stream
from wm_audit.models.dreamer_lite import Config, Trainable
from wm_audit.models.dreamer_lite.layout import initialise
from wm_audit.models.dreamer_lite.loss import Sequences

MEMBERS = 3


@pytest.fixture(scope="session")
def make_config() -> Callable[..., Config]:
    def make(**changes: Any) -> Config:
        tiny: dict[str, Any] = {"image": (3, 16, 16), "actions": 2, "hidden": 8, "embed": 8, "stoch": 4}
        return Config(**tiny | changes)

    return make


@pytest.fixture(scope="session")
def config(make_config: Callable[..., Config]) -> Config:
    return make_config()


@pytest.fixture(scope="session")
def centre() -> np.ndarray[Any, np.dtype[np.float32]]:
    """A mean picture without symmetry, (3, 16, 16)."""
    return stream(0, "centre").uniform((3, 16, 16), 0.2, 0.8).astype(np.float32)


@pytest.fixture(scope="session")
def parameters() -> Callable[..., Tensor]:
    """(K, n) in which no bias is zero, so that no term can be forgotten unseen."""

    def make(config: Config, members: int = MEMBERS, dtype: torch.dtype = torch.float32) -> Tensor:
        flat = initialise(config, [stream(1, "member", k) for k in range(members)]).double()
        shake = [stream(2, "shake", k).normal(flat.shape[1]) for k in range(members)]
        return (flat + 0.2 * torch.from_numpy(np.stack(shake))).to(dtype)

    return make


@pytest.fixture(scope="session")
def sequences() -> Callable[..., Sequences]:
    """A batch with an episode start in the middle of every other sequence and one terminal step."""

    def make(config: Config, members: int = MEMBERS, steps: int = 5, batch: int = 3, dtype: torch.dtype = torch.float64) -> Sequences:
        def draw(name: str, *shape: int) -> Tensor:
            return torch.from_numpy(stream(3, name).normal(shape)).to(dtype)

        keep = torch.ones(members, steps, batch, 1, dtype=dtype)
        keep[:, 0, 0] = 0.0
        keep[:, steps // 2, ::2] = 0.0
        terminal = torch.zeros(members, steps, batch, dtype=dtype)
        terminal[:, -1, 0] = 1.0
        return Sequences(
            rows=0.3 * draw("rows", members, config.patches, steps * batch, config.values),
            action=draw("action", members, steps, batch, config.actions),
            reward=draw("reward", members, steps, batch) * keep[..., 0],
            keep=keep,
            terminal=terminal,
            noise=draw("noise", members, steps, batch, config.stoch),
        )

    return make


@pytest.fixture(scope="session")
def batch() -> Callable[..., Any]:
    """What `Replay.sample` gives to a learner: pictures as patches (K, B, T, P, V), the rest (K, B, T, ...)."""

    def make(config: Config, members: int = MEMBERS, size: int = 3, steps: int = 4, starts: tuple[int, ...] = (0,)) -> Any:
        shape = (members, size, steps)
        first = np.zeros(shape, dtype=bool)
        first[:, :, list(starts)] = True
        inside = ~first
        return SimpleNamespace(
            obs=stream(4, "obs").integers(256, (*shape, config.patches, config.values)).astype(np.uint8),
            action=stream(4, "action").uniform((*shape, config.actions), -1, 1).astype(np.float32) * inside[..., None],
            reward=stream(4, "reward").normal(shape).astype(np.float32) * inside,
            is_first=first,
            terminal=np.zeros(shape, dtype=bool),
        )

    return make


@pytest.fixture(scope="session")
def trainable(parameters: Callable[..., Tensor], centre: np.ndarray[Any, np.dtype[np.float32]]) -> Callable[..., Trainable]:
    def make(config: Config, members: int = MEMBERS, **options: Any) -> Trainable:
        made = Trainable(config, [stream(1, "member", k) for k in range(members)], centre, **options)
        made.parameters = parameters(config, members)
        return made

    return make
