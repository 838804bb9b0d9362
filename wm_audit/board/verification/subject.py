"""What is verified: a results file, read without trusting it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wm_audit.board import schema
from wm_audit.board.verification.check import Place
from wm_audit.core import AuditError, strict_json
from wm_audit.core.errors import why


@dataclass(frozen=True, slots=True)
class Subject:
    """A results file as it lies there.

    Attributes:
        path: the file.
        text: its text.
        document: its JSON value, perhaps changed since it was written.
        flaw: where it breaks its schema, or None; the checks that read its parts can only be made without one.
    """

    path: Path
    text: str
    document: dict[str, Any]
    flaw: Place | None


def subject(path: Path) -> Subject:
    """Reads a results file.

    Raises:
        AuditError: it cannot be read, is not JSON, or is no results file at all.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise AuditError(f"cannot be read ({why(error)})", where=str(path), expected="a results file", fix="check the path") from error
    except UnicodeDecodeError as error:
        raise AuditError("is not UTF-8 text", where=str(path), expected="a results file", fix="restore it") from error
    document = strict_json.loads(text, where=str(path))
    if not isinstance(document, dict) or document.get("schema") != schema.RESULTS:
        schema.check(document, where=str(path))  # says what it is instead
    try:
        schema.check(document, where="")
    except AuditError as error:
        return Subject(path, text, document, Place(error.where.removeprefix(" at "), error.what, error.expected))
    return Subject(path, text, document, None)
