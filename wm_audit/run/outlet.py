"""Standard output and error that the work outlives: closed, full, no longer read, or of an alphabet without our letters."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast


class Outlet:
    """A text stream that never raises: what cannot be written is lost, and `lost` says why; a strange letter is written as its code."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.lost: str | None = None

    def write(self, text: str) -> int:
        """Writes what can be written; gives the length of the text, as streams do."""
        if text:
            self._try(lambda stream: stream.write(_speakable(text, stream)))
        return len(text)

    def flush(self) -> None:
        """Sends what was written on its way."""
        if self._stream is not None:
            self._try(lambda stream: stream.flush())

    def isatty(self) -> bool:
        """Whether a line can be redrawn."""
        return self._stream is not None and not self._stream.closed and self._stream.isatty()

    @property
    def buffer(self) -> "_Bytes":
        """Takes bytes, as the buffer of a text stream does."""
        return _Bytes(self)

    def write_bytes(self, data: bytes) -> int:
        """Writes bytes after the text that came before them."""
        self.flush()
        self._try(lambda stream: stream.buffer.write(data))
        return len(data)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the stream's own."""
        return getattr(self._stream, name)

    def _try(self, act: Any) -> None:
        if self.lost is not None:
            return
        try:
            if self._stream is None:
                self.lost = "it is closed"
            else:
                act(self._stream)
        except (OSError, ValueError) as error:  # a closed file is a ValueError
            self.lost = (error.strerror if isinstance(error, OSError) else None) or str(error)
            self._drain()

    def _drain(self) -> None:
        """Lets the rest go nowhere: what the stream still holds would fail once more when the interpreter ends."""
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, cast("TextIO", self._stream).fileno())
            os.close(nowhere)
        except (OSError, ValueError):  # a stream in memory has no descriptor, and nothing ends with it
            return


class _Bytes:
    """The bytes' side of an outlet."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet

    def write(self, data: bytes) -> int:
        return self._outlet.write_bytes(data)

    def flush(self) -> None:
        self._outlet.flush()


@contextmanager
def outlets() -> Iterator[Outlet]:
    """Standard output and error are outlets inside; gives that of standard output."""
    _occupy()
    before = sys.stdout, sys.stderr
    out, error = Outlet(sys.stdout), Outlet(sys.stderr)
    sys.stdout, sys.stderr = cast("TextIO", out), cast("TextIO", error)
    try:
        yield out
    finally:
        out.flush()
        error.flush()
        sys.stdout, sys.stderr = before


def _occupy() -> None:
    """Opens nothing where a standard descriptor is closed: a file that took its number would be written into by whoever speaks."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free, which is this one


def _speakable(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text
