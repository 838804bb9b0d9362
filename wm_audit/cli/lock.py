"""`python -m experiments.lock`: fix a promise, read it in sentences, check what speaks for its time."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from wm_audit.cli.frame import ROOT, SCRATCH, Parser, guarded, say, shown
from wm_audit.core import AuditError, UsageError, strict_json
from wm_audit.instruments.audit.protocol import SOURCES
from wm_audit.prereg import archive
from wm_audit.prereg.lock import create, lock_of, lock_path, mismatch, read_lock
from wm_audit.prereg.promise import Promise, load_promise
from wm_audit.prereg.sentences import sentences
from wm_audit.prereg.time_evidence import canonical, findings, token
from wm_audit.run.provenance import code_digest

_DESCRIPTION = """create fixes what a promise means: it writes PROMISE.lock.json beside the YAML, never inside. A lock is never
overwritten; a new version is a new file that names the old one under `supersedes`.
show prints the promise in sentences, or with --canonical the bytes that a time-stamping authority stamps.
check says what speaks for the time of the lock, and what each kind proves: PASS, FAIL or CANNOT CHECK."""
_EXAMPLES = """  python -m experiments.lock show
  python -m experiments.lock show --canonical > promise.bin
  openssl ts -query -data promise.bin -sha256 -cert -out promise.tsq      # send it to an authority, which answers promise.tsr
  python -m experiments.lock create --timestamp-token promise.tsr --tsa-certificate authority.pem
  python -m experiments.lock check"""


def main(argv: Sequence[str] | None = None) -> int:
    """Parses the command line and does what was asked; returns the exit code."""
    parser = Parser("lock", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("action", choices=("create", "show", "check"))
    default = ROOT / "configs" / "preregistration.yaml"
    parser.add_argument(
        "promise", nargs="?", type=Path, default=default, metavar="PROMISE.yaml", help="default: configs/preregistration.yaml"
    )
    parser.add_argument("--canonical", action="store_true", help="show: the canonical bytes on standard output")
    parser.add_argument("--timestamp-token", type=Path, metavar="FILE", help="create: an RFC 3161 reply over the canonical bytes")
    parser.add_argument("--tsa-certificate", type=Path, metavar="FILE", help="create: the authority's certificate, PEM")
    parser.add_argument(
        "--results", type=Path, action="append", metavar="DIR", help="create: where main results would lie (default: leaderboard, scratch)"
    )
    parser.add_argument("--strict", action="store_true", help="check: CANNOT CHECK counts as FAIL")
    options = parser.parse_args(argv)
    return guarded(lambda: _act(options))


def _act(options: argparse.Namespace) -> int:
    _only_where_meant(options)
    stamped = (options.timestamp_token, options.tsa_certificate)
    if (stamped[0] is None) != (stamped[1] is None):
        fix = "give the token and the certificate it is checked against"
        raise UsageError("one of two is missing", where="--timestamp-token, --tsa-certificate", expected="both or none", fix=fix)
    promise = load_promise(options.promise)
    if options.action == "show":
        return _show(promise, canonical_form=options.canonical)
    if options.action == "check":
        return _check(promise, strict=options.strict)
    attached = token(*stamped, promise) if stamped[0] else None
    day, own = datetime.now(UTC).date(), code_digest(SOURCES)
    ran = _main_results(options.results or [ROOT / "leaderboard", SCRATCH])
    older = archive.superseded(options.promise.parent, promise)
    path = create(promise, locked_on=day, code_version=own, ran=ran, superseded=older, token=attached)
    say(f"{shown(path)}: locked on {day}, {promise.digest}\ncommit it before the first main run: its commit is evidence of the time")
    return 0


_MEANT = {"canonical": "show", "timestamp_token": "create", "tsa_certificate": "create", "results": "create", "strict": "check"}


def _only_where_meant(options: argparse.Namespace) -> None:
    """An option of another action would be passed over in silence."""
    for name, action in _MEANT.items():
        if getattr(options, name) and options.action != action:
            what, where = f"belongs to {action}", f"--{name.replace('_', '-')}"
            raise UsageError(what, where=where, expected=f"lock {action}", fix=f"leave it out of {options.action}")


def _show(promise: Promise, *, canonical_form: bool) -> int:
    if canonical_form:
        sys.stdout.buffer.write(canonical(promise))
        sys.stdout.flush()
        return 0
    lock = lock_of(promise)
    state = f"locked on {lock.locked_on}" if lock else "a draft" if promise.status == "draft" else "not locked yet"
    say(f"{shown(Path(promise.where))}, version {promise.version}, {state}, {promise.digest}\n")
    say("\n".join(sentences(promise)))
    return 0


def _check(promise: Promise, *, strict: bool) -> int:
    """0 where the lock holds, 1 where it or its evidence fails (if strict, or cannot be checked), 2 where nothing is locked."""
    path = lock_path(Path(promise.where))
    if not path.exists():
        fix = "a draft needs none" if promise.status == "draft" else "python -m experiments.lock create"
        raise AuditError("is not there", where=str(path), expected="a lock beside the promise", fix=fix)
    lock = read_lock(path)
    if problem := mismatch(lock, promise):
        say(f"FAIL          lock: {shown(Path(promise.where))} {problem}; restore what was locked, a new version is a new file")
        return 1
    said = findings(promise, lock)
    words = {"holds": "PASS", "fails": "FAIL", "unknown": "CANNOT CHECK"}
    say(f"PASS          lock: {promise.digest} is what {shown(Path(promise.where))} means")
    say("\n".join(f"{words[item.state]:<13} {item.kind}: {item.sentence}" for item in said))
    bad = ("fails", "unknown") if strict else ("fails",)
    return 1 if any(item.state in bad for item in said) else 0


def _main_results(folders: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Name and promise digest of every result of a main run in these folders."""
    for path in (path for folder in folders for path in sorted(folder.glob("results_*.json"))):
        document = strict_json.load(path)
        try:
            mode, digest = document["config"]["mode"], document["preregistration"]["digest"]
        except (KeyError, TypeError) as error:
            what = f"is no results file ({json.dumps(str(error))})"
            raise AuditError(what, where=str(path), expected="results files alone", fix="move it away") from error
        if mode == "main":
            yield shown(path), str(digest)
