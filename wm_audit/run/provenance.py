"""Where numbers come from: digests of sources and environment, and the commit beside them."""

import hashlib
import importlib.util
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wm_audit.core import AuditError, strict_json

FACTS = ("torch", "capability", "execution", "int8_engine", "renderer")
"""What the caller must say of its environment: torch version, processor capability, compiled or eager, INT8 engine, renderer."""


def code_digest(packages: Sequence[str], *, without: Sequence[str] = ()) -> str:
    """`sha256:` over the names and bytes of all Python sources of packages or modules, in the order of their names.

    Args:
        packages: dotted names, e.g. "wm_audit.core".
        without: dotted names inside them that are left out, e.g. "wm_audit.cli".

    Raises:
        AuditError: a package that is not installed, or has no sources.
    """
    left_out = {path for name in without for path in _sources(name)}
    paths = sorted({path for name in packages for path in _sources(name)} - left_out)
    root = _root(packages)
    return strict_json.digest({path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths})


def git_state(folder: Path) -> dict[str, Any]:
    """{"commit", "dirty"} of the clone that tracks this folder's files; both None where there is no such clone or no git."""
    tracked = _git(folder, "ls-files")
    commit = _git(folder, "rev-parse", "HEAD") if tracked else None
    if not commit:
        return {"commit": None, "dirty": None}
    return {"commit": commit, "dirty": bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))}


def environment(facts: Mapping[str, str]) -> dict[str, Any]:
    """What the last bits of the numbers depend on, with its `digest`; resume and merge refuse a mix.

    Args:
        facts: the members of `FACTS`, and whatever else the caller's numbers depend on.

    Raises:
        AuditError: one of `FACTS` is missing, or a fact is not a text.
    """
    for name in FACTS:
        if name not in facts:
            raise AuditError("is missing", where=f"environment.{name}", expected=f"all of {', '.join(FACTS)}")
    for name, value in facts.items():
        if not isinstance(value, str):
            raise AuditError(f"is {value!r}", where=f"environment.{name}", expected="a text")
    own = {"numpy": np.__version__, "system": platform.system(), "machine": platform.machine()}
    entry = {name: value for name, value in sorted({**own, **facts}.items()) if name != "digest"}
    return {"digest": strict_json.digest(entry), **entry}


def _sources(name: str) -> Iterable[Path]:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        raise AuditError("is not installed", where=name, expected="a package with sources", fix="install the whole project")
    if spec.submodule_search_locations is None:
        return [Path(str(spec.origin)).resolve()]
    return [path.resolve() for place in spec.submodule_search_locations for path in Path(place).rglob("*.py")]


def _root(packages: Sequence[str]) -> Path:
    """The folder that holds the top-level package, so that digests do not depend on where it is installed."""
    tops = {name.partition(".")[0] for name in packages}
    if len(tops) != 1:
        raise AuditError(f"are of {sorted(tops)}", where="packages", expected="parts of one top-level package")
    spec = importlib.util.find_spec(tops.pop())
    places = [] if spec is None or spec.submodule_search_locations is None else list(spec.submodule_search_locations)
    if not places:
        raise AuditError("is not a package", where=", ".join(packages), expected="a package with sources")
    return Path(places[0]).resolve().parent


def _git(folder: Path, *arguments: str) -> str | None:
    """The command's output, or None where it cannot be run or fails."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
