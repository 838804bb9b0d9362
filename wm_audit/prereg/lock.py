"""The lock: a small file beside a promise that says which meaning was fixed, when, and what speaks for that time.

    preregistration.yaml  ->  preregistration.lock.json
    {"schema", "version", "digest", "locked_on", "code_version", "time_evidence"}

The promise itself stays untouched: the lock never lies inside what it locks.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from wm_audit.core import AuditError, strict_json
from wm_audit.core.files import write_atomic
from wm_audit.prereg.promise import Promise

SCHEMA = "wm_audit/lock/1"
_MEMBERS = ("schema", "version", "digest", "locked_on", "code_version", "time_evidence")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_EVIDENCE = {"self": ("kind",), "rfc3161": ("kind", "token", "certificate")}


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file's content.

    Attributes:
        version, digest: of the promise.
        locked_on: the day on which its author says it was locked, YYYY-MM-DD.
        code_version: digest of the sources that can move a number, when it was locked.
        time_evidence: what was attached; a commit or a signature is found in git and need not be.
    """

    version: int
    digest: str
    locked_on: str
    code_version: str
    time_evidence: tuple[Mapping[str, Any], ...]

    def text(self) -> str:
        """The file's text."""
        members = (SCHEMA, self.version, self.digest, self.locked_on, self.code_version, [dict(item) for item in self.time_evidence])
        return strict_json.dumps(dict(zip(_MEMBERS, members, strict=True)))


def lock_path(promise: Path) -> Path:
    """Where the lock of a promise lies."""
    return promise.with_name(promise.name.removesuffix(".yaml") + ".lock.json")


def read_lock(path: Path) -> Lock:
    """Reads a lock file.

    Raises:
        AuditError: unreadable, of another schema, or a member that is not what it should be.
    """
    entry = strict_json.load(path)
    if not isinstance(entry, dict) or entry.get("schema") != SCHEMA or tuple(entry) != _MEMBERS:
        raise AuditError(
            "is no lock", where=str(path), expected=f"{SCHEMA} with {', '.join(_MEMBERS)}", fix="restore the file that was locked"
        )
    for name, good, expected in (
        ("version", type(entry["version"]) is int and entry["version"] >= 0, "a version number"),
        ("digest", _is_digest(entry["digest"]), "sha256: and 64 digits"),
        ("locked_on", _is_day(entry["locked_on"]), "a date, YYYY-MM-DD"),
        ("code_version", _is_digest(entry["code_version"]), "sha256: and 64 digits"),
        ("time_evidence", _is_evidence(entry["time_evidence"]), f"a list of {', '.join(_EVIDENCE)}"),
    ):
        if not good:
            raise AuditError(f"{name} is {entry[name]!r:.60}", where=str(path), expected=expected, fix="restore the file that was locked")
    return Lock(entry["version"], entry["digest"], entry["locked_on"], entry["code_version"], tuple(entry["time_evidence"]))


def lock_of(promise: Promise) -> Lock | None:
    """The lock beside a promise, or None where there is none.

    Raises:
        AuditError: the lock names another digest or version: the promise was changed after it was locked.
    """
    path = lock_path(Path(promise.where))
    if not path.exists():
        return None
    lock = read_lock(path)
    problem = mismatch(lock, promise)
    if problem:
        raise AuditError(
            problem,
            where=promise.where,
            expected="the promise that was locked",
            fix="restore it; a new version is a new file that names this one under supersedes",
        )
    return lock


def mismatch(lock: Lock, promise: Promise) -> str:
    """How a promise is not the one that a lock names; empty where it is."""
    if (lock.version, lock.digest) == (promise.version, promise.digest):
        return ""
    return f"means {promise.digest} as version {promise.version}, its lock names {lock.digest} as version {lock.version}"


def create(
    promise: Promise,
    *,
    locked_on: date,
    code_version: str,
    ran: Iterable[tuple[str, str]],
    superseded: Collection[str] = (),
    token: Mapping[str, Any] | None = None,
) -> Path:
    """Locks a promise.

    Args:
        promise: its status is `locked` and its power table is there.
        locked_on: today.
        code_version: digest of this project's sources.
        ran: name and promise digest of every main result that exists.
        superseded: digests of the promises that this one supersedes.
        token: RFC 3161 evidence made elsewhere, if any.

    Returns:
        The lock file.

    Raises:
        AuditError: a draft, no power table, a lock that is there already, or main results under a promise that this one neither is
            nor supersedes.
    """
    path = lock_path(Path(promise.where))
    if promise.status != "locked":
        raise AuditError("is a draft", where=promise.where, expected="status: locked", fix="write it when every other field is final")
    if promise.data["power"] is None:
        fix = "fill it from python -m experiments.power --yaml"
        raise AuditError("has no power table", where=f"{promise.where}, field power", expected="what this design can decide", fix=fix)
    if path.exists():
        raise AuditError(
            "is there already", where=str(path), expected="no lock", fix="a new version is a new file that supersedes this one"
        )
    for name, digest in ran:
        if digest != promise.digest and digest not in superseded:
            fix = "name it under supersedes; to change a promise after its main run, log a deviation instead"
            raise AuditError(f"is a main result under {digest}", where=name, expected=f"none but under {promise.digest}", fix=fix)
    evidence: tuple[Mapping[str, Any], ...] = ({"kind": "self"}, *([token] if token else []))
    write_atomic(path, Lock(promise.version, promise.digest, locked_on.isoformat(), code_version, evidence).text())
    return path


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and bool(_DIGEST.fullmatch(value))


def _is_day(value: Any) -> bool:
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _is_evidence(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    return all(
        isinstance(item, dict)
        and tuple(item) == _EVIDENCE.get(str(item.get("kind")))
        and all(isinstance(text, str) for text in item.values())
        for item in value
    )
