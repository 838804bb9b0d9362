"""Discs that move over a shaded ground, and evidence whose predictions are given rather than computed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from wm_audit.core import Stream, stream
from wm_audit.data.probe import Counterfactual, Segments
from wm_audit.diagnostics.evidence import Evidence
from wm_audit.diagnostics.parameters import Parameters
from wm_audit.diagnostics.rollout import Forecast, Rollout

Frames = NDArray[np.float32]
DISCS = ((0.14, 0.05, (0.9, 0.2, 0.1)), (0.09, 0.03, (0.1, 0.8, 0.9)))  # radius, speed, colour


def discs(n: int, steps: int, size: int, draw: Stream) -> NDArray[np.uint8]:
    """(n, steps, 3, size, size): two discs with sharp edges that bounce between the walls."""
    grid = (np.arange(size) + 0.5) / size
    ground = np.stack(
        [0.3 + 0.2 * grid[None] + 0.0 * grid[:, None], 0.3 + 0.2 * grid[:, None] + 0.0 * grid[None], np.full((size, size), 0.4)]
    )
    frames = np.repeat(np.repeat(ground[None, None], n, 0), steps, 1)
    for radius, speed, colour in DISCS:
        where, angle = draw.uniform((n, 2), 0.15, 0.85), draw.uniform(n, 0.0, 2.0 * np.pi)
        path = where[:, None] + speed * np.arange(steps)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)[:, None]
        path = 0.1 + 0.8 * np.abs((((path - 0.1) / 0.8) + 1.0) % 2.0 - 1.0)
        far = np.hypot(grid - path[..., 0, None, None], grid[:, None] - path[..., 1, None, None])
        cover = np.clip((radius - far) * size + 0.5, 0.0, 1.0)[:, :, None]
        frames = frames * (1.0 - cover) + cover * np.array(colour)[:, None, None]
    return np.rint(frames * 255.0).astype(np.uint8)


def blurred(frames: Frames) -> Frames:
    """A mean over 3 x 3 neighbours, borders repeated."""
    wide = np.pad(frames, [(0, 0)] * (frames.ndim - 2) + [(1, 1), (1, 1)], mode="edge").astype(np.float64)
    height, width = frames.shape[-2:]
    return np.asarray(sum(wide[..., i : i + height, j : j + width] for i in range(3) for j in range(3)) / 9.0, np.float32)


def shifted(frames: Frames) -> Frames:
    """One pixel to the right, the border repeated."""
    return np.concatenate([frames[..., :1], frames[..., :-1]], axis=-1)


def noisy(frames: Frames, deviation: float, draw: Stream) -> Frames:
    return np.clip(frames + deviation * draw.normal(frames.shape), 0.0, 1.0).astype(np.float32)


def reference_pairs() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """(5, 3, 64, 64) twice: a scene against itself blurred, shifted, noisy, another scene, and noise against noise."""
    draw = stream(0, "features", "reference")
    scenes = discs(5, 1, 64, draw)[:, 0]
    unit = scenes.astype(np.float32) / np.float32(255.0)
    other = np.stack([blurred(unit[0]), shifted(unit[1]), noisy(unit[2], 0.05, draw), unit[4], unit[0]])
    second = np.rint(other * 255.0).astype(np.uint8)
    scenes[4], second[4] = draw.integers(256, (2, 3, 64, 64))
    return scenes, second


def reference_clips() -> NDArray[np.uint8]:
    """(2, 13, 3, 27, 48): noise, and a moving disc cut out of larger frames."""
    draw = stream(0, "features", "reference", "clips")
    moving = discs(1, 13, 48, draw)[0, :, :, 10:37]
    return np.stack([draw.integers(256, moving.shape).astype(np.uint8), moving])


class _Silent:
    """A model that is never asked: the predictions are given."""

    def __init__(self, members: int) -> None:
        self.members = members

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the model was asked for {name}")


def given(
    real: NDArray[np.uint8], context: NDArray[np.uint8], one_step: Frames | None, open_loop: Frames | None, **features: Any
) -> Evidence:
    """Evidence of B segments with the given predicted frames, (K, B, H, C, h, w) or None."""
    n, steps = real.shape[:2]
    before = context.shape[1]
    members = 1 if one_step is None else len(one_step)
    zeros = np.zeros((n, steps))
    segments = Segments(
        context_obs=context,
        context_action=np.zeros((n, before - 1, 1), np.float32),
        snapshot=np.zeros((n, 1)),
        action=np.zeros((n, steps, 1), np.float32),
        obs=real,
        reward=zeros,
        terminated=zeros.astype(np.bool_),
        episode=np.arange(n),
        step=np.zeros(n, np.int64),
    )
    empty = np.zeros((0, 1, 1), np.float32)
    probe = Counterfactual(context, segments.context_action, segments.snapshot, empty, 1, zeros, segments.episode, segments.step)
    evidence = Evidence(_Silent(members), segments, probe, Parameters(features=features))
    evidence.__dict__["rollout"] = Rollout(
        Forecast(one_step, None, None, None), Forecast(open_loop, None, None, None), members_differ=True, single_precision=True
    )
    return evidence


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Two threads on a busy machine wait for each other; the numbers are the same."""
    torch.set_num_threads(1)


@pytest.fixture
def make_discs() -> Callable[..., NDArray[np.uint8]]:
    return discs


@pytest.fixture
def damage() -> dict[str, Callable[..., Frames]]:
    return {"blur": blurred, "shift": shifted, "noise": noisy}


@pytest.fixture
def make_evidence() -> Callable[..., Evidence]:
    return given


@pytest.fixture(scope="session")
def pairs() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    return reference_pairs()


@pytest.fixture(scope="session")
def clips() -> NDArray[np.uint8]:
    return reference_clips()


@pytest.fixture(scope="session")
def installed() -> Callable[[Any], Any]:
    """`installed(stlpips_alex.load())`: the feature, or the test is skipped where its weight file is not installed."""

    def check(feature: Any) -> Any:
        if feature is None:
            pytest.skip("the weight file is not installed")
        return feature

    return check
