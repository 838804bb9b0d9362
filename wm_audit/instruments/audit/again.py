"""Cells of a results file made again from nothing: collected, trained, measured."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wm_audit.core import AuditError, Key
from wm_audit.instruments.audit.measure import work
from wm_audit.instruments.audit.protocol import Setting, cells
from wm_audit.models import MODELS
from wm_audit.prereg.audit_config import AuditConfig, executed_of
from wm_audit.prereg.forms import exact, restored
from wm_audit.prereg.promise import Promise
from wm_audit.run.cells import Cell, groups
from wm_audit.run.worker import Broken, Emit, Made


def again(document: Mapping[str, Any], keys: Sequence[Key], promise: Promise | None) -> dict[Key, Mapping[str, Any]]:
    """The rows of these cells, made anew in a folder that is thrown away; cells of one model share it.

    Raises:
        AuditError: no promise to read the configuration by, a model that its user brought, or a cell that breaks.
    """
    if promise is None:
        raise AuditError("the promise of the file is not here", expected="its YAML in configs/", fix="name it with --lock")
    model = _family(document)
    ran = executed_of(document["config"])
    executed = restored(promise.data, ran)
    if exact(executed) != ran:
        raise AuditError("the configuration of the file cannot be read back", expected="a configuration of this promise")
    config = AuditConfig(promise.where, document["config"]["name"], document["config"]["mode"], promise, executed, "slice")
    compiled = document["environment"].get("execution") == "compiled"
    made: dict[Key, Mapping[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        setting = Setting(config, Path(folder), model, {}, str(document["environment"]["digest"]), compiled=compiled)
        for group in groups(cells(setting)).values():
            if not {cell.key for cell in group}.isdisjoint(keys):
                made |= _made(setting, group)
    return {key: made[key] for key in keys}


def _family(document: Mapping[str, Any]) -> str:
    """The family of the trained rows; rows without one need none, and get the first."""
    named = {row["manifest"]["model"] for row in document["rows"] if "model" in row["manifest"]}
    strange = sorted(named - set(MODELS))
    if strange:
        what = f"the trained rows are of a model that was brought from outside ({strange[0][:19]})"
        raise AuditError(what, expected=f"a family of this project: {', '.join(MODELS)}")
    return min(named, default=next(iter(MODELS)))


def _made(setting: Setting, group: tuple[Cell, ...]) -> dict[Key, Mapping[str, Any]]:
    """All rows of a group."""
    rows: dict[Key, Mapping[str, Any]] = {}

    def take(message: Any) -> None:
        if isinstance(message, Made):
            rows[message.row.key] = message.row.to_json()
        elif isinstance(message, Broken):
            raise AuditError(message.line, where=message.keys[0].text())

    work(setting, group, Emit(take, tuple(cell.key for cell in group)))
    return rows
