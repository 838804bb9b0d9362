"""The published JSON Schema of the results file, and the check of a document against it."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from wm_audit.core import AuditError, Reason

RESULTS = "wm_audit/results/1"


def published() -> dict[str, Any]:
    """The schema as shipped: JSON Schema, draft 2020-12."""
    text = files(__name__).joinpath("results.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def check(document: Any, *, where: str) -> None:
    """Compares a document with the schema.

    Raises:
        AuditError: it differs; the message names the file, the JSON pointer, what was found and what was expected.
    """
    if not isinstance(document, dict) or document.get("schema") != RESULTS:
        found = document.get("schema") if isinstance(document, dict) else type(document).__name__
        raise AuditError(f"is not a results file (schema {found!r})", where=where, expected=RESULTS, fix="give the file a run wrote")
    errors = sorted(_validator().iter_errors(document), key=lambda error: (list(map(str, error.absolute_path)), error.message))
    if errors:
        raise _explain(errors[0], where)


def pointer(*parts: str | int) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


@cache
def _validator() -> Draft202012Validator:
    schema = published()
    # the enumeration in `core` is what counts; a test keeps the published copy equal to it
    schema["$defs"]["reason"]["enum"] = [reason.value for reason in Reason]
    return Draft202012Validator(schema)


def _explain(error: ValidationError, where: str) -> AuditError:
    place = f"{where} at {pointer(*error.absolute_path) or '/'}"
    wanted = error.schema.get("description") if isinstance(error.schema, dict) else None
    if error.validator in ("oneOf", "anyOf"):
        text = json.dumps(error.instance, ensure_ascii=False)
        found = f"found {text if len(text) <= 120 else text[:117] + '...'}"
        return AuditError(found, where=place, expected=str(wanted or "null or a known reason code"))
    return AuditError(" ".join(error.message.split())[:300], where=place, expected=str(wanted or f"what {RESULTS} allows"))
