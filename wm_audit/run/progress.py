"""How far a run is: a bar with the time left on a terminal, plain lines anywhere else; always on stderr, never in a result."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from tqdm import tqdm

from wm_audit.run.outlet import Outlet

LINE_SECONDS = 5.0


class Progress:
    """Counts cells and names the current one."""

    def __init__(
        self,
        total: int,
        *,
        kept: int = 0,
        unit: str = "cell",
        out: TextIO | None = None,
        terminal: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is shown before the first event.

        Args:
            total: cells of this run, the kept ones included.
            kept: cells whose record already stands; they do not count for the speed.
            unit: what is counted, in the singular.
            out: where to write; stderr by default.
            terminal: whether `out` can redraw a line; asked of `out` by default.
            clock: seconds, for tests.
        """
        self._out = Outlet(sys.stderr if out is None else out)  # a run is more than its progress: it goes on where nobody listens
        self._clock = clock
        self._total, self._kept, self._done, self._failed = total, kept, kept, 0
        self._began, self._spoken = clock(), float("-inf")
        self._now, self._unit = "", unit
        redraws = self._out.isatty() if terminal is None else terminal
        self._bar = tqdm(total=total, initial=kept, unit=unit, file=self._out, dynamic_ncols=True) if redraws else None

    def __enter__(self) -> Self:
        """The progress of one run."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leaves the last state on the screen."""
        if self._bar is not None:
            self._bar.close()

    def now(self, what: str) -> None:
        """Names what is being worked on."""
        self._now = what
        if self._bar is not None:
            self._bar.set_postfix_str(what)
        elif self._clock() - self._spoken >= LINE_SECONDS:
            self._line()

    def done(self, cell: str) -> None:
        """One cell more."""
        self._now = cell
        self._done += 1
        self._advance()

    def failed(self, cell: str, why: str) -> None:
        """One cell that could not be made."""
        self._failed += 1
        self.say(f"FAILED {cell}: {why}")
        self._advance()

    def say(self, line: str) -> None:
        """A line that stays."""
        if self._bar is not None:
            self._bar.clear()
        self._write(line)
        if self._bar is not None:
            self._bar.refresh()

    def _advance(self) -> None:
        if self._bar is None:
            self._line()
        else:
            self._bar.set_postfix_str(self._now, refresh=False)
            self._bar.update(1)

    def _line(self) -> None:
        self._spoken = self._clock()
        failed = f", {self._failed} failed" if self._failed else ""
        self._write(f"{self._done}/{self._total} {self._unit}s{failed}, {self._left()}, {self._now}")

    def _left(self) -> str:
        """The time left, from the cells that this run has finished itself."""
        finished = self._done - self._kept + self._failed
        spent = self._clock() - self._began
        left = self._total - self._done - self._failed
        if finished == 0:
            return "time left not known yet"
        return f"about {clock_text(spent / finished * left)} left"

    def _write(self, line: str) -> None:
        self._out.write(line + "\n")
        self._out.flush()


def clock_text(seconds: float) -> str:
    """Hours, minutes and seconds: 3725 -> "1:02:05"."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
