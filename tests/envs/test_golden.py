"""Stored traces of both worlds: a change of dynamics, draws, rewards or pixels cannot pass unnoticed.

`python tests/envs/test_golden.py` writes them again, which is right only together with a new renderer version or a
stated change of the dynamics.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from wm_audit.core import stream
from wm_audit.core.strict_json import dumps, load
from wm_audit.envs import make

FOLDER = Path(__file__).parent / "golden"
NOTE = (
    "Written by tests/envs/test_golden.py from the code of renderer pixel_nav/1. Three copies, reset from "
    "stream(2024, 'golden', id), actions stream(2024, 'golden', id, 'actions').uniform((steps, 3, 2), -1.25, 1.25), clipped by the world. "
    "state: sha256 of the final snapshot, float64 little-endian, row by row; reward: float.hex per step and copy; "
    "pictures: sha256 over first and all later observations, uint8 in C order."
)
CHOICES: tuple[dict[str, Any], ...] = (
    {},
    {"image": 16, "reward": "sparse", "distractor": "none", "cue": "none"},
    {"image": 64, "terminal": "goal", "wind": 0.01},
)


def trace(name: str, choice: dict[str, Any], steps: int = 30) -> dict[str, Any]:
    """One run as text."""
    env = make(name, choice)
    pictures = hashlib.sha256(env.reset(stream(2024, "golden", name), 3).tobytes())
    rewards = []
    for action in stream(2024, "golden", name, "actions").uniform((steps, 3, 2), -1.25, 1.25):
        step = env.step(action)
        pictures.update(step.obs.tobytes())
        rewards.append([float(value).hex() for value in step.reward])
    state = hashlib.sha256(env.snapshot().astype("<f8").tobytes())
    return {"settings": choice, "steps": steps, "state": state.hexdigest(), "pictures": pictures.hexdigest(), "reward": rewards}


@pytest.mark.parametrize("name", ["pixel_nav", "two_room"])
@pytest.mark.parametrize("index", range(len(CHOICES)))
def test_the_trace_is_the_stored_one(name: str, index: int) -> None:
    stored = load(FOLDER / f"{name}.json")
    assert stored["renderer"] == make(name, {}).spec.renderer
    assert trace(name, CHOICES[index]) == stored["traces"][index]


def write() -> None:
    """Writes every trace anew."""
    FOLDER.mkdir(exist_ok=True)
    for name in ("pixel_nav", "two_room"):
        entry = {"note": NOTE, "renderer": make(name, {}).spec.renderer, "traces": [trace(name, choice) for choice in CHOICES]}
        (FOLDER / f"{name}.json").write_text(dumps(json.loads(json.dumps(entry))), encoding="utf-8")


if __name__ == "__main__":
    write()
