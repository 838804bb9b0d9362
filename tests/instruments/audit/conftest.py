"""A whole audit that takes seconds: the project's own promise with tiny sizes, written to a folder of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
Command = Callable[..., subprocess.CompletedProcess[str]]

_PROMISE = (
    (r"(pixel_nav:\n    image: )32", r"\g<1>16"),
    (r"(pixel_nav:\n    image: 16[^\n]*\n    limit: )50", r"\g<1>20"),
    (
        r"  - \{hidden: 16, embed: 16\}\n  - \{hidden: 32, embed: 32\}\n  - \{hidden: 64, embed: 64\}",
        "  - {hidden: 4, embed: 4}\n  - {hidden: 8, embed: 8}",
    ),
    (r"seeds: \[[^\]]*\]", "seeds: [0, 1]"),
    (r"(planning:\n  horizon: )\d+", r"\g<1>3"),
    (r"  context: \d+", "  context: 2"),
    (r"(  context: 2[^\n]*\n  horizon: )\d+", r"\g<1>3"),
    (r"  probe_hold: \d+", "  probe_hold: 2"),
    (r"  bins: \d+", "  bins: 4"),
)

_RUN = """name: tiny
mode: smoke
environments: [pixel_nav]
collection: {steps: 1200}
training: {steps: 6, warmup: 2, compiled: false}
planning: {candidates: 6, elites: 2, iterations: 1}
evaluation:
  {starts: 20, segments: 12, probe_states: 6, probe_actions: 4, frames: 4, clips: 4, clip_components: 2, filter_banks: 1}
statistics: {resamples: 50}
"""


def write_run(folder: Path, run: str = _RUN) -> Path:
    """Writes promise and run; returns the run's path."""
    text = (ROOT / "configs" / "preregistration.yaml").read_text(encoding="utf-8")
    for pattern, wanted in _PROMISE:
        text, count = re.subn(pattern, wanted, text, count=1)
        assert count == 1, pattern
    (folder / "preregistration.yaml").write_text(text, encoding="utf-8")
    path = folder / "tiny.yaml"
    path.write_text(run, encoding="utf-8")
    return path


def command(*arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Runs `python -m experiments.NAME ...` as a person would."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    line = [sys.executable, "-m", f"experiments.{arguments[0]}", *arguments[1:]]
    return subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=timeout)


@pytest.fixture(scope="session")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny run."""
    return write_run(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def reference(run_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results file of the tiny run, made by one worker."""
    out = tmp_path_factory.mktemp("reference") / "results.json"
    done = command("run_audit", "--config", str(run_file), "--jobs", "1", "--out", str(out))
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def run() -> Command:
    """How tests call a command."""
    return command
