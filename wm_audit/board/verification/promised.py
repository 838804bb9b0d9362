"""Checks 1, 2, 7 and 9: the promise, the time of its lock, the deviations from it, and what may be claimed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from wm_audit.board.claim import ELSEWHERE, why_exploratory
from wm_audit.board.schema import pointer
from wm_audit.board.verification.check import Check, Place, State, cannot, judged, passed
from wm_audit.board.verification.compare import differences, text
from wm_audit.board.verification.subject import Subject
from wm_audit.core import AuditError
from wm_audit.prereg.audit_config import executed_of
from wm_audit.prereg.claims import Claim, Made, in_force, judge
from wm_audit.prereg.deviations import Deviation
from wm_audit.prereg.forms import exact
from wm_audit.prereg.lock import Lock
from wm_audit.prereg.promise import Promise
from wm_audit.prereg.slice import leaves
from wm_audit.prereg.time_evidence import findings
from wm_audit.prereg.unlogged import beyond, unlogged


class Promised(NamedTuple):
    """What was found of the promise that a file names.

    Attributes:
        promise: by the file's digest, or None.
        problem: why there is none, or what is wrong with its lock or log.
        broken: there is none because one that lies there cannot be read, not because it lies elsewhere.
        lock: beside the promise, if it is locked.
        log: the deviations logged for it.
    """

    promise: Promise | None
    problem: str = ""
    lock: Lock | None = None
    log: tuple[Deviation, ...] = ()
    broken: bool = False


def lock(subject: Subject, found: Promised) -> Check:
    """The promise is there, means what the file says, and is locked where it says so."""
    name, header = "lock", subject.document["preregistration"]
    if found.promise is None and not found.broken:
        return cannot(name, found.problem)
    if found.promise is None or found.problem:
        return judged(
            name, [Place("/preregistration/digest", found.problem, "a promise that its lock names")], good="", bad="no valid lock"
        )
    locked_on = found.lock.locked_on if found.lock else None
    late = found.lock is not None and header["locked_on"] is None  # said openly; what it costs is the claim
    promise = found.promise
    wanted = {
        "digest": promise.digest,
        "version": promise.version,
        "status": promise.status,
        "locked_on": None if late else locked_on,
    }
    places = [Place(pointer("preregistration", key), text(header[key]), text(item)) for key, item in wanted.items() if header[key] != item]
    where = f"{Path(found.promise.where).name} means {found.promise.digest[:19]}"
    state = (
        f"locked on {locked_on}" if found.lock else "a draft, not locked" if found.promise.status == "draft" else "no lock lies beside it"
    ) + (", after these rows were made" if late else "")
    return judged(name, places, good=f"{where}: {state}", bad="the file says of its promise what is not so")


def time(found: Promised) -> Check:
    """What speaks for the time of the lock, each kind with its strength."""
    name = "time evidence"
    if found.promise is None or found.problem:
        return cannot(name, "there is no valid promise to look at")
    if found.lock is None:
        return passed(name, "none is needed: nothing is locked, so nothing claims to have been fixed beforehand")
    said = findings(found.promise, found.lock)
    sentence = "; ".join(item.sentence for item in said)
    failed = [Place(item.kind, item.sentence, "evidence that holds") for item in said if item.state == "fails"]
    if failed:
        return judged(name, failed, good="", bad="attached evidence does not hold")
    unknown = any(item.state == "unknown" and item.kind == "rfc3161" for item in said)
    return Check(name, State.CANNOT_CHECK if unknown else State.PASS, sentence)


def deviations(subject: Subject, found: Promised) -> Check:
    """What ran minus what was promised is what was logged, both ways."""
    name = "deviations"
    if found.promise is None:
        return cannot(name, found.problem)
    if subject.document["environment"].get("digest") == ELSEWHERE:
        return cannot(name, "the rows were measured elsewhere: nothing here says with which settings")
    promised, ran = exact(found.promise.data), executed_of(subject.document["config"])
    places = [
        Place(pointer("config", *item.field.split(".")), text(item.found), f"{item.allowed}, or an entry in the log")
        for item in beyond(promised, ran, found.log)
    ]
    claim, problem = _claim(subject, found)
    if claim is None:
        return judged(name, [*places, Place("/config", problem, "a run as logged")], good="", bad="the log states what was not done")
    logged = [entry.to_json() for entry in claim.deviations]
    places += list(differences(subject.document["deviations"], logged, "/deviations"))
    slices = len(unlogged(leaves(promised), leaves(ran), found.log))
    good = f"{len(logged)} logged, as run" + (f"; {slices} fields are smaller than promised, which makes it a slice" if slices else "")
    return judged(name, places, good=good, bad="the run is not the promise with its logged deviations")


def claims(subject: Subject, found: Promised) -> Check:
    """The label is the one that the rules give, on the file and on every verdict."""
    name, document = "claims", subject.document
    if found.promise is None and document["preregistration"]["status"] == "locked":
        return cannot(name, found.problem)
    claim, problem = _claim(subject, found) if found.promise else (None, "")
    label = claim.label if claim else "exploratory"
    places = [Place("/claim", text(document["claim"]), text(label))] if document["claim"] != label else []
    places += [
        Place(pointer("verdicts", index, "claim"), text(verdict["claim"]), text(label))
        for index, verdict in enumerate(document["verdicts"])
        if verdict["claim"] != label
    ]
    if problem:
        places.append(Place("/claim", problem, "a run as logged"))
    why = why_exploratory(document)
    good = f"{label}{f' ({why})' if why else ''}, and the rules give the same"
    return judged(name, places, good=good, bad="the label is not the one that the rules give")


def _claim(subject: Subject, found: Promised) -> tuple[Claim | None, str]:
    assert found.promise is not None  # noqa: S101 - the callers looked
    executed: Mapping[str, Any] = executed_of(subject.document["config"])
    try:
        lock = in_force(found.lock, subject.document["preregistration"]["locked_on"])
        made = Made.of(subject.document["preregistration"], subject.document["rows"], len(subject.document["missing"]))
        return judge(found.promise, executed, lock, found.log, made), ""
    except AuditError as error:
        return None, error.line()
