"""Files appear whole or not at all; errors are one line with an exit code."""

import hashlib
import os
import pickle
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wm_audit.core import AuditError, TrainingError, UsageError
from wm_audit.core.files import sha256_file, write_atomic


def test_a_file_is_written_whole_in_folders_that_did_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file.json"
    write_atomic(path, "ü\n")
    assert path.read_bytes() == "ü\n".encode()
    write_atomic(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert [item.name for item in path.parent.iterdir()] == ["file.json"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("broken", ["fsync", "replace", "write"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    path = tmp_path / "file.json"
    write_atomic(path, "old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    if broken == "replace":
        monkeypatch.setattr(Path, "replace", fail)
    else:
        monkeypatch.setattr(os, "fsync" if broken == "fsync" else "fdopen", fail)
    with pytest.raises(AuditError, match=r"file\.json: cannot be written \(No space left on device\)") as caught:
        write_atomic(path, "new")
    assert caught.value.exit_code == 2
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["file.json"]


def test_data_reach_the_disk_before_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flush and sync, then rename, then sync the folder: a crash shows the old file or the new one."""
    steps: list[str] = []
    real_fsync, real_replace = os.fsync, Path.replace

    def fsync(handle: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else f"file of {os.fstat(handle).st_size}")
        real_fsync(handle)

    def replace(self: Path, target: Path) -> Path:
        steps.append("rename")
        return real_replace(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    write_atomic(tmp_path / "file", "12345")
    assert steps == ["file of 5", "rename", "folder"]


def test_a_place_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AuditError, match="cannot be written"):
        write_atomic(tmp_path / "file" / "inner.json", "x")


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_digests_of_files(tmp_path: Path, size: int) -> None:
    data = b"a" * size
    (tmp_path / "f").write_bytes(data)
    assert sha256_file(tmp_path / "f") == "sha256:" + hashlib.sha256(data).hexdigest()


def test_a_line_says_what_where_expected_and_fix() -> None:
    error = AuditError("is 3", where="file.yaml, line 2", expected="a text", fix="write a text")
    assert str(error) == error.line() == "file.yaml, line 2: is 3; expected a text; fix: write a text"
    assert str(AuditError("broke")) == "broke"


@given(st.text(), st.text(), st.text(), st.text())
def test_a_line_is_one_line(what: str, where: str, expected: str, fix: str) -> None:
    assert len(AuditError(what, where=where, expected=expected, fix=fix).line().splitlines()) <= 1


@pytest.mark.parametrize(("kind", "code"), [(AuditError, 2), (UsageError, 3), (TrainingError, 2)])
def test_errors_cross_processes_whole(kind: type[AuditError], code: int) -> None:
    error = kind("is 3", where="here", expected="4", fix="add 1")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(again) is kind
    assert (again.line(), again.where, again.fix, again.exit_code) == (error.line(), "here", "add 1", code)
