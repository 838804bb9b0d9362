"""`python -m experiments.verify`: may a results file be believed?"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from wm_audit.board import schema
from wm_audit.board.verification.check import State
from wm_audit.board.verification.promised import Promised
from wm_audit.board.verification.verify import Means, exit_code, verify
from wm_audit.cli.frame import ROOT, Parser, guarded, say, shown
from wm_audit.cli.make_leaderboard import pages
from wm_audit.core import AuditError, Key, UsageError
from wm_audit.instruments.audit.decide import recompute
from wm_audit.instruments.audit.protocol import planned
from wm_audit.prereg import archive
from wm_audit.prereg.audit_config import executed_of
from wm_audit.prereg.deviations import load_deviations
from wm_audit.prereg.lock import lock_of
from wm_audit.prereg.promise import Promise, load_promise

_DESCRIPTION = """Checks a results file without training anything: ten lines, each PASS, FAIL or CANNOT CHECK, and under a FAIL the exact
places. Every statistic and verdict is recomputed from the rows; the pages that quote the file are regenerated.

What this proves: nothing was changed by accident or in part since the file was written. Someone who rewrites the whole
file and every page is caught only by time evidence, or by --rerun, which trains and measures K random cells again."""
_EXAMPLES = """  python -m experiments.verify leaderboard/results_pixel_nav_pilot.json
  python -m experiments.verify results.json --strict        what cannot be checked counts as failed
  python -m experiments.verify results.json --rerun 2       minutes to hours: trains"""


_NEAR = 2
"""Fields in which a promise may differ from what ran and still be taken for the one that was changed since."""


def main(argv: Sequence[str] | None = None) -> int:
    """Parses the command line and verifies; returns the exit code."""
    parser = Parser("verify", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("results", type=Path, metavar="RESULTS.json", help="a results file")
    parser.add_argument(
        "--lock", type=Path, metavar="FILE", help="the promise (.yaml) or its lock; default: found in configs/ by its digest"
    )
    parser.add_argument("--rerun", type=int, default=0, metavar="K", help="make K random cells again (trains)")
    parser.add_argument("--strict", action="store_true", help="CANNOT CHECK counts as FAIL")
    parser.add_argument("--json", action="store_true", help="machine-readable, with every place")
    options = parser.parse_args(argv)
    return guarded(lambda: _verify(options.results, options.lock, options.rerun, strict=options.strict, as_json=options.json))


def _verify(path: Path, lock: Path | None, count: int, *, strict: bool, as_json: bool) -> int:
    if count < 0:
        raise UsageError(f"found {count}", where="--rerun", expected="a number of cells, 0 or more", fix="leave it out to train nothing")
    find = partial(_find, named=_promise_of(lock) if lock else None)
    means = Means({schema.RESULTS: recompute}, planned, pages, find, partial(_again, find) if count else None, count)
    checks = verify(path, means)
    code = exit_code(checks, strict=strict)
    if as_json:
        say(
            json.dumps(
                {"file": str(path), "exit_code": code, "checks": [check.to_json() for check in checks]}, indent=2, ensure_ascii=False
            )
        )
        return code
    say("\n".join(line for check in checks for line in check.lines()))
    failed = sum(check.state is State.FAIL for check in checks)
    unchecked = sum(check.state is State.CANNOT_CHECK for check in checks)
    answer = f"{failed} of {len(checks)} checks failed" if failed else "incomplete" if code == 2 else "nothing failed"
    say(f"{shown(path)}: {answer}" + (f", {unchecked} could not be made" if unchecked else ""))
    return code


def _promise_of(path: Path) -> Promise:
    """The promise that --lock names, directly or by its lock file."""
    return load_promise(path.with_name(path.name.removesuffix(".lock.json") + ".yaml") if path.name.endswith(".lock.json") else path)


def _find(document: Mapping[str, Any], named: Promise | None) -> Promised:
    """The promise that a document names with what lies beside it; what is wrong is said, not raised."""
    digest, configs = document["preregistration"]["digest"], ROOT / "configs"
    try:
        promise = named or archive.find(configs, digest)
        if promise is None and (near := archive.nearest(configs, executed_of(document["config"]), most=_NEAR)):
            return Promised(near[0], f"{digest}, which {near[0].where} no longer means: {near[1]}")
    except AuditError as error:
        return Promised(None, error.line(), broken=True)
    if promise is None:
        return Promised(None, f"no promise in {configs} has the digest {digest}; name it with --lock")
    if promise.digest != digest:
        return Promised(promise, f"{digest} in the file, {promise.where} means {promise.digest}")
    try:
        return Promised(promise, "", lock_of(promise), load_deviations(promise))
    except AuditError as error:
        return Promised(promise, error.line())


def _again(find: Any, document: Mapping[str, Any], keys: Sequence[Key]) -> Mapping[Key, Mapping[str, Any]]:
    """Trains; imported here alone, so that nothing else of the verifier needs torch."""
    from wm_audit.instruments.audit.again import again  # noqa: PLC0415 - see above

    return again(document, keys, find(document).promise)
