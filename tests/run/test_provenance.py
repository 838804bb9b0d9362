"""Digests of sources and environments change exactly when what they speak of changes."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from wm_audit.core import AuditError
from wm_audit.run.provenance import code_digest, environment, git_state

FACTS = {"torch": "2.13.0", "capability": "AVX512", "execution": "eager", "int8_engine": "x86", "renderer": "pixel_nav/1"}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `digested` with a module, a sub-package and a data file."""
    root = tmp_path / "digested"
    (root / "inner").mkdir(parents=True)
    for name, text in {"__init__.py": "", "a.py": "x = 1\n", "inner/__init__.py": "", "inner/b.py": "y = 2\n", "notes.txt": "-"}.items():
        (root / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield root
    for name in [name for name in sys.modules if name.partition(".")[0] == "digested"]:
        del sys.modules[name]


def test_every_source_byte_and_name_counts_and_nothing_else(package: Path) -> None:
    before = code_digest(["digested"])
    (package / "notes.txt").write_text("other")
    (package / "a.pyc").write_bytes(b"cache")
    assert code_digest(["digested"]) == before
    (package / "a.py").write_text("x = 1 \n")
    changed = code_digest(["digested"])
    assert changed != before
    (package / "a.py").write_text("x = 1\n")
    assert code_digest(["digested"]) == before
    (package / "a.py").rename(package / "c.py")
    assert code_digest(["digested"]) not in (before, changed)


def test_parts_can_be_named_and_left_out(package: Path) -> None:
    inner, rest = code_digest(["digested.inner"]), code_digest(["digested"], without=["digested.inner"])
    module = code_digest(["digested.a"])
    assert len({inner, rest, module, code_digest(["digested"])}) == 4
    (package / "inner" / "b.py").write_text("y = 3\n")
    assert code_digest(["digested.inner"]) != inner
    assert code_digest(["digested"], without=["digested.inner"]) == rest
    assert code_digest(["digested.a"]) == module
    assert code_digest(["digested.a", "digested.inner"]) == code_digest(["digested.inner", "digested.a"])


def test_the_place_of_installation_does_not_count(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_digest(["digested"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    package.rename(elsewhere / "digested")
    for name in [name for name in sys.modules if name.partition(".")[0] == "digested"]:
        del sys.modules[name]
    monkeypatch.syspath_prepend(str(elsewhere))
    assert code_digest(["digested"]) == before


@pytest.mark.parametrize("name", ["no_such_package", "wm_audit.no_such_part"])
def test_a_package_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(AuditError, match=f"{name}: is not installed"):
        code_digest([name])


def test_packages_of_two_projects_are_refused(package: Path) -> None:
    assert package.is_dir()
    with pytest.raises(AuditError, match="one top-level package"):
        code_digest(["digested", "wm_audit.core"])


def test_an_environment_is_its_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = environment(FACTS)
    assert next(iter(entry)) == "digest"
    assert entry.items() >= FACTS.items()
    assert environment(dict(reversed(FACTS.items()))) == entry
    assert environment({**FACTS, "digest": "ignored"}) == entry
    for name in FACTS:
        assert environment({**FACTS, name: "other"})["digest"] != entry["digest"]
    monkeypatch.setattr(np, "__version__", "0.0")
    assert environment(FACTS)["digest"] != entry["digest"]


def test_a_missing_or_shapeless_fact_is_named() -> None:
    for name in FACTS:
        with pytest.raises(AuditError, match=f"environment.{name}: is missing"):
            environment({key: value for key, value in FACTS.items() if key != name})
    with pytest.raises(AuditError, match=r"environment\.torch: is None"):
        environment({**FACTS, "torch": None})  # type: ignore[dict-item]


def git(folder: Path, *arguments: str) -> str:
    name = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", str(folder), *name, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def test_git_state_is_that_of_the_clone_that_tracks_the_folder(tmp_path: Path) -> None:
    assert git_state(tmp_path) == {"commit": None, "dirty": None}
    git(tmp_path, "init", "-q")
    assert git_state(tmp_path) == {"commit": None, "dirty": None}
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("x = 1\n")
    git(tmp_path, "add", "code")
    git(tmp_path, "commit", "-q", "-m", "why")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert git_state(tmp_path / "code") == {"commit": commit, "dirty": False}
    (tmp_path / "untracked").mkdir()
    (tmp_path / "untracked" / "b.py").write_text("y = 1\n")
    assert git_state(tmp_path / "code") == {"commit": commit, "dirty": False}
    assert git_state(tmp_path / "untracked") == {"commit": None, "dirty": None}
    (tmp_path / "code" / "a.py").write_text("x = 2\n")
    assert git_state(tmp_path / "code") == {"commit": commit, "dirty": True}


def test_no_git_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(tmp_path) == {"commit": None, "dirty": None}
