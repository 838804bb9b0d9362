"""What a run may claim: the executed configuration minus the promise must equal the log of deviations, both ways."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from wm_audit.core import AuditError
from wm_audit.prereg.deviations import Deviation, load_deviations, log_of
from wm_audit.prereg.forms import exact
from wm_audit.prereg.lock import Lock, lock_of
from wm_audit.prereg.promise import Promise
from wm_audit.prereg.slice import leaves
from wm_audit.prereg.unlogged import beyond, undone, unlogged

Label = Literal["confirmatory", "confirmatory_with_deviations", "exploratory"]


class Claim(NamedTuple):
    """What a result may claim, the deviations that it was run with, and the day of the lock."""

    label: Label
    deviations: tuple[Deviation, ...]
    locked_on: str | None


EXPLORATORY = Claim("exploratory", (), None)
INCOMPLETE = "promised cells are without a row ({} of them): whoever may stop where it suits confirms nothing"
"""Why a run that is whole by its configuration and not by its rows is exploratory."""


def judge(promise: Promise, executed: Mapping[str, Any], lock: Lock | None, log: tuple[Deviation, ...], *, missing: int = 0) -> Claim:
    """The rules.

    A draft, or a promise without a lock, is exploratory. So is a slice: a run that is smaller where no entry says so. So is a run
    whose configuration is the promised one and of which cells are missing: that it was stopped where its results looked best is
    what nothing in it could rule out. A run that differs exactly as the log says is confirmatory, with deviations where there are
    any. Anything else is refused.

    Args:
        promise: what was promised.
        executed: what ran, decimals as text (`forms.exact`).
        lock: the promise's own lock, if it has one.
        log: the deviations logged for this promise.
        missing: cells of the executed configuration without a row.

    Raises:
        AuditError: a difference beyond a slice that no entry states; or nothing is left out, but the log states what was not done.
    """
    if promise.status != "locked":
        return EXPLORATORY
    for item in beyond(exact(promise.data), executed, log):
        fix = f"run it as promised, or log it in {log_of(Path(promise.where))}"
        raise AuditError(f"is {item.found}, which no deviation states", where=item.field, expected=item.allowed, fix=fix)
    promised, done = leaves(exact(promise.data)), leaves(executed)
    not_done = undone(done, log)
    applied = tuple(entry for entry in log if entry not in not_done)
    locked_on = lock.locked_on if lock else None
    if lock is None or lock.digest != promise.digest or missing or unlogged(promised, done, log):
        return Claim("exploratory", applied, locked_on)
    for entry in not_done:
        where = f"{log_of(Path(promise.where))}, {entry.id}"
        what = f"says that {entry.field} was {entry.done}, the run has {done.get(entry.field, 'nothing')}"
        raise AuditError(what, where=where, expected="only deviations that were made", fix="run it as logged, or take the entry back")
    return Claim("confirmatory_with_deviations" if applied else "confirmatory", applied, locked_on)


def in_force(lock: Lock | None, locked_on: str | None) -> Lock | None:
    """The lock under which rows were made that say `locked_on`: one that came after them binds nothing, for they had been seen."""
    return lock if lock is not None and lock.locked_on == locked_on else None


def claim_of(promise: Promise, executed: Mapping[str, Any], locked_on: str | None, *, missing: int = 0) -> Claim:
    """`judge` with the lock beside the promise and the log beside it; the same wherever the files are the same.

    Args:
        promise: what was promised.
        executed: what ran, decimals as text.
        locked_on: the day of the lock that the rows name; None where they name none.
        missing: cells of the executed configuration without a row.

    Raises:
        AuditError: as for `judge`, `lock_of` and `load_deviations`.
    """
    lock = in_force(lock_of(promise), locked_on)
    return judge(promise, executed, lock, load_deviations(promise), missing=missing)
