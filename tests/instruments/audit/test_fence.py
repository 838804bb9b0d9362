"""A model that moves or draws from what a process shares gives the same rows in any order of cells and any number of workers."""

import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from wm_audit.core import Key
from wm_audit.instruments.audit.machine import environment_of, fence
from wm_audit.instruments.audit.measure import work
from wm_audit.instruments.audit.protocol import Setting, cells
from wm_audit.instruments.audit.resolve import model_files
from wm_audit.prereg.audit_config import load_config
from wm_audit.run.cells import Cell, groups
from wm_audit.run.worker import Emit, Made

pytestmark = pytest.mark.xdist_group("own models")
Command = Callable[..., subprocess.CompletedProcess[str]]

UNRULY = """
import os
import random

import numpy as np
import torch


class Unruly:
    '''Adds unseeded noise of three kinds to whatever it does, and leaves the process otherwise than it found it.'''

    members = 3

    def __init__(self, hidden):
        self.gain = random.random() + np.random.rand() + float(torch.rand(()))
        self.hidden = hidden

    def initial(self, batch):
        return {"last": torch.zeros(3, batch, 2)}

    def observe(self, state, action, obs):
        return self.imagine(state, action)

    def imagine(self, state, action):
        noise = torch.randn(3, *action.shape) + random.random() + np.random.rand()
        return {"last": (0.9 * state["last"] + self.gain * action.to(torch.get_default_dtype()) + 0.01 * noise).to(torch.float32)}

    def reward(self, state):
        return state["last"].sum(-1) + torch.tensor(0.1).to(torch.float32)


def build(task):
    model = Unruly(task.hidden)
    if task.hidden == 8:
        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(2)
        torch.use_deterministic_algorithms(True)
        torch.manual_seed(1)
        np.seterr(all="raise")
    np.random.seed(os.getpid())
    random.seed()
    return model
"""


@pytest.fixture
def unruly(tmp_path: Path) -> str:
    (tmp_path / "unruly.py").write_text(UNRULY, encoding="utf-8")
    return f"{tmp_path / 'unruly.py'}:build"


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    fence(0, "tests")


def test_a_fence_leaves_a_fresh_process_and_named_draws() -> None:
    def draws() -> tuple[float, float, float]:
        return random.random(), float(np.random.rand()), float(torch.rand((), dtype=torch.float64))  # noqa: S311, NPY002

    fence(7, "a cell")
    first = draws()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(mode=True)
    torch.set_grad_enabled(mode=False)
    torch.set_float32_matmul_precision("medium")
    np.seterr(all="ignore")
    fence(7, "a cell")
    assert draws() == first
    assert (torch.get_default_dtype(), torch.get_num_threads()) == (torch.float32, 1)
    assert (torch.are_deterministic_algorithms_enabled(), torch.is_grad_enabled()) == (False, True)
    assert torch.get_float32_matmul_precision() == "highest"
    assert np.geterr() == {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
    fence(7, "another cell")
    assert not set(draws()) & set(first)


def test_the_order_of_groups_and_a_resume_move_no_bit(unruly: str, run_file: Path, tmp_path: Path) -> None:
    config = load_config(run_file)
    setting = Setting(config, tmp_path, unruly, model_files(unruly), environment_of(config, compiled=False)["digest"], compiled=False)
    trained = list(groups(cell for cell in cells(setting) if cell.key.arm == "trained" and cell.key.seed == 0).values())
    assert [group[0].key.hidden for group in trained] == [8, 4]

    def rows(order: list[tuple[Cell, ...]]) -> dict[Key, Any]:
        found: dict[Key, Any] = {}

        def take(message: Any) -> None:
            if isinstance(message, Made):
                found[message.row.key] = message.row.to_json()

        for group in order:
            work(setting, group, Emit(take, tuple(cell.key for cell in group)))
        return found

    there = rows(trained)
    assert rows(trained[::-1]) == there
    assert rows([group[1:] for group in trained]).items() <= there.items()
    values = {str(there[group[0].key]["outcome"]["value"]) for group in trained}
    assert len(values) == 2, "the model's noise reaches the rows"


def test_two_workers_give_the_rows_of_one(unruly: str, run: Command, run_file: Path, tmp_path: Path) -> None:
    texts = []
    for jobs in ("1", "2"):
        out = tmp_path / f"results{jobs}.json"
        asked = ("--model", unruly, "--arms", "random,trained", "--jobs", jobs, "--out", str(out))
        done = run("run_audit", "--config", str(run_file), *asked)
        assert done.returncode == 0, done.stderr
        texts.append(out.read_bytes())
    assert texts[0] == texts[1]
