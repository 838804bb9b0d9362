"""What compression saves: stored bytes beside the float model's, and the share of its numbers that is compressed."""

from collections.abc import Sequence
from statistics import fmean

from wm_audit.board.layout import markdown_table
from wm_audit.board.numbers import plain
from wm_audit.board.view import Capacity, View
from wm_audit.core import Row

_SAID = "Stored size, from weight files; and of all numbers on each path of the model, the share that is stored compressed."


def sizes(view: View) -> list[str]:
    """One line for each lever and capacity; nothing where no size was measured."""
    levers = [item["lever"] for item in view.statistics["compression"]]
    lines = [line for lever in levers for capacity in view.capacities if (line := _line(view, lever, capacity))]
    header = ["lever", "capacity", "stored / float", "bytes", "float bytes", "compressed share", "n"]
    return [_SAID, "", *markdown_table(header, lines, left=2)] if lines else []


def _line(view: View, lever: str, capacity: Capacity) -> list[str] | None:
    floats = {row.key.seed: row for row in view.floats(capacity)}
    twins = [row for row in view.twins(lever, capacity) if "size_bytes" in row.details and row.key.seed in floats]
    pairs = [(twin, floats[twin.key.seed]) for twin in twins if "size_bytes" in floats[twin.key.seed].details]
    if not pairs:
        return None
    stored, whole = (fmean(row.details["size_bytes"] for row in side) for side in zip(*pairs, strict=True))
    return [lever, "x".join(map(str, capacity)), plain(stored / whole), f"{stored:,.0f}", f"{whole:,.0f}", _shares(twins), str(len(pairs))]


def _shares(twins: Sequence[Row]) -> str:
    """Means over models, path by path."""
    found = [row.details.get("compressed_share", {}) for row in twins]
    paths = dict.fromkeys(path for shares in found for path in shares)
    means = {path: fmean(shares[path] for shares in found if path in shares) for path in paths}
    return ", ".join(f"{path} {100.0 * mean:.1f}%" for path, mean in means.items()) or "not recorded"
