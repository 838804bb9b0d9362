"""What a YAML file of the project may hold, written as literal data.

    STEPS = Fields({"steps": Whole(low=1), "rate": Exact(low="0", strict=True)}, optional=frozenset({"rate"}))

Every type is closed: what is not named here is refused by `strict_yaml`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Text:
    """A non-empty text: one of `choices` where there are any, matching `pattern` as a whole where there is one."""

    choices: tuple[str, ...] = ()
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Flag:
    """`true` or `false`, spelled exactly so."""


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer in decimal digits, low <= value <= high."""

    low: int | None = None
    high: int | None = None

    def holds(self, value: Decimal | int) -> bool:
        """Whether the value lies within the bounds."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


@dataclass(frozen=True, slots=True)
class Exact:
    """A decimal number in plain notation, kept exactly as `Decimal`.

    Attributes:
        low, high: bounds as decimal text, or None.
        strict: the bounds themselves are refused.
    """

    low: str | None = None
    high: str | None = None
    strict: bool = False

    def holds(self, value: Decimal | int) -> bool:
        """Whether the value lies within the bounds."""
        if self.strict:
            return (self.low is None or value > Decimal(self.low)) and (self.high is None or value < Decimal(self.high))
        return (self.low is None or value >= Decimal(self.low)) and (self.high is None or value <= Decimal(self.high))


@dataclass(frozen=True, slots=True)
class Scalar:
    """A setting whose type only its owner knows: a flag, an integer, a decimal or a text; anything ambiguous is refused."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of one kind of thing; `distinct` refuses the same thing twice."""

    of: "Schema"
    at_least: int = 0
    at_most: int | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Fields:
    """A map whose keys are all known; those in `optional` may be absent."""

    of: "Mapping[str, Schema]"
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Named:
    """A map from free names (matching `pattern` as a whole) to one kind of thing."""

    of: "Schema"
    pattern: str = r"[A-Za-z][A-Za-z0-9_.\-/]*"
    at_least: int = 0


@dataclass(frozen=True, slots=True)
class Maybe:
    """The thing, or the word `null`."""

    of: "Schema"


Schema = Text | Flag | Whole | Exact | Scalar | Items | Fields | Named | Maybe


def partial(schema: Schema) -> Schema:
    """The same schema with every field of every map optional and no least number of things: what an overlay of such a file may hold."""
    if isinstance(schema, Fields):
        return Fields({name: partial(item) for name, item in schema.of.items()}, frozenset(schema.of))
    if isinstance(schema, Named):
        return Named(partial(schema.of), schema.pattern)
    if isinstance(schema, Maybe):
        return Maybe(partial(schema.of))
    return schema


def describe(schema: Schema) -> str:
    """The schema in words, for messages."""
    if isinstance(schema, Text):
        return "one of " + ", ".join(schema.choices) if schema.choices else "a text"
    if isinstance(schema, Whole | Exact):
        kind = "an integer" if isinstance(schema, Whole) else "a decimal number"
        return kind + _bounds(schema)
    if isinstance(schema, Items):
        return f"a list, each item {describe(schema.of)}"
    if isinstance(schema, Maybe):
        return f"{describe(schema.of)}, or null"
    words = {Flag: "true or false", Scalar: "true, false, a number or a text", Fields: "a map of fields", Named: "a map of names"}
    return words[type(schema)]


def _bounds(schema: Whole | Exact) -> str:
    strict = isinstance(schema, Exact) and schema.strict
    low = "" if schema.low is None else f"{'above' if strict else 'at least'} {schema.low}"
    high = "" if schema.high is None else f"{'below' if strict else 'at most'} {schema.high}"
    parts = [part for part in (low, high) if part]
    return " " + " and ".join(parts) if parts else ""
