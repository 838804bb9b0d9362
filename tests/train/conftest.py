"""A moving dot: sixteen pixels square, pushed by its action, rewarded in a corner, ended in the opposite one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from wm_audit.core import stream
from wm_audit.data import Dataset, Episodes, Replay, assemble
from wm_audit.envs.protocol import EnvSpec
from wm_audit.models.dreamer_lite import Config, Trainable
from wm_audit.models.dreamer_lite.gradient import gradient

SIDE, LIMIT, EPISODES = 16, 9, 60
SPEC = EnvSpec(
    id="dot",
    image=(3, SIDE, SIDE),
    action_low=(-1.0, -1.0),
    action_high=(1.0, 1.0),
    limit=LIMIT,
    step_seconds=0.1,
    reward="sparse",
    distractor="none",
    cue="none",
    renderer="dot 1",
)
GROUND = stream(0, "ground").integers(60, (3, SIDE, SIDE)).astype(np.uint8)


def drawn(place: NDArray[np.float64]) -> NDArray[np.uint8]:
    """A bright square of five pixels around (row, column) on a still ground."""
    image = GROUND.copy()
    row, column = np.rint(place).astype(int)
    image[:, max(0, row - 2) : row + 3, max(0, column - 2) : column + 3] = 230
    return image


@pytest.fixture(scope="session")
def dots() -> Dataset:
    shape = (EPISODES, LIMIT)
    obs = np.zeros((EPISODES, LIMIT + 1, 3, SIDE, SIDE), dtype=np.uint8)
    action = stream(1, "action").uniform((*shape, 2), -1, 1).astype(np.float32)
    reward, terminated, truncated = np.zeros(shape), np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    length = np.full(EPISODES, LIMIT, dtype=np.int64)
    snapshot = np.zeros((EPISODES, LIMIT + 1, 2))
    start = stream(1, "start").uniform((EPISODES, 2), 3, 12)
    for e in range(EPISODES):
        snapshot[e, 0], obs[e, 0] = start[e], drawn(start[e])
        for t in range(LIMIT):
            snapshot[e, t + 1] = np.clip(snapshot[e, t] + 3.0 * action[e, t], 0, SIDE - 1)
            obs[e, t + 1] = drawn(snapshot[e, t + 1])
            reward[e, t] = float(snapshot[e, t + 1].sum() > 22)
            if snapshot[e, t + 1].sum() < 5:
                terminated[e, t], length[e] = True, t + 1
                break
        else:
            truncated[e, -1] = True
        past = length[e]
        action[e, past:] = 0
    record = Episodes(obs, action, reward, terminated, truncated, length, snapshot, np.zeros(EPISODES, dtype=np.int64), ("uniform",))
    return assemble(record, SPEC, {"train": 0.8, "probe": 0.1, "held_out": 0.1}, 0, 0)


@pytest.fixture(scope="session")
def config() -> Config:
    """Its loss weights suit this world; the library's defaults are tuned for another."""
    small: dict[str, Any] = {"image": SPEC.image, "actions": 2, "hidden": 8, "embed": 8, "stoch": 4}
    small |= {"variance_beta": 1.0, "free_nats": 1.0, "kl_dynamics": 10.0, "kl_representation": 0.3, "reward_scale": 100.0}
    return Config(**small)


@pytest.fixture(scope="session")
def mean_picture(dots: Dataset) -> NDArray[np.float32]:
    ids, data = dots.split["train"], dots.episodes
    frames = np.concatenate([data.obs[e, : data.length[e] + 1] for e in ids])
    mean: NDArray[np.float32] = (frames.mean(axis=0) / 255.0).astype(np.float32)
    return mean


@pytest.fixture(scope="session")
def learner(config: Config, mean_picture: NDArray[np.float32]) -> Callable[..., Trainable]:
    """A fresh ensemble; `names` choose the members' streams."""

    def make(*names: int, like: Config = config, step: Callable[..., Any] = gradient) -> Trainable:
        return Trainable(like, [stream(2, "initial", name) for name in names or (0, 1, 2)], mean_picture, step)

    return make


@pytest.fixture(scope="session")
def replay(dots: Dataset, learner: Callable[..., Trainable]) -> Callable[..., Replay]:
    arrange = learner().arrange

    def make(batch: int = 4, length: int = 6) -> Replay:
        return Replay(dots, batch, length, arrange)

    return make


@pytest.fixture(autouse=True)
def no_global_draws() -> Any:
    """Training that touched a global generator would be reproducible by luck only."""
    torch_before, numpy_before = torch.random.get_rng_state(), str(np.random.get_state())  # noqa: NPY002  it is what must not be used
    yield
    assert torch.equal(torch.random.get_rng_state(), torch_before)
    assert str(np.random.get_state()) == numpy_before  # noqa: NPY002
