"""A run's configuration file: its name, its mode, and what it selects and shrinks of a promise."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wm_audit.core import AuditError
from wm_audit.prereg.checks import check
from wm_audit.prereg.claims import Claim, claim_of
from wm_audit.prereg.deviations import load_deviations
from wm_audit.prereg.forms import exact, floating
from wm_audit.prereg.lock import lock_of
from wm_audit.prereg.promise import Promise, load_promise
from wm_audit.prereg.promise_schema import PROMISE
from wm_audit.prereg.schema import Fields, Items, Text, partial
from wm_audit.prereg.slice import Relation, relation
from wm_audit.prereg.strict_yaml import Document, load, nearest
from wm_audit.prereg.unlogged import beyond

MODES = ("smoke", "pilot", "main")
_HEAD = {"name": Text(pattern=r"[a-z0-9][a-z0-9_]*"), "mode": Text(choices=MODES), "preregistration": Text()}


def _schema() -> Fields:
    """The promise's own fields, all optional; environments are named, never set anew."""
    overlay = {name: partial(item) for name, item in PROMISE.of.items()}
    fields = _HEAD | overlay | {"environments": Items(Text(), at_least=1, distinct=True)}
    return Fields(fields, frozenset(fields) - {"name", "mode"})


CONFIG = _schema()
"""The schema of `configs/audit/*.yaml`."""


@dataclass(frozen=True, slots=True)
class AuditConfig:
    """A run, resolved.

    Attributes:
        where: the file, for messages.
        name: what the run is called.
        mode: smoke, pilot or main.
        promise: what was promised.
        executed: the promise's fields as this run has them, decimals exact.
        relation: `equal` to the promise, or a `slice` of it.
    """

    where: str
    name: str
    mode: str
    promise: Promise
    executed: Mapping[str, Any]
    relation: Relation

    def claim(self) -> Claim:
        """What rows that are made now may claim, by the lock and the log of deviations beside the promise.

        Raises:
            AuditError: a lock of another digest, or a log that states what was not done.
        """
        lock = lock_of(self.promise)
        return claim_of(self.promise, exact(self.executed), lock.locked_on if lock else None)

    def to_json(self) -> dict[str, Any]:
        """The form that records and results hold; decimals are text."""
        return {"name": self.name, "mode": self.mode, **exact(self.executed)}

    def section(self, name: str) -> Any:
        """One field with decimals as float64, ready for arithmetic: `section("training")["learning_rate"]`."""
        return floating(self.executed[name])

    @property
    def capacities(self) -> tuple[tuple[int, int], ...]:
        """(hidden, embed) pairs in the promise's order."""
        return tuple((item["hidden"], item["embed"]) for item in self.executed["capacities"])

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds in the promise's order."""
        return tuple(self.executed["seeds"])

    @property
    def environments(self) -> dict[str, dict[str, Any]]:
        """Settings of every selected environment, by id."""
        return dict(floating(self.executed["environments"]))


def load_config(path: Path) -> AuditConfig:
    """Reads a run's configuration and the promise it is a slice of.

    The promise is the file that `preregistration` names, relative to the configuration's own folder; without that field
    `preregistration.yaml` there or in the folder above.

    Raises:
        AuditError: a file breaks its schema, or the run is no slice: the first differing field, found, allowed, and what to write.
    """
    document = load(path, CONFIG)
    promise = load_promise(_promise_path(path, document))
    executed = _overlay(promise.data, document)
    for difference in beyond(exact(promise.data), exact(executed), load_deviations(promise)):
        what = f"is no slice of the promise: found {difference.found}"
        raise AuditError(what, where=document.place(difference.field), expected=difference.allowed, fix=difference.fix)
    check(executed, document.place)
    name, mode = document.value["name"], document.value["mode"]
    return AuditConfig(document.where, name, mode, promise, executed, relation(exact(promise.data), exact(executed)))


def executed_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The promise's fields of a configuration as results hold it (`AuditConfig.to_json`), ready for `slice.differences`."""
    return {name: item for name, item in config.items() if name not in _HEAD}


def _promise_path(path: Path, document: Document) -> Path:
    named = document.value.get("preregistration")
    if named is not None:
        return path.parent / str(named)
    places = [folder / "preregistration.yaml" for folder in (path.parent, path.parent.resolve().parent)]
    for place in places:
        if place.is_file():
            return place
    raise AuditError(
        "names no promise, and there is none beside it",
        where=document.place("preregistration"),
        expected=f"{places[0]} or {places[1]}",
        fix="add the line 'preregistration: PATH', relative to this file",
    )


def _overlay(promised: Mapping[str, Any], document: Document) -> dict[str, Any]:
    """The promise with the run's fields in place of its own; selections take the promise's order."""
    own = {name: item for name, item in document.value.items() if name not in _HEAD}
    executed: dict[str, Any] = _merged(promised, own)
    if "environments" in own:
        for index, name in enumerate(own["environments"]):
            if name not in promised["environments"]:
                fix = nearest(name, promised["environments"])
                where = document.place(f"environments[{index}]")
                raise AuditError(f"names {name!r}", where=where, expected="an environment of the promise", fix=fix)
        executed["environments"] = {name: item for name, item in promised["environments"].items() if name in own["environments"]}
    for name in ("capacities", "seeds", "arms", "levers"):
        executed[name] = _in_order(executed[name], promised[name])
    return executed


def _in_order(chosen: list[Any], order: list[Any]) -> list[Any]:
    """The chosen items in the promise's order; unknown ones last, for `differences` to name."""
    return [item for item in order if item in chosen] + [item for item in chosen if item not in order]


def _merged(base: Any, over: Any) -> Any:
    if isinstance(base, Mapping) and isinstance(over, Mapping):
        return {name: _merged(item, over[name]) if name in over else item for name, item in base.items()} | {
            name: item for name, item in over.items() if name not in base
        }
    return over
