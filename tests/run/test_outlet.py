"""What a run says never stops what it does."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import pytest

from wm_audit.run.outlet import Outlet, outlets
from wm_audit.run.progress import Progress

Contents = Callable[[Path], dict[str, bytes]]

SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
import grid_toy
from wm_audit.run.grid import run_grid
from wm_audit.run.store import Store

if __name__ == "__main__":
    with Store(Path({folder!r}), grid_toy.STAMP) as store:
        outcome = run_grid(grid_toy.cells(), store, grid_toy.prints, jobs=2)
    sys.exit(outcome.exit_code)
"""


def full() -> TextIO:
    """A stream whose buffered text fails when it is sent."""
    return Path("/dev/full").open("w", encoding="utf-8")


def unread() -> TextIO:
    """A pipe that nobody reads."""
    here, there = os.pipe()
    os.close(here)
    return os.fdopen(there, "w", encoding="utf-8")


def closed() -> TextIO:
    """A stream that was closed."""
    stream = io.StringIO()
    stream.close()
    return stream


needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        pytest.param(full, "No space left", marks=needs_full),
        (unread, "Broken pipe"),
        (closed, "closed file"),
        (lambda: None, "it is closed"),
    ],
)
def test_what_cannot_be_written_is_lost_and_said(make: Callable[[], TextIO | None], why: str) -> None:
    stream = make()
    outlet = Outlet(stream)
    assert outlet.lost is None
    for _ in range(2):
        assert outlet.write("text\n") == 5
        outlet.flush()
        assert outlet.buffer.write(b"bytes") == 5
    assert why in str(outlet.lost)
    assert not outlet.isatty()
    if stream is not None:
        stream.close()  # what it still holds goes nowhere, and raises nothing


def test_nothing_said_is_nothing_lost() -> None:
    outlet = Outlet(None)
    outlet.write("")
    outlet.flush()
    assert outlet.lost is None


@pytest.mark.parametrize(("encoding", "shown"), [("ascii", "\\u03c1 +0.1"), ("latin-1", "\\u03c1 +0.1"), ("utf-8", "ρ +0.1")])
def test_letters_that_the_stream_does_not_have_become_codes(encoding: str, shown: str) -> None:
    raw = io.BytesIO()
    outlet = Outlet(io.TextIOWrapper(raw, encoding=encoding))
    outlet.write("ρ +0.1")
    outlet.write("\udcff" if encoding == "utf-8" else "")  # part of a file's name that is no text
    outlet.flush()
    assert raw.getvalue().decode(encoding) == shown + ("\\udcff" if encoding == "utf-8" else "")
    assert outlet.lost is None


def test_standard_streams_are_given_back() -> None:
    before = sys.stdout, sys.stderr

    def fail() -> None:
        with outlets():
            assert sys.stdout is not before[0]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (sys.stdout, sys.stderr) == before


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_that_nobody_hears_goes_on(terminal: bool) -> None:
    with unread() as stream, Progress(2, out=stream, terminal=terminal) as shown:
        shown.now("group")
        shown.done("cell a")
        shown.failed("cell b", "it broke")


@pytest.mark.parametrize("place", [pytest.param(">/dev/full 2>/dev/full", marks=needs_full), ">&- 2>&-"])
def test_a_run_that_cannot_speak_makes_every_cell(tmp_path: Path, place: str, contents: Contents, finished: Path) -> None:
    """The cells print too: a model of somebody else may."""
    script = tmp_path / "toy_run.py"
    script.write_text(SCRIPT.format(here=str(Path(__file__).parent), folder=str(tmp_path / "cells")))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    line = f'"{sys.executable}" "{script}" {place}'
    done = subprocess.run(["sh", "-c", line], env=environment, check=False, timeout=60)
    assert done.returncode == 0
    assert contents(tmp_path / "cells") == contents(finished)
