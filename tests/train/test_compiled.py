"""Compiling changes speed and rounding, nothing else; a machine that cannot compile says so in one line and trains."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from wm_audit.core import stream
from wm_audit.models.dreamer_lite import Config, Trainable
from wm_audit.models.dreamer_lite.gradient import gradient
from wm_audit.models.dreamer_lite.image_loss import negative_log_likelihood
from wm_audit.train import Settings, compiled, fit, is_compiled, missing
from wm_audit.train.compiled import compiler

Make = Callable[..., Any]
CAN = pytest.mark.skipif(not is_compiled(wanted=True), reason="this machine has no C++ compiler or no Python headers")


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)


@CAN
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, while it compiles
def test_a_compiled_part_of_the_loss_is_the_eager_one() -> None:
    """The image likelihood, its value and its gradient: few enough kernels to compile wherever tests run."""
    args = torch.from_numpy(stream(5, 0).uniform((2, 4, 12))).float(), torch.from_numpy(stream(5, 1).normal((2, 4, 12))).float()
    fast = compiled(negative_log_likelihood)
    assert fast is not negative_log_likelihood
    found = []
    with torch._inductor.config.patch(compile_threads=1):  # no pool of compilers for a few kernels
        for function in (negative_log_likelihood, fast):
            leaves = [item.clone().requires_grad_() for item in args]
            value = function(leaves[0], leaves[1], 6)
            found.append([value.detach(), *torch.autograd.grad(value.sum(), leaves)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-4, atol=1e-4)


@CAN
@pytest.mark.skipif("WM_AUDIT_SLOW" not in os.environ, reason="compiles for a minute or more: set WM_AUDIT_SLOW=1")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, while it compiles
def test_compiled_losses_and_gradients_are_the_eager_ones(config: Config, learner: Make, replay: Make) -> None:
    batch = replay(2, 2).sample(stream(4), 3)
    found = []
    for step in (gradient, compiled(gradient)):
        pupil: Trainable = learner(step=step)
        found.append(pupil.gradient(batch, torch.Generator().manual_seed(1)))
    (eager, pull), (fast, push) = found
    for one, other in zip(eager, fast, strict=True):
        torch.testing.assert_close(other.detach(), one.detach(), rtol=1e-4, atol=1e-4)
    assert float((push - pull).norm() / pull.norm()) < 1e-4


def test_unwanted_is_untouched() -> None:
    assert compiled(gradient, wanted=False) is gradient
    assert not is_compiled(wanted=False)


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_training_runs_as_it_is(learner: Make, replay: Make) -> None:
    assert compiler() is None
    assert not is_compiled(wanted=True)
    assert compiled(gradient) is gradient
    fit(learner(step=compiled(gradient)), replay(1, 1), Settings(steps=1), stream(3))
    line = missing()
    assert "no C++ compiler was found" in line
    assert "apt-get install g++" in line
    assert "\n" not in line


def test_without_headers_the_line_names_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool(tmp_path, "g++")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": str(tmp_path)})
    assert not is_compiled(wanted=True)
    assert compiled(gradient) is gradient
    assert "the Python headers are missing" in missing()
    (tmp_path / "Python.h").touch()
    assert is_compiled(wanted=True)


@pytest.mark.parametrize(
    ("tools", "named", "expected"),
    [
        (("g++", "clang++"), None, "g++"),
        (("clang++",), None, "clang++"),
        (("g++", "clang++"), "clang++", "clang++"),
        (("g++", "mine"), "mine", "mine"),
        (("g++",), "gone", "g++"),
        ((), "gone", None),
    ],
)
def test_torch_is_told_which_compiler_was_found(
    tools: tuple[str, ...], named: str | None, expected: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Left alone it asks for CXX or g++ only, and fails where neither is there."""
    for name in tools:
        tool(tmp_path, name)
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": str(tmp_path)})
    monkeypatch.setenv("PATH", str(tmp_path))
    if named is None:
        monkeypatch.delenv("CXX", raising=False)
    else:
        monkeypatch.setenv("CXX", named)
    path = None if expected is None else str(tmp_path / expected)
    assert compiler() == path
    monkeypatch.setattr("torch.compile", lambda function, **rest: ("compiled", function, rest["fullgraph"]))
    with torch._inductor.config.patch({"cpp.cxx": (None, "untold")}):
        made: Any = compiled(gradient)
        told = torch._inductor.config.cpp.cxx
    assert made == (gradient if path is None else ("compiled", gradient, True))
    assert told == (None, path or "untold")


def tool(folder: Path, name: str) -> None:
    path = folder / name
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
