"""`--model CHECKPOINT`: one model for one cell, or refused before the first."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from wm_audit.board import results
from wm_audit.core import UsageError
from wm_audit.instruments.audit.ready import check_model
from wm_audit.prereg.audit_config import AuditConfig, load_config

pytestmark = pytest.mark.xdist_group("tiny audit")
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def checkpoint(reference: Path) -> Path:
    """What the tiny run trained at (4, 4) with seed 0."""
    (found,) = (reference.with_name("results.cells") / "models").glob("pixel_nav-4x4-seed0-*")
    return found


def write(run_file: Path, folder: Path, more: str) -> Path:
    """The tiny run with further lines, beside a copy of its promise."""
    shutil.copy(run_file.with_name("preregistration.yaml"), folder / "preregistration.yaml")
    path = folder / "one.yaml"
    path.write_text(run_file.read_text(encoding="utf-8") + more, encoding="utf-8")
    return path


ONE = "capacities: [{hidden: 4, embed: 4}]\nseeds: [0]\n"


def refused(config: AuditConfig, checkpoint: Path) -> str:
    with pytest.raises(UsageError) as caught:
        check_model(config, str(checkpoint))
    line = caught.value.line()
    assert line.startswith(f"--model {checkpoint}")
    return line


@pytest.mark.parametrize(
    ("more", "found"),
    [("", "2 capacities and 2 seeds"), ("seeds: [1]\n", "2 capacities and 1 seeds"), (ONE.replace("[0]", "[0, 1]"), "1 capacities and 2")],
)
def test_one_checkpoint_is_never_counted_as_several_models(more: str, found: str, checkpoint: Path, run_file: Path, tmp_path: Path) -> None:
    line = refused(load_config(write(run_file, tmp_path, more)), checkpoint)
    assert found in line
    assert "expected one of each: a checkpoint is one model" in line
    assert "fix: give a config with one capacity and one seed, or a model file" in line


def test_a_checkpoint_of_another_capacity_picture_or_size_is_refused(checkpoint: Path, run_file: Path, tmp_path: Path) -> None:
    path = write(run_file, tmp_path, ONE.replace("hidden: 4, embed: 4", "hidden: 8, embed: 8"))
    assert "its capacity (hidden, embed) is (4, 4); expected (8, 8), as " in refused(load_config(path), checkpoint)
    promise = tmp_path / "preregistration.yaml"
    for pattern, wanted, said in (
        (r"(pixel_nav:\n    image: )16", r"\g<1>32", "its image (C, h, w) is (3, 16, 16); expected (3, 32, 32)"),
        (r"(  members: )3", r"\g<1>2", "its number of members is 3; expected 2"),
    ):
        path = write(run_file, tmp_path, ONE)
        text, count = re.subn(pattern, wanted, promise.read_text(encoding="utf-8"), count=1)
        assert count == 1, pattern
        promise.write_text(text, encoding="utf-8")
        assert said in refused(load_config(path), checkpoint)


def test_a_folder_that_is_no_checkpoint_is_wrong_usage(run_file: Path, tmp_path: Path) -> None:
    config = load_config(run_file)
    assert "model.json" in refused(config, tmp_path)


def test_a_checkpoint_of_the_one_cell_is_measured(run: Command, checkpoint: Path, run_file: Path, reference: Path, tmp_path: Path) -> None:
    """It gives the numbers of the run that trained it."""
    out = tmp_path / "results.json"
    path = write(run_file, tmp_path, ONE)
    done = run("run_audit", "--config", str(path), "--model", str(checkpoint), "--arms", "random,trained", "--out", str(out))
    assert done.returncode == 0, done.stderr
    rows, before = ({row.key: row for row in results.rows_of(results.read(place))} for place in (out, reference))
    assert len(rows) > 2
    for key, row in rows.items():
        assert row.outcome == before[key].outcome
        assert row.diagnostics == before[key].diagnostics
