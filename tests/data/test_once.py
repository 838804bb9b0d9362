"""Processes are real: each is a fresh interpreter."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wm_audit.core import AuditError
from wm_audit.data import Dataset, build_once
from wm_audit.data.folder import temporaries

SCRIPT = """
import os, sys, time
from pathlib import Path
import numpy as np
from wm_audit.data import Episodes, assemble, build_once
from wm_audit.envs.protocol import EnvSpec

folder, mode = Path(sys.argv[1]), sys.argv[2]

def build():
    with (folder / "built").open("a") as file:
        file.write("x")
    while mode == "hang":
        time.sleep(0.05)
    time.sleep(0.3)
    if mode == "die":
        Path.rename = lambda *_: os._exit(9)
    zeros = np.zeros
    spec = EnvSpec("blank", (3, 2, 2), (-1.0,), (1.0,), 4, 0.1, "dense", "none", "none", "r")
    episodes = Episodes(
        zeros((6, 5, 3, 2, 2), np.uint8), zeros((6, 4, 1), np.float32), zeros((6, 4)), zeros((6, 4), bool), zeros((6, 4), bool),
        np.full(6, 4), zeros((6, 5, 1)), zeros(6, np.int64), ("only",),
    )
    return assemble(episodes, spec, {"train": 0.5, "probe": 0.25, "held_out": 0.25}, 0, 0)

sys.stdout.write(build_once(folder / "data", build, verify=True).digest)
"""


def start(folder: Path, mode: str) -> subprocess.Popen[str]:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), mode], stdout=subprocess.PIPE, text=True, env=environment)


def digest_of(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    return out


def test_k34_two_processes_build_one_data_set(tmp_path: Path) -> None:
    first, second = start(tmp_path, "build"), start(tmp_path, "build")
    digests = {digest_of(first), digest_of(second)}
    assert len(digests) == 1
    assert digests.pop().startswith("sha256:")
    assert (tmp_path / "built").read_text() == "x"


def test_a_killed_builder_gives_up_its_lock(tmp_path: Path) -> None:
    hanging = start(tmp_path, "hang")
    while not (tmp_path / "built").exists():
        time.sleep(0.02)
    waiting = start(tmp_path, "build")
    time.sleep(0.3)
    hanging.kill()
    hanging.communicate(timeout=30)
    assert digest_of(waiting).startswith("sha256:")
    assert (tmp_path / "built").read_text() == "xx"


def test_what_a_writer_killed_before_the_rename_left_is_ignored_and_then_removed(tmp_path: Path) -> None:
    dying = start(tmp_path, "die")
    dying.communicate(timeout=30)
    assert dying.returncode == 9
    assert len(temporaries(tmp_path / "data")) == 1
    assert not (tmp_path / "data").exists()
    assert digest_of(start(tmp_path, "build")).startswith("sha256:")
    assert temporaries(tmp_path / "data") == []


def test_what_is_there_is_not_built_again(dataset: Dataset, tmp_path: Path) -> None:
    calls: list[int] = []

    def build() -> Dataset:
        calls.append(1)
        return dataset

    path = tmp_path / "deep" / "data"
    assert build_once(path, build).digest == build_once(path, build).digest == dataset.digest
    assert calls == [1]
    (path / "reward.npy").write_bytes(b"torn")
    with pytest.raises(AuditError, match=r"reward\.npy"):
        build_once(path, build)
    assert calls == [1]


def test_a_builder_that_fails_leaves_the_place_free(dataset: Dataset, tmp_path: Path) -> None:
    def fail() -> Dataset:
        raise AuditError("no")

    with pytest.raises(AuditError, match="no"):
        build_once(tmp_path / "data", fail)
    assert build_once(tmp_path / "data", lambda: dataset).digest == dataset.digest


def test_what_is_there_is_read_whole_and_must_be_what_is_asked_for(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "data"

    def again(seed: int) -> Dataset:
        return build_once(path, lambda: dataset, verify=True, made_for={"seed": seed})

    assert again(3).digest == again(3).digest == dataset.digest
    with pytest.raises(AuditError, match="was made for seed 3; expected seed 4"):
        again(4)
    content = bytearray((path / "obs.npy").read_bytes())
    content[-1] ^= 1
    (path / "obs.npy").write_bytes(content)
    with pytest.raises(AuditError, match=r"obs\.npy: has been changed"):
        again(3)
