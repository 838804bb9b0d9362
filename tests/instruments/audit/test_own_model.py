"""`--model FILE.py:NAME`: a stranger's model is audited, fails alone, or is refused in one line."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from wm_audit.board import results
from wm_audit.core import Reason

pytestmark = pytest.mark.xdist_group("own models")
Command = Callable[..., subprocess.CompletedProcess[str]]

MUTE = """
import torch


class Mute:
    '''Three members that remember the last action, and can neither decode nor predict rewards.'''

    members = 3

    def initial(self, batch):
        return {"last": torch.zeros(3, batch, 2)}

    def observe(self, state, action, obs):
        return self.imagine(state, action)

    def imagine(self, state, action):
        return {"last": action.to(torch.float32).unsqueeze(0).expand(3, -1, -1).contiguous()}


def build(task):
    return Mute()


def nothing(task):
    return 7


def broken(task):
    raise ValueError("two lines\\nof trouble")


def leaves(task):
    raise SystemExit(0)
"""

UNSTABLE = """
import torch

from wm_audit.models.dreamer_lite.build import build as built


def build(task):
    learner = built(task)
    if task.hidden == 4:
        inner = learner.step

        def spoilt(*given):
            losses, gradient = inner(*given)
            return losses._replace(reward=losses.reward * float("nan")), gradient * float("nan")

        learner.step = spoilt
    return learner
"""


@pytest.fixture
def audit(run: Command, run_file: Path, tmp_path: Path) -> Command:
    def call(text: str, name: str, *more: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "mine.py").write_text(text, encoding="utf-8")
        asked = ("--model", f"{tmp_path / 'mine.py'}:{name}", "--out", str(tmp_path / "results.json"), "--arms", "random,trained")
        return run("run_audit", "--config", str(run_file), *asked, *more)

    return call


def test_what_a_model_cannot_do_is_a_reason_and_not_a_zero(audit: Command, tmp_path: Path) -> None:
    done = audit(MUTE, "build")
    assert done.returncode == 0, done.stderr
    rows = [row for row in results.rows_of(results.read(tmp_path / "results.json")) if row.key.arm == "trained"]
    assert rows
    for row in rows:
        for name in ("pixel_mse", "pixel_lpips", "rollout_fvd", "return_ece", "counterfactual_tau"):
            assert row.diagnostics[name].value is None
            assert isinstance(row.diagnostics[name].reason, Reason)


def test_a_model_that_diverges_fails_alone_and_the_rest_is_saved(audit: Command, tmp_path: Path) -> None:
    """Capacity (4, 4) is not finite: its cells fail by name, the others stand, the code is 2, and a resumed run tries again."""
    done = audit(UNSTABLE, "build", "--jobs", "1")
    assert done.returncode == 2
    assert "training step 1: the reward of member 0 is not finite" in done.stderr
    assert "Traceback" not in done.stderr
    saved = {path.name for path in (tmp_path / "results.cells").rglob("*8x8*") if path.is_file()}
    assert saved
    again = audit(UNSTABLE, "build", "--jobs", "1", "--resume")
    assert again.returncode == 2
    assert {path.name for path in (tmp_path / "results.cells").rglob("*8x8*") if path.is_file()} == saved


@pytest.mark.parametrize(
    ("name", "said"),
    [("nothing", "gives a int without 'members'"), ("broken", "ValueError: two lines of trouble"), ("leaves", "SystemExit: 0")],
)
def test_a_function_that_gives_no_model_is_refused_once_and_before_the_first_cell(
    name: str, said: str, audit: Command, tmp_path: Path
) -> None:
    done = audit(MUTE, name, "--jobs", "1")
    assert done.returncode == 3
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"mine.py:{name}: cannot be built at 4x4 for pixel_nav: " in done.stderr
    assert said in done.stderr
    assert "fix: " in done.stderr
    assert not (tmp_path / "results.cells").exists()


@pytest.mark.parametrize(
    ("text", "said"), [("import nowhere_at_all\n", "ModuleNotFoundError"), ("def build(:\n", "SyntaxError"), ("x = 1\n", "'build'")]
)
def test_a_file_that_is_no_module_is_refused_before_anything_is_made(text: str, said: str, audit: Command, tmp_path: Path) -> None:
    done = audit(text, "build")
    assert done.returncode == 3
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "results.cells").exists()


HELPED = """
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import helper_of_mine
""" + MUTE.replace('return {"last": action', 'return {"last": helper_of_mine.GAIN * action')


def test_a_changed_helper_makes_the_cells_again(audit: Command, tmp_path: Path) -> None:
    """The model's file is the same; what it imports from its folder is not."""
    helper = tmp_path / "helper_of_mine.py"
    for gain, kept in (("1.0", None), ("1.0", "0 cells made, 13 kept"), ("2.0", "12 cells made, 1 kept")):
        helper.write_text(f"GAIN = {gain}\n", encoding="utf-8")
        done = audit(HELPED, "build", *([] if kept is None else ["--resume"]))
        assert done.returncode == 0, done.stderr
        assert kept is None or kept in done.stdout
