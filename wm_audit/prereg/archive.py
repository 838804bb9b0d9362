"""Finds a promise by its digest: the present ones first, then those that were superseded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wm_audit.core import AuditError
from wm_audit.prereg.forms import exact
from wm_audit.prereg.promise import Promise, load_promise
from wm_audit.prereg.slice import differences

_NEAR = 2


def promises(configs: Path) -> list[Promise]:
    """Every promise of a folder of configurations, present ones first, in the order of their names.

    Raises:
        AuditError: one of them cannot be read.
    """
    paths = [*sorted(configs.glob("preregistration*.yaml")), *sorted((configs / "superseded").glob("*.yaml"))]
    return [load_promise(path) for path in paths]


def find(configs: Path, digest: str) -> Promise | None:
    """The promise with this digest, or None.

    Raises:
        AuditError: a promise of the folder cannot be read.
    """
    return next((promise for promise in promises(configs) if promise.digest == digest), None)


def need(configs: Path, digest: str) -> Promise:
    """The promise with this digest.

    Raises:
        AuditError: there is none.
    """
    promise = find(configs, digest)
    if promise is None:
        where = f"{configs}/preregistration*.yaml, {configs}/superseded/"
        raise AuditError(f"no promise there has the digest {digest}", where=where, expected="the promise that was run", fix="put it there")
    return promise


def nearest(configs: Path, config: Mapping[str, Any]) -> tuple[Promise, str] | None:
    """The promise that a configuration is nearly a slice of, and where it is not; None where every promise is quite another one.

    A single value that was changed in a promise changes its digest, and at most one field here.

    Raises:
        AuditError: a promise of the folder cannot be read.
    """
    for promise in promises(configs):
        found = list(differences(exact(promise.data), config))
        if len(found) <= _NEAR:
            field = (
                f"{found[0].field} is {found[0].found} in the results, {found[0].allowed} here"
                if found
                else "a field that a run may shrink"
            )
            return promise, field
    return None
