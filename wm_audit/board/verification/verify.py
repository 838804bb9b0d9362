"""The ten checks of a results file, in their order."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from wm_audit.board.verification import promised
from wm_audit.board.verification.artefacts import Pages, artefacts
from wm_audit.board.verification.check import Check, State, cannot, judged
from wm_audit.board.verification.grid import Planned, grid
from wm_audit.board.verification.integrity import Recompute, integrity
from wm_audit.board.verification.lineage import lineage
from wm_audit.board.verification.nulls import nulls
from wm_audit.board.verification.promised import Promised
from wm_audit.board.verification.rerun import Again, rerun
from wm_audit.board.verification.subject import Subject, subject
from wm_audit.prereg.claims import EXPLORATORY
from wm_audit.prereg.lock import lock_path
from wm_audit.prereg.time_evidence import lock_commit

NAMES = ("lock", "time evidence", "lineage", "grid", "integrity", "nulls", "deviations", "artefacts", "claims", "re-run")


class Means(NamedTuple):
    """What the checks need from outside: how each instrument plans and judges, how pages are made, where promises are.

    Attributes:
        recompute: by the results' schema.
        planned: every cell of a configuration.
        pages: every page that quotes the results of a folder.
        find: the promise that a document names, with its lock and log.
        again: makes cells anew, or None where no re-run is asked for.
        sample: how many cells are made anew.
    """

    recompute: Mapping[str, Recompute]
    planned: Planned
    pages: Pages
    find: Callable[[Mapping[str, Any]], Promised]
    again: Again | None = None
    sample: int = 0


def verify(path: Path, means: Means) -> list[Check]:
    """Makes every check; one that fails stops none of the others.

    Raises:
        AuditError: the file cannot be read, or is no results file.
    """
    read = subject(path)
    return _flawed(read) if read.flaw else _checks(read, means)


def exit_code(checks: list[Check], *, strict: bool) -> int:
    """0 where nothing failed, 1 where something did (or, if strict, could not be checked), 2 where evidence is missing."""
    states = [check.state for check in checks]
    if State.FAIL in states or (strict and State.CANNOT_CHECK in states):
        return 1
    return 2 if any(check.incomplete for check in checks) else 0


def _checks(read: Subject, means: Means) -> list[Check]:
    document = read.document
    found = means.find(document)
    bound = found.promise is not None and found.lock is not None and document["claim"] != EXPLORATORY.label
    commit = lock_commit(lock_path(Path(found.promise.where))) if found.promise and bound else None
    return [
        promised.lock(read, found),
        promised.time(found),
        lineage(read, commit),
        grid(read, means.planned),
        integrity(read, means.recompute[document["schema"]]),
        nulls(read),
        promised.deviations(read, found),
        artefacts(read, means.pages),
        promised.claims(read, found),
        rerun(read, means.sample, means.again),
    ]


def _flawed(read: Subject) -> list[Check]:
    """A file that breaks its schema was changed after it was written; nothing else in it can be relied upon."""
    flaw = [read.flaw] if read.flaw else []
    broken = judged("integrity", flaw, good="", bad="the file breaks its own schema: it was changed after it was written")
    return [broken if name == "integrity" else cannot(name, "the file breaks its own schema") for name in NAMES]
