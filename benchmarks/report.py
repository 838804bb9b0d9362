"""How a benchmark measures and what it prints."""

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Report(NamedTuple):
    """One benchmark's table: what was asked, one row for each peer, and what must be known to read it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]

    def markdown(self) -> str:
        """A section of RESULTS.md."""
        head = f"| {' | '.join(self.columns)} |\n|{'---|' * len(self.columns)}"
        body = "\n".join(f"| {' | '.join(row)} |" for row in self.rows)
        return f"## {self.title}\n\n{head}\n{body}\n\n" + "\n".join(f"- {note}" for note in self.notes) + "\n"


def seconds(function: Callable[[], object], calls: int = 1) -> float:
    """Processor seconds of one call: what else the machine does is not counted."""
    start = time.process_time()
    for _ in range(calls):
        function()
    return (time.process_time() - start) / calls


def interleaved(peers: Mapping[str, tuple[Callable[[], object], int]], rounds: int) -> dict[str, float]:
    """Median processor seconds of one call of every peer, measured in turns so that a slow minute meets all of them.

    Args:
        peers: name -> function and how many calls make one measurement.
        rounds: measurements of each.
    """
    found: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        for name, (function, calls) in peers.items():
            found[name].append(seconds(function, calls))
    return {name: statistics.median(times) for name, times in found.items()}


def machine() -> str:
    """Processor, system and interpreter, in one line."""
    names = [line.partition(":")[2].strip() for line in _cpuinfo() if line.startswith("model name")]
    processor = names[0] if names else platform.processor() or platform.machine()
    return f"{processor}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def say(text: str) -> None:
    """Progress, beside the results."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
