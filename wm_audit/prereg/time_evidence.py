"""What speaks for the time of a lock: each kind, what it proves, and whether it holds here and now."""

import base64
import binascii
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from wm_audit.core import AuditError, strict_json
from wm_audit.prereg.forms import exact
from wm_audit.prereg.lock import Lock, lock_path
from wm_audit.prereg.promise import Promise

_STAMP = re.compile(r"Time stamp: (.+)")


State = Literal["holds", "fails", "unknown"]


class Finding(NamedTuple):
    """One kind of evidence: whether it holds, fails or cannot be checked here, and what that proves."""

    kind: str
    state: State
    sentence: str


def findings(promise: Promise, lock: Lock) -> list[Finding]:
    """Every kind of evidence for this lock, weakest first; never an error, for what cannot be checked is an answer."""
    own = Finding("self", "holds", f"self-attested: its author says {lock.locked_on}, which proves nothing about time")
    tokens = [item for item in lock.time_evidence if item["kind"] == "rfc3161"]
    return [own, *_commit(lock_path(Path(promise.where))), *(_token(canonical(promise), item) for item in tokens)]


def canonical(promise: Promise) -> bytes:
    """The bytes that an authority stamps: the promise's meaning in its canonical form, whose sha256 is the digest."""
    return strict_json.canonical(exact(promise.data)).encode("utf-8")


def lock_commit(lock: Path) -> str | None:
    """The first commit that held this lock file as it is now, under whatever name: superseding a promise moves its lock.

    None outside a clone, before the commit, or without git: an older commit of another lock says nothing about this one.
    """
    folder = str(lock.resolve().parent)
    code, blob = _run(["git", "-C", folder, "hash-object", lock.name])
    if code != 0:
        return None
    code, said = _run(["git", "-C", folder, "log", "--topo-order", f"--find-object={blob.strip()}", "--format=%H"])
    return said.split()[-1] if code == 0 and said.split() else None


def token(path: Path, certificate: Path, promise: Promise) -> dict[str, Any]:
    """A time-stamp reply (RFC 3161) made elsewhere, with the certificate that it is checked against, as a lock holds them.

    Raises:
        AuditError: a file cannot be read, or the token does not hold for this promise.
    """
    try:
        entry = {
            "kind": "rfc3161",
            "token": base64.b64encode(path.read_bytes()).decode("ascii"),
            "certificate": certificate.read_bytes().decode("ascii"),
        }
    except (OSError, UnicodeDecodeError) as error:
        where = f"{path}, {certificate}"
        raise AuditError(
            f"cannot be read ({error})", where=where, expected="a token and a PEM certificate", fix="check the paths"
        ) from error
    found = _token(canonical(promise), entry)
    if found.state != "holds":
        fix = "stamp what python -m experiments.lock show --canonical prints"
        raise AuditError(found.sentence, where=str(path), expected="a token over this promise", fix=fix)
    return entry


def _commit(lock: Path) -> list[Finding]:
    commit = lock_commit(lock)
    if commit is None:
        return [Finding("commit", "unknown", "no git commit here holds the lock as it is, so nothing says that it came before the results")]
    folder = str(lock.resolve().parent)
    _, day = _run(["git", "-C", folder, "show", "-s", "--format=%cI", commit])
    proof = f"commit {commit[:12]} of {day.strip()} holds the lock; results that descend from it came later, by its author's clock"
    return [Finding("commit", "holds", proof), *_signature(folder, commit)]


_SIGNED: dict[str, tuple[State, str]] = {
    "G": ("holds", "the lock's commit is signed; the key's owner vouches for it"),
    "U": ("unknown", "the lock's commit is signed, but nobody here vouches for the key"),
    "X": ("unknown", "the lock's commit is signed, but the signature has expired"),
    "Y": ("unknown", "the lock's commit is signed, but the key has expired"),
    "E": ("unknown", "the lock's commit is signed, but there is no key here to verify it with"),
    "R": ("fails", "the lock's commit is signed with a key that was revoked"),
    "B": ("fails", "the lock's commit was changed after it was signed"),
}
"""What git's `%G?` says of a signature."""


def _signature(folder: str, commit: str) -> list[Finding]:
    """Nothing where the commit is not signed: nobody said that it was."""
    code, said = _run(["git", "-C", folder, "show", "-s", "--format=%G?", commit])
    letter, why = said[:1], " ".join(said[1:].split())[:120]
    if code == 0 and letter in _SIGNED:
        return [Finding("signature", *_SIGNED[letter])]
    return [Finding("signature", "unknown", f"the signature of the lock's commit cannot be verified here ({why})")] if why else []


def _token(data: bytes, entry: Any) -> Finding:
    """`openssl ts -verify`, offline, against the certificate that the lock holds."""
    try:
        raw = base64.b64decode(entry["token"], validate=True)
    except (binascii.Error, ValueError):
        return Finding("rfc3161", "fails", "the token in the lock is not base64")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for file, content in (("data", data), ("reply.tsr", raw), ("ca.pem", entry["certificate"].encode("ascii", "replace"))):
            (folder / file).write_bytes(content)
        reply, authority = str(folder / "reply.tsr"), str(folder / "ca.pem")
        code, said = _run(["openssl", "ts", "-verify", "-data", str(folder / "data"), "-in", reply, "-CAfile", authority])
        _, text = _run(["openssl", "ts", "-reply", "-in", reply, "-text"])
        _, name = _run(["openssl", "x509", "-in", authority, "-noout", "-subject", "-nameopt", "RFC2253"])
    if code is None:
        return Finding("rfc3161", "unknown", "there is no openssl on this machine to verify the token with")
    if code != 0 and "certificate has expired" in said:
        return Finding("rfc3161", "unknown", "the authority's certificate has expired since, and openssl verifies for today alone")
    if code != 0:
        return Finding("rfc3161", "fails", f"openssl refuses the token for this promise ({' '.join(said.split())[:120]})")
    when = _STAMP.search(text)
    stamped = f"an authority says that the promise existed before {when[1].strip() if when else 'its time stamp'}"
    own = f"it calls itself {name.strip().removeprefix('subject=')}; compare the certificate in the lock with the one it publishes"
    return Finding("rfc3161", "holds", f"{stamped}; {own}")


def _run(line: Sequence[str]) -> tuple[int | None, str]:
    """Exit code and everything said; None where the program is missing or hangs."""
    try:
        done = subprocess.run(line, capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None, ""
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")
