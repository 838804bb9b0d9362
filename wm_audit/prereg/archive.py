"""Finds a promise by its digest: the present ones first, then those that were superseded."""

from pathlib import Path

from wm_audit.core import AuditError
from wm_audit.prereg.forms import exact
from wm_audit.prereg.promise import Promise, load_promise
from wm_audit.prereg.slice import leaves


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


def unlike(promise: Promise, config: dict[str, object]) -> str | None:
    """The first field in which a promise differs from a configuration that ran, as `field: found, promised`; None where none does."""
    promised, ran = leaves(exact(promise.data)), leaves(config)
    for field in dict.fromkeys((*promised, *ran)):
        if promised.get(field, "nothing") != ran.get(field, "nothing"):
            return f"{field}: {ran.get(field, 'nothing')!r} ran, {promised.get(field, 'nothing')!r} is promised"
    return None
