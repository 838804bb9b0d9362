"""One scalar of a YAML file, read as the schema wants it or refused: nothing that YAML 1.1 reads in its own way passes as something else.

YAML 1.1 takes `no` for false, `012` for ten, `1:30` for ninety, `1_000` for a thousand and `2026-11-07` for a date, and leaves `1e-3`
and `200k` text. Each is refused with what was read and what to write instead.
"""

import re
from decimal import Decimal
from typing import Any

import yaml

from wm_audit.core.strict_json import plain_decimal
from wm_audit.prereg.schema import Exact, Flag, Scalar, Text, Whole, describe

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,30}")
_EXACT = re.compile(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?")
_SCIENTIFIC = re.compile(r"([-+]?)([0-9][0-9_]*)?(\.[0-9_]*)?([eE][-+]?[0-9]{1,2})?")
_SUFFIXED = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?)\s*([kKM])")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_THOUSANDS = {"k": 1000, "K": 1000, "M": 1_000_000}
_TRUE = frozenset({"true", "yes", "on", "y"})
_FALSE = frozenset({"false", "no", "off", "n"})
_CONSTRUCT = yaml.constructor.SafeConstructor()


class MisreadError(Exception):
    """A scalar that is not what the schema wants: what was read, what was wanted, what to write."""

    def __init__(self, found: str, expected: str, fix: str) -> None:
        self.found, self.expected, self.fix = found, expected, fix
        super().__init__(f"{found}; expected {expected}; {fix}")


def read_scalar(node: yaml.ScalarNode, schema: Text | Flag | Whole | Exact | Scalar) -> Any:
    """The scalar as bool, int, Decimal or str, as the schema wants it.

    Raises:
        MisreadError: it is something else, or outside the schema's bounds.
    """
    if isinstance(schema, Text):
        return _text(node, schema)
    if isinstance(schema, Scalar):
        return _any(node)
    value = _flag(node) if isinstance(schema, Flag) else _number(node, schema)
    if value is None:
        raise MisreadError(found(node), describe(schema), _suggest(node, schema))
    return value


def found(node: yaml.ScalarNode) -> str:
    """What stands there, and what YAML 1.1 takes it for where that is something else."""
    raw, kind = node.value, node.tag.rpartition(":")[2]
    if node.style is not None or (kind == "str" and not any(letter.isdigit() for letter in raw)):
        return f"the text {raw!r}"
    if kind == "null":
        return f"{raw or 'nothing'}, which YAML reads as null" if raw else "nothing"
    if kind == "timestamp":
        return f"{raw}, which YAML 1.1 reads as a date"
    if kind == "str":
        return f"{raw}, which YAML 1.1 reads as text"
    meaning = _meaning(node)
    return raw if meaning in ("", raw) else f"{raw}, which YAML 1.1 reads as {meaning}"


def _meaning(node: yaml.ScalarNode) -> str:
    """What YAML 1.1 makes of a flag, an integer or a float; empty where it is none of them."""
    kind = node.tag.rpartition(":")[2]
    if kind == "bool":
        return str(_CONSTRUCT.construct_yaml_bool(node)).lower()
    try:
        if kind == "int":
            return str(_CONSTRUCT.construct_yaml_int(node))
        return str(_CONSTRUCT.construct_yaml_float(node)) if kind == "float" else ""
    except ValueError:
        return ""


def _flag(node: yaml.ScalarNode) -> bool | None:
    """True or false, or None where the spelling is another."""
    return {"true": True, "false": False}.get(node.value) if node.style is None else None


def _number(node: yaml.ScalarNode, schema: Whole | Exact) -> int | Decimal | None:
    """The number, or None where it is not written in plain decimal notation.

    Raises:
        MisreadError: it is a number outside the bounds.
    """
    form = _WHOLE if isinstance(schema, Whole) else _EXACT
    if node.style is not None or not form.fullmatch(node.value):
        return None
    value = int(node.value) if isinstance(schema, Whole) else _exact(node.value)
    if not schema.holds(value):
        raise MisreadError(node.value, describe(schema), "write a number within these bounds")
    return value


def _text(node: yaml.ScalarNode, schema: Text) -> str:
    """The text, where it is one without doubt.

    Raises:
        MisreadError: it is not, or it is none of the choices.
    """
    raw: str = node.value
    if node.style is None and (node.tag.rpartition(":")[2] != "str" or _numeric(raw) is not None):
        fix = "write a text" if not raw else f'write "{raw}" in quotes if a text is meant'
        raise MisreadError(found(node), describe(schema), fix)
    if not raw.strip() or any("\ud800" <= letter <= "\udfff" for letter in raw):
        raise MisreadError(f"the text {raw!r}", describe(schema), "write at least one character, and only whole ones")
    if schema.choices and raw not in schema.choices:
        raise MisreadError(f"the text {raw!r}", describe(schema), "write one of them")
    if schema.pattern and not re.fullmatch(schema.pattern, raw):
        raise MisreadError(f"the text {raw!r}", f"a text of the form {schema.pattern}", "write it in that form")
    return raw


def _any(node: yaml.ScalarNode) -> bool | int | Decimal | str:
    """A flag, an integer, a decimal, a name, or any quoted text.

    Raises:
        MisreadError: it could be more than one of them.
    """
    raw: str = node.value
    if node.style is not None:
        return _text(node, Text())
    if raw in ("true", "false"):
        return raw == "true"
    if _WHOLE.fullmatch(raw):
        return int(raw)
    if _EXACT.fullmatch(raw):
        exact = _exact(raw)
        return int(exact) if exact == exact.to_integral_value() else exact  # 1 and 1.0 are one setting
    if _NAME.fullmatch(raw) and raw.lower() not in _TRUE | _FALSE | {"null"}:
        return raw
    number = _numeric(raw)
    quoted = f'"{raw}" in quotes if a text is meant'
    raise MisreadError(
        found(node), describe(Scalar()), f"write {quoted}" if number is None else f"write {plain_decimal(number)}, or {quoted}"
    )


def _exact(raw: str) -> Decimal:
    """The decimal, without a minus before zero."""
    return Decimal(raw) or Decimal(0)


def _numeric(raw: str) -> Decimal | None:
    """The number that scientific notation, underscores or a leading plus, point or zero stand for; None where it is no number."""
    match = _SCIENTIFIC.fullmatch(raw)
    if match is None or not any(letter.isdigit() for letter in (match[2] or "") + (match[3] or "")):
        return None
    return Decimal(raw.replace("_", ""))


def _suggest(node: yaml.ScalarNode, schema: Flag | Whole | Exact) -> str:
    """What to write instead."""
    raw = node.value.strip()
    if isinstance(schema, Flag):
        return "write " + ("true" if raw.lower() in _TRUE else "false" if raw.lower() in _FALSE else "true or false")
    suffixed = _SUFFIXED.fullmatch(raw)
    number = Decimal(suffixed[1]) * _THOUSANDS[suffixed[2]] if suffixed else _numeric(raw)
    if number is not None and len(raw) <= 30 and not (isinstance(schema, Whole) and number != number.to_integral_value()):
        plain = plain_decimal(number)
        octal = _meaning(node) if node.style is None and re.fullmatch(r"[-+]?0[0-7_]+", raw) else plain
        return f"write {plain}" + ("" if octal == plain else f", or {octal} if octal was meant")
    if node.style is None and node.tag.endswith(":int") and number is None:
        return f"write {_meaning(node)}"
    if "," in raw:
        return f"write [{raw}] where a list is allowed, here one number"
    return f"write {describe(schema)}, in plain digits and at most 30 of them"
