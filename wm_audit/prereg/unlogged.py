"""What ran minus what was promised, held against the log of deviations."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wm_audit.prereg.deviations import Deviation, written
from wm_audit.prereg.slice import Difference, differences, leaves


def beyond(promised: Mapping[str, Any], executed: Mapping[str, Any], log: Sequence[Deviation]) -> list[Difference]:
    """The differences that make a run no slice and that the log does not state whole; both maps as `forms.exact` gives them."""
    stated = [entry.field for entry in log]
    left = [field for field, *_ in unlogged(leaves(promised), leaves(executed), log)]
    return [
        item
        for item in differences(promised, executed)
        if not any(_touch(item.field, field) for field in stated) or any(_touch(item.field, field) for field in left)
    ]


def unlogged(promised: Mapping[str, Any], executed: Mapping[str, Any], log: Iterable[Deviation]) -> list[tuple[str, Any, Any]]:
    """Field, promised and executed value of every difference that no entry states; both maps by `slice.leaves`."""
    stated = {(entry.field, written(entry.planned), written(entry.done)) for entry in log}
    found = [(field, promised.get(field), executed.get(field)) for field in dict.fromkeys((*promised, *executed))]
    return [item for item in found if item[1] != item[2] and (item[0], written(item[1]), written(item[2])) not in stated]


def undone(executed: Mapping[str, Any], log: Sequence[Deviation]) -> list[Deviation]:
    """Entries that say something was done which was not."""
    return [entry for entry in log if written(executed.get(entry.field)) != written(entry.done)]


def _touch(one: str, two: str) -> bool:
    """Whether two fields are one, or one of them holds the other: `seeds` and `seeds[20]`."""
    return one == two or any(long.startswith((f"{short}.", f"{short}[")) for long, short in ((one, two), (two, one)))
