"""Float ensembles of odd sizes, whose every number is drawn, and what they are shown."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from wm_audit.core import stream
from wm_audit.models.dreamer_lite import Config, DreamerLite, Trainable
from wm_audit.models.protocol import State


@pytest.fixture(scope="session")
def make_model() -> Callable[..., DreamerLite]:
    def make(members: int = 3, **changes: Any) -> DreamerLite:
        sizes: dict[str, Any] = {"image": (3, 16, 16), "actions": 2, "hidden": 9, "embed": 7, "stoch": 5}
        config = Config(**sizes | changes)
        centre = stream(0, "centre").uniform(config.image, 0.2, 0.8).astype(np.float32)
        learner = Trainable(config, [stream(1, "member", k) for k in range(members)], centre)
        shake = np.stack([stream(2, "shake", k).normal(learner.parameters.shape[1]) for k in range(members)])
        with torch.no_grad():
            learner.parameters.add_(0.2 * torch.from_numpy(shake).float())
        return learner.trained()

    return make


@pytest.fixture(scope="session")
def model(make_model: Callable[..., DreamerLite]) -> DreamerLite:
    return make_model()


class Scene(NamedTuple):
    """A state (K, B, ...), an action (B, A) and an observation (B, C, h, w)."""

    state: State
    action: Tensor
    obs: Tensor

    def rows(self, which: slice) -> "Scene":
        """Some of the batch."""
        return Scene({name: item[:, which].clone() for name, item in self.state.items()}, self.action[which], self.obs[which])


@pytest.fixture(scope="session")
def scene() -> Callable[..., Scene]:
    def make(model: DreamerLite, batch: int) -> Scene:
        config = model.config
        drawn = torch.from_numpy(2.0 * stream(3, "state").normal((model.members, batch, config.features))).float()
        state = {"hidden": torch.tanh(drawn[..., : config.hidden]), "latent": drawn[..., config.hidden :]}
        action = torch.from_numpy(stream(3, "action").uniform((batch, config.actions), -1, 1)).float()
        obs = torch.from_numpy(stream(3, "obs").integers(256, (batch, *config.image)).astype(np.uint8))
        return Scene(state, action, obs)

    return make


@pytest.fixture(scope="session")
def predictions() -> Callable[[DreamerLite, Scene], dict[str, Tensor]]:
    """Everything a model says of a scene, along every path: (K, B, ...) each."""

    def make(model: DreamerLite, scene: Scene) -> dict[str, Tensor]:
        seen = model.observe(scene.state, scene.action, scene.obs)
        ahead = model.imagine(scene.state, scene.action)
        further = model.imagine(model.imagine(ahead, scene.action), -scene.action)
        out: dict[str, Tensor] = {}
        for name, state in {"given": scene.state, "seen": seen, "ahead": ahead, "further": further}.items():
            out |= {f"{name}.{part}": item for part, item in state.items()}
            pixels = model.decode(state)
            assert pixels.log_variance is not None
            out |= {f"{name}.mean": pixels.mean, f"{name}.log_variance": pixels.log_variance}
            out |= {f"{name}.reward": model.reward(state), f"{name}.continues": model.continues(state)}
        return out

    return make
