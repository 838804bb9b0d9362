"""Finds a promise by its digest: the present ones first, then those that were superseded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wm_audit.core import AuditError
from wm_audit.prereg.forms import exact
from wm_audit.prereg.promise import Promise, load_promise
from wm_audit.prereg.slice import differences


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


def need(configs: Path, digest: str, config: Mapping[str, Any]) -> Promise:
    """The promise with this digest.

    Args:
        configs: the folder of promises.
        digest: of the promise that was run.
        config: what ran, by which the nearest promise is named where that one is not there.

    Raises:
        AuditError: there is none, or a promise of the folder cannot be read.
    """
    promise = find(configs, digest)
    if promise is None:
        where = f"{configs}/preregistration*.yaml, {configs}/superseded/"
        near = nearest(configs, config)
        hint = f"; nearest is {near[0].where}: {near[1]}" if near else ""
        fix = f"put it there, or name its folder with --configs{hint}"
        raise AuditError(f"no promise there has the digest {digest}", where=where, expected="the promise that was run", fix=fix)
    return promise


def nearest(configs: Path, config: Mapping[str, Any], *, most: int | None = None) -> tuple[Promise, str] | None:
    """The promise that a configuration is most nearly a slice of, and the first field where it is not; None where there is none.

    A single value that was changed in a promise changes its digest, and at most one field here.

    Args:
        configs: the folder of promises.
        config: what ran, decimals as text.
        most: fields that may differ; a promise further away is another promise.

    Raises:
        AuditError: a promise of the folder cannot be read.
    """
    ranked = [(list(differences(exact(promise.data), config)), promise) for promise in promises(configs)]
    found, promise = min(ranked, key=lambda item: len(item[0]), default=([], None))
    if promise is None or (most is not None and len(found) > most):
        return None
    if not found:
        return promise, "a field that a run may shrink"
    return promise, f"{found[0].field} is {found[0].found} in the results, {found[0].allowed} here"


def superseded(configs: Path, promise: Promise) -> frozenset[str]:
    """Digests of all promises that this one supersedes, the superseded of the superseded included.

    Raises:
        AuditError: a promise of the folder cannot be read.
    """
    older = {item.digest: item.data["supersedes"] for item in promises(configs)}
    chain, digest = list[str](), promise.data["supersedes"]
    while digest is not None and digest not in chain:
        chain.append(digest)
        digest = older.get(digest)
    return frozenset(chain)
