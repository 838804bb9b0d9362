"""What was promised before anything was measured, and its digest."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wm_audit.core import strict_json
from wm_audit.prereg.checks import check
from wm_audit.prereg.promise_schema import PROMISE
from wm_audit.prereg.strict_yaml import Document, load, loads


@dataclass(frozen=True, slots=True)
class Promise:
    """A preregistration, read and checked.

    Attributes:
        where: the file, for messages.
        data: every field, decimals exact; the structure of `promise_schema.PROMISE`.
        digest: `sha256:` over the canonical form: comments, order of keys, quoting and line ends do not matter, every value does.
    """

    where: str
    data: Mapping[str, Any]
    digest: str

    @property
    def version(self) -> int:
        """Which version of the promise this is."""
        return int(self.data["version"])

    @property
    def status(self) -> str:
        """`draft` or `locked`; everything run under a draft is exploratory."""
        return str(self.data["status"])

    def header(self, locked_on: str | None = None, log: str | None = None) -> dict[str, Any]:
        """What every record and result says of its promise.

        Args:
            locked_on: the day of its lock.
            log: digest of the deviations that are logged; left out where there are none.
        """
        held = {} if log is None else {"log": log}
        return {"version": self.version, "digest": self.digest, "status": self.status, "locked_on": locked_on, **held}


def load_promise(path: Path) -> Promise:
    """Reads a promise.

    Raises:
        AuditError: it cannot be read, breaks the schema, or contradicts itself; one line with file, line and field.
    """
    return _promise(load(path, PROMISE))


def loads_promise(text: str, *, where: str = "promise") -> Promise:
    """Reads a promise from its text.

    Raises:
        AuditError: as for `load_promise`.
    """
    return _promise(loads(text, PROMISE, where=where))


def _promise(document: Document) -> Promise:
    check(document.value, document.place)
    return Promise(document.where, document.value, strict_json.digest(document.value))
