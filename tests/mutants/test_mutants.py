"""Mistakes that published tools have made, written into a copy of the sources: each must turn the named test red.

A test that stays green under its mutant claims nothing. The unchanged copy must pass all of them.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """One mistake: the file, the right text, the wrong text, and the test that must notice."""

    name: str
    path: str
    right: str
    wrong: str
    test: str


MUTANTS = (
    Mutant(
        "nan_ranked_last",
        "wm_audit/stats/ranks.py",
        "    finite = np.isfinite(values)\n",
        "    values = np.where(np.isnan(values), 1e300, values)\n    finite = np.isfinite(values)\n",
        "tests/stats/test_ranks.py::test_nan_is_never_ranked_last",
    ),
    Mutant(
        "lead_member_only",
        "wm_audit/models/members.py",
        "values[0] + (values - values[0]).mean(axis=0)",
        "values[0]",
        "tests/policy/test_score.py::test_planning_uses_every_member",
    ),
    Mutant(
        "lead_member_only_in_calibration",
        "wm_audit/models/members.py",
        "values[0] + (values - values[0]).mean(axis=0)",
        "values[0]",
        "tests/diagnostics/test_return_ece.py::test_lead_member_only_is_caught",
    ),
    Mutant(
        "reward_shifted_by_one_step",
        "wm_audit/policy/score.py",
        "        state = model.imagine(state, actions[:, t])\n        reward = head.reward(state).double().numpy()\n",
        "        reward = head.reward(state).double().numpy()\n        state = model.imagine(state, actions[:, t])\n",
        "tests/policy/test_score.py::test_oracle_return_matches_environment",
    ),
    Mutant(
        "nan_elites_first",
        "wm_audit/policy/cem.py",
        "    return np.where(np.take_along_axis(finite, order, axis=1), order, -1).astype(np.int64)\n",
        "    return np.argsort(np.where(finite, -returns, -np.inf), axis=1, kind='stable')[:, :count].astype(np.int64)\n",
        "tests/policy/test_cem.py::test_nonfinite_returns_are_never_elite",
    ),
    Mutant(
        "holm_without_running_maximum",
        "wm_audit/stats/holm.py",
        "running = max(running, min(1.0, (planned - step) * value))",
        "running = min(1.0, (planned - step) * value)",
        "tests/stats/test_families_and_labels.py::test_holm_keeps_a_running_maximum",
    ),
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of sources and tests that may be broken."""
    folder = tmp_path_factory.mktemp("mutants")
    for name in ("wm_audit", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder / "pyproject.toml")
    return folder


def outcome(folder: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """Runs tests of the copy against the copy's own sources."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)


def test_the_unchanged_copy_is_green(copy: Path) -> None:
    done = outcome(copy, *dict.fromkeys(mutant.test for mutant in MUTANTS))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_turns_its_test_red(copy: Path, mutant: Mutant) -> None:
    path = copy / mutant.path
    text = path.read_text(encoding="utf-8")
    assert text.count(mutant.right) == 1, f"{mutant.path} no longer holds the text that {mutant.name} replaces"
    path.write_text(text.replace(mutant.right, mutant.wrong), encoding="utf-8")
    try:
        done = outcome(copy, mutant.test)
    finally:
        path.write_text(text, encoding="utf-8")
    assert done.returncode == 1, done.stdout
    assert "1 failed" in done.stdout
