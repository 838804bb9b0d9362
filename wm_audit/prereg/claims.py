"""What a run may claim: the executed configuration minus the promise must equal the log of deviations, both ways."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from wm_audit.core import AuditError, strict_json
from wm_audit.prereg.deviations import Deviation, load_deviations, log_of
from wm_audit.prereg.forms import exact
from wm_audit.prereg.lock import Lock, lock_of
from wm_audit.prereg.promise import Promise
from wm_audit.prereg.slice import leaves
from wm_audit.prereg.unlogged import beyond, undone, unlogged

_CODE, _FAMILY = "code_version", "model.family"
Label = Literal["confirmatory", "confirmatory_with_deviations", "exploratory"]


class Claim(NamedTuple):
    """What a result may claim, the deviations that it was run with, and the day of the lock."""

    label: Label
    deviations: tuple[Deviation, ...]
    locked_on: str | None


EXPLORATORY = Claim("exploratory", (), None)
BUILT_IN = "dreamer_lite"
"""The family that a promise means which names none."""
INCOMPLETE = "promised cells are without a row ({} of them): whoever may stop where it suits confirms nothing"
"""Why a run that is whole by its configuration and not by its rows is exploratory."""


class Made(NamedTuple):
    """What finished rows say of their making, as far as a claim rests on it.

    Attributes:
        locked_on: the day of the lock that was there; None where there was none.
        log: digest of the deviations that were logged then, None where none were.
        code: digests of the sources that made the rows.
        models: families of the trained rows, a stranger's by its digest.
        missing: cells of the executed configuration without a row.
    """

    locked_on: str | None
    log: str | None
    code: frozenset[str]
    models: frozenset[str]
    missing: int

    @classmethod
    def of(cls, header: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], missing: int) -> Self:
        """From the header and the rows of a result."""
        manifests = [row.get("manifest", {}) for row in rows]
        code, models = ({str(item[name]) for item in manifests if name in item} for name in ("code", "model"))
        return cls(header["locked_on"], header.get("log"), frozenset(code), frozenset(models), missing)


def log_digest(entries: Iterable[Deviation]) -> str | None:
    """What records say of the deviations that were logged when they were made."""
    held = [entry.to_json() for entry in entries]
    return strict_json.digest(held) if held else None


def judge(promise: Promise, executed: Mapping[str, Any], lock: Lock | None, log: tuple[Deviation, ...], made: Made | None = None) -> Claim:
    """The rules.

    A draft, or a promise without a lock, is exploratory. So is a slice: a run that is smaller where no entry says so. So is a run
    whose configuration is the promised one and of which cells are missing: that it was stopped where its results looked best is
    what nothing in it could rule out. So are rows made by other sources or of another model than was locked where no entry says
    so (`code_version`, `model.family`), and rows beside which something else was logged when they were made: an entry that comes
    after the outcomes excuses nothing. A run that differs exactly as the log says is confirmatory, with deviations where there
    are any. Anything else is refused.

    Args:
        promise: what was promised.
        executed: what ran, decimals as text (`forms.exact`).
        lock: the promise's own lock, if it has one.
        log: the deviations logged for this promise.
        made: what the rows say of their making; None before there are any.

    Raises:
        AuditError: a difference beyond a slice that no entry states; or nothing is left out, but the log states what was not done.
    """
    if promise.status != "locked":
        return EXPLORATORY
    for item in beyond(exact(promise.data), executed, log):
        fix = f"run it as promised, or log it in {log_of(Path(promise.where))}"
        raise AuditError(f"is {item.found}, which no deviation states", where=item.field, expected=item.allowed, fix=fix)
    promised, done = leaves(exact(promise.data)), leaves(executed)
    if lock is not None and made is not None:
        promised, done = _with_making(promised, done, lock, made)
    not_done = [entry for entry in undone(done, log) if made is not None or entry.field not in (_CODE, _FAMILY)]
    applied = tuple(entry for entry in log if entry not in not_done)
    locked_on = lock.locked_on if lock else None
    late = made is not None and (made.missing > 0 or made.log != log_digest(applied))
    if lock is None or lock.digest != promise.digest or late or unlogged(promised, done, log):
        return Claim("exploratory", applied, locked_on)
    for entry in not_done:
        where = f"{log_of(Path(promise.where))}, {entry.id}"
        what = f"says that {entry.field} was {entry.done}, the run has {done.get(entry.field, 'nothing')}"
        raise AuditError(what, where=where, expected="only deviations that were made", fix="run it as logged, or take the entry back")
    return Claim("confirmatory_with_deviations" if applied else "confirmatory", applied, locked_on)


def _with_making(promised: Mapping[str, Any], done: Mapping[str, Any], lock: Lock, made: Made) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both maps with the sources and the model family: the configuration of a run repeats its promise and cannot say them."""
    family = promised.get(_FAMILY, BUILT_IN)
    models = {*made.models} or {family}  # a run without trained rows is a slice anyway
    said = {_CODE: " and ".join(sorted(made.code)) or "unknown", _FAMILY: " and ".join(sorted(map(str, models)))}
    return {**promised, _CODE: lock.code_version, _FAMILY: family}, {**done, **said}


def in_force(lock: Lock | None, locked_on: str | None) -> Lock | None:
    """The lock under which rows were made that say `locked_on`: one that came after them binds nothing, for they had been seen."""
    return lock if lock is not None and lock.locked_on == locked_on else None


def claim_of(promise: Promise, executed: Mapping[str, Any], locked_on: str | None, made: Made | None = None) -> Claim:
    """`judge` with the lock beside the promise and the log beside it; the same wherever the files are the same.

    Args:
        promise: what was promised.
        executed: what ran, decimals as text.
        locked_on: the day of the lock that the rows name; None where they name none.
        made: what the rows say of their making; None before there are any.

    Raises:
        AuditError: as for `judge`, `lock_of` and `load_deviations`.
    """
    lock = in_force(lock_of(promise), locked_on)
    return judge(promise, executed, lock, load_deviations(promise), made)
