"""The published JSON Schema of the results file, and the check of a document against it."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from wm_audit.core import AuditError, Key, Reason, Row, strict_json

RESULTS = "wm_audit/results/1"
_Kind = TypeVar("_Kind")


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
    _refuse(_validator("results"), document, where)
    for place, entry in enumerate(document["rows"]):
        _read(Row.from_json, entry, f"{where} at {pointer('rows', place)}")
    for place, entry in enumerate(document["missing"]):
        _read(Key.from_json, entry, f"{where} at {pointer('missing', place)}")


def check_row(entry: Any, *, where: str) -> Row:
    """A row of evidence that was measured elsewhere; it needs no seal.

    Raises:
        AuditError: it is no row, in the sense of the schema; the message names the JSON pointer inside the row.
    """
    _refuse(_validator("row"), entry, where)
    _read(lambda row: strict_json.dumps(row).encode("utf-8"), entry, where)  # half a surrogate pair could not be written again
    return _read(Row.from_json, entry, where)


def check_record(entry: Mapping[str, Any], *, where: str) -> None:
    """What a record says beside its seals: the row and the headers have the form that the results file asks of them.

    Raises:
        AuditError: they have not.
    """
    _refuse(_validator("record"), entry, where)


def pointer(*parts: str | int) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


@cache
def _validator(part: str) -> Draft202012Validator:
    schema = published()
    defs, members = schema["$defs"], schema["properties"]
    # the enumeration in `core` is what counts; a test keeps the published copy equal to it
    defs["reason"]["enum"] = [reason.value for reason in Reason]
    unsealed = {**defs["row"], "required": [name for name in defs["row"]["required"] if name != "sha256"]}
    headers = {name: members[name] for name in ("preregistration", "config", "environment")}
    record = {"type": "object", "properties": {**headers, "row": defs["row"]}, "required": [*headers, "row"]}
    return Draft202012Validator({"results": schema, "row": {**unsealed, "$defs": defs}, "record": {**record, "$defs": defs}}[part])


def _refuse(validator: Draft202012Validator, value: Any, where: str) -> None:
    errors = sorted(validator.iter_errors(value), key=lambda error: (list(map(str, error.absolute_path)), error.message))
    if errors:
        raise _explain(errors[0], where)


def _read(form: Callable[[Any], _Kind], entry: Any, where: str) -> _Kind:
    """What JSON Schema cannot say: names are printable, and a number is not true or false."""
    try:
        return form(entry)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise AuditError(f"cannot be read ({error})", where=where, expected="a row of evidence", fix="correct it") from error


def _explain(error: ValidationError, where: str) -> AuditError:
    place = f"{where} at {pointer(*error.absolute_path) or '/'}"
    wanted = error.schema.get("description") if isinstance(error.schema, dict) else None
    if error.validator in ("oneOf", "anyOf"):
        text = json.dumps(error.instance, ensure_ascii=False)
        found = f"found {text if len(text) <= 120 else text[:117] + '...'}"
        return AuditError(found, where=place, expected=str(wanted or "null or a known reason code"))
    return AuditError(" ".join(error.message.split())[:300], where=place, expected=str(wanted or f"what {RESULTS} allows"))
