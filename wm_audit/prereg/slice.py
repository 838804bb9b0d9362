"""A run is a slice of the promise: it may select and shrink, and change nothing else."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wm_audit.prereg.strict_yaml import nearest

Relation = Literal["slice", "equal"]

SELECTED = ("environments", "capacities", "seeds", "arms", "levers")
"""Fields of which a run may take a part."""

BUDGETS = (
    "collection.steps",
    "training.steps",
    "training.warmup",
    "planning.candidates",
    "planning.elites",
    "planning.iterations",
    "evaluation.starts",
    "evaluation.segments",
    "evaluation.probe_states",
    "evaluation.probe_actions",
    "evaluation.frames",
    "evaluation.clips",
    "evaluation.clip_components",
    "evaluation.filter_banks",
    "statistics.resamples",
    "statistics.permutations",
)
"""Fields of which a run may have less."""

SWITCHES = ("training.compiled",)
"""Fields that a run may switch off: how fast it computes, not what; records say which it was, and are never mixed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which a run is not a slice: what it has, what the promise allows, what to write."""

    field: str
    found: Any
    allowed: str
    fix: str


def relation(promise: Mapping[str, Any], executed: Mapping[str, Any]) -> Relation:
    """`equal` where every field is the promised one, otherwise `slice`; only meaningful where `differences` finds none."""
    return "equal" if promise == executed else "slice"


def differences(promise: Mapping[str, Any], executed: Mapping[str, Any], path: str = "") -> Iterator[Difference]:
    """Every field in which `executed` goes beyond `promise`, in the promise's order; both in the same form (`forms.exact`)."""
    for name in promise:
        field = f"{path}.{name}" if path else name
        if name not in executed:
            yield Difference(field, "nothing", f"{promise[name]}", "add the field")
        elif field in SELECTED:
            yield from _selected(field, promise[name], executed[name])
        elif field in BUDGETS:
            yield from _budget(field, promise[name], executed[name])
        elif field not in SWITCHES or executed[name] is not False:
            yield from _fixed(field, promise[name], executed[name])
    for name in executed:
        if name not in promise:
            yield Difference(f"{path}.{name}" if path else name, executed[name], "no such field", nearest(name, list(promise)))


def _selected(field: str, promised: Any, found: Any) -> Iterator[Difference]:
    """Environments by name with their settings unchanged; everything else a part of the list."""
    if isinstance(promised, Mapping) and isinstance(found, Mapping):
        for name, settings in found.items():
            if name not in promised:
                yield Difference(f"{field}.{name}", name, f"one of {', '.join(promised)}", nearest(name, list(promised)))
            else:
                yield from _fixed(f"{field}.{name}", promised[name], settings)
        return
    if not isinstance(promised, list) or not isinstance(found, list):
        yield Difference(field, found, f"a part of {promised}", "select from the promise")
        return
    for index, item in enumerate(found):
        if item not in promised:
            yield Difference(f"{field}[{index}]", item, f"one of {promised}", "take it out, or copy the promise and name the copy")


def _budget(field: str, promised: Any, found: Any) -> Iterator[Difference]:
    if isinstance(found, bool) or not isinstance(found, int) or found > promised:
        yield Difference(field, found, f"at most {promised}", f"write at most {promised}")


def _fixed(field: str, promised: Any, found: Any) -> Iterator[Difference]:
    """The promised value itself; maps are compared field by field, so that the difference has its exact name."""
    if isinstance(promised, Mapping) and isinstance(found, Mapping):
        yield from differences(promised, found, field)
    elif isinstance(promised, list) and isinstance(found, list) and len(promised) == len(found):
        for index, pair in enumerate(zip(promised, found, strict=True)):
            yield from _fixed(f"{field}[{index}]", *pair)
    elif type(promised) is not type(found) or promised != found:
        yield Difference(field, found, f"{promised}, as promised", "take the field out, or copy the promise and name the copy")


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Every single value of a nested map by its path, lists as a whole where they hold no maps: `{"training.steps": 200000, ...}`."""
    if isinstance(value, Mapping):
        named = [(f"{path}.{name}" if path else name, item) for name, item in value.items()]
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        named = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    else:
        return {path: value}
    return {place: leaf for name, item in named for place, leaf in leaves(item, name).items()}
