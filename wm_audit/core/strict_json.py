"""JSON without surprises: a canonical form for digests, a fixed text form for files, strict reading of both."""

import hashlib
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

from wm_audit.core.errors import AuditError, why
from wm_audit.core.shown_text import clipped


def plain_decimal(number: Decimal) -> str:
    """Plain notation without exponent, trailing zeros or minus zero: 0.40 and 4E-1 are both "0.4"."""
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def canonical(value: Any) -> str:
    """The restricted RFC 8785 form: floats refused, decimals as strings, keys by UTF-16 code units.

    Raises:
        ValueError: a float, a lone surrogate, or a type JSON does not have.
    """
    if value is None or isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, Decimal):
        return json.dumps(plain_decimal(value))
    if isinstance(value, str):
        value.encode("utf-8")  # a lone surrogate raises UnicodeEncodeError, a ValueError
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"
    raise ValueError(f"the canonical form holds no {type(value).__name__} (found {value!r})")


def digest(value: Any) -> str:
    """`sha256:` over the UTF-8 bytes of the canonical form."""
    return "sha256:" + hashlib.sha256(canonical(value).encode("utf-8")).hexdigest()


def dumps(value: Any) -> str:
    """The text form of result files: two-space indent, keys in the order given, shortest exact floats.

    Raises:
        ValueError: a number that is not finite.
    """
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def loads(text: str, *, where: str) -> Any:
    """Reads JSON, refusing NaN, infinities, integers beyond float64 and duplicate keys.

    Raises:
        AuditError: the text is not strict JSON; the message names the place.
    """

    def refuse(token: str) -> Any:
        raise AuditError(f"holds the token {token}", where=where, expected="null with a reason code", fix="write the file again")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entry: dict[str, Any] = {}
        for key, item in pairs:
            if key in entry:
                raise AuditError(f"holds the key {key!r} twice", where=where, expected="every key once", fix="remove one of the two")
            entry[key] = item
        return entry

    def number(token: str) -> float:
        value = float(token)
        if not math.isfinite(value):
            found = f"holds a number that is not finite, {clipped(token, 40)}"
            raise AuditError(found, where=where, expected="a finite number", fix="write the file again")
        return value

    def integer(token: str) -> int:
        number(token)  # what no float64 holds cannot be computed with; some integers are too long even to be read
        return int(token)

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=unique, parse_float=number, parse_int=integer)
    except (json.JSONDecodeError, RecursionError) as error:
        raise AuditError(f"is not JSON ({error})", where=where, expected="a whole JSON file", fix="restore it or write it again") from error


def load(path: Path) -> Any:
    """Reads a strict JSON file.

    Raises:
        AuditError: unreadable, not UTF-8, or not strict JSON.
    """
    try:
        return loads(path.read_text(encoding="utf-8"), where=str(path))
    except OSError as error:
        raise AuditError(f"cannot be read ({why(error)})", where=str(path), expected="a readable file", fix="check the path") from error
    except UnicodeDecodeError as error:
        raise AuditError("is not UTF-8 text", where=str(path), expected="a JSON file", fix="restore it or write it again") from error
