"""The same cells give the same bytes: with any number of workers, in shards, in any order, and after a kill -9."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
Command = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.xdist_group("tiny audit")  # one reference run for all of them


def records(folder: Path) -> list[str]:
    """Names of the finished cells."""
    return sorted(path.name for path in folder.glob("*.json") if not path.name.startswith("."))


def test_two_workers_give_the_bytes_of_one(run: Command, run_file: Path, reference: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    done = run("run_audit", "--config", str(run_file), "--jobs", "2", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == reference.read_bytes()


def test_shards_merged_in_either_order_give_the_bytes_of_one(run: Command, run_file: Path, reference: Path, tmp_path: Path) -> None:
    folders = []
    for index in range(2):
        out = tmp_path / f"shard{index}.json"
        done = run("run_audit", "--config", str(run_file), "--jobs", "2", "--shard", f"{index}/2", "--out", str(out))
        assert done.returncode == 0, done.stderr
        assert not out.exists(), "a shard alone is no result"
        folders.append(str(tmp_path / f"shard{index}.cells"))
    for order in (folders, folders[::-1]):
        merged = tmp_path / "merged.json"
        assert run("merge", *order, "--out", str(merged)).returncode == 0
        assert merged.read_bytes() == reference.read_bytes()
    alone = run("merge", folders[0], "--out", str(tmp_path / "partial.json"))
    assert alone.returncode == 2
    assert '"status": "partial"' in (tmp_path / "partial.json").read_text(encoding="utf-8")


def test_a_run_killed_in_the_middle_is_resumed_to_the_same_bytes(run: Command, run_file: Path, reference: Path, tmp_path: Path) -> None:
    out, cells = tmp_path / "results.json", tmp_path / "results.cells"
    line = [sys.executable, "-m", "experiments.run_audit", "--config", str(run_file), "--jobs", "2", "--out", str(out)]
    started = subprocess.Popen(
        line, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 240
    while len(records(cells)) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    started.send_signal(signal.SIGKILL)
    started.wait()
    before = records(cells)
    assert 3 <= len(before) < len(records(reference.with_name("results.cells")))
    assert not out.exists()
    again = run("run_audit", "--config", str(run_file), "--jobs", "2", "--out", str(out))
    assert again.returncode == 2
    assert "--resume" in again.stderr
    assert len(again.stderr.strip().splitlines()) == 1
    assert records(cells) == before
    done = run("run_audit", "--config", str(run_file), "--jobs", "2", "--resume", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == reference.read_bytes()
