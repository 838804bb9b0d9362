"""The codes of missing numbers that a file holds, with their meanings: pages speak in sentences, files in codes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from wm_audit.board.view import View
from wm_audit.board.words import counted
from wm_audit.core import Reason

_CODES = frozenset(reason.value for reason in Reason)


def reason_codes(view: View) -> list[str]:
    """One line for each code that occurs in the environment's rows, statistics or verdicts, the most frequent first."""
    rows = [item.to_json() for row in view.rows for item in (row.outcome, *row.diagnostics.values())]
    counts = Counter([*_found(rows), *_found(view.statistics), *_found(view.verdicts)])
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"- `{code}` ({counted(count, 'time')}): {Reason(code).sentence}" for code, count in ranked]
    return ["### Reason codes in the file", "", *lines] if lines else []


def _found(value: Any) -> Iterator[str]:
    """Codes in members named `reason` or `..._reason`, at any depth."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, str) and (name == "reason" or name.endswith("_reason")) and item in _CODES:
                yield item
            yield from _found(item)
    elif isinstance(value, list):
        for item in value:
            yield from _found(item)
