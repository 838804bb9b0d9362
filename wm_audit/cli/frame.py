"""What every command shares: one line for an error, the project's exit codes, and where files lie."""

import argparse
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from wm_audit.core import AuditError
from wm_audit.core.shown_text import printable
from wm_audit.run.outlet import outlets

ROOT = Path(__file__).resolve().parents[2]
"""The clone: configurations and tracked results lie under it."""

SCRATCH = Path("scratch")
"""Where results go unless --out says otherwise; ignored by git."""

EXIT_CODES = "exit codes: 0 done; 1 the answer is no; 2 bad or incomplete files, failed cells; 3 wrong usage; 130 interrupted, resumable"


class Parser(argparse.ArgumentParser):
    """An argument parser whose usage errors are one line and end with exit code 3."""

    def __init__(self, name: str, description: str, examples: str) -> None:
        super().__init__(
            prog=f"python -m experiments.{name}",
            description=description,
            epilog=f"examples:\n{examples}\n\n{EXIT_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Says what is wrong and where help is."""
        with outlets():
            sys.stderr.write(f"{self.prog}: {message}; fix: see --help\n")
        raise SystemExit(3)

    def print_help(self, file: Any = None) -> None:
        """Help is an answer like any other: where it cannot be written, the exit code says so."""
        if file is not None:
            super().print_help(file)
        elif code := guarded(self._help):
            raise SystemExit(code)

    def _help(self) -> int:
        say(self.format_help().rstrip("\n"))
        return 0


def say(text: str) -> None:
    """Lines on standard output; a name that holds an escape sequence shows it and does not send it."""
    sys.stdout.write("\n".join(map(printable, text.split("\n"))) + "\n")
    sys.stdout.flush()


def guarded(command: Callable[[], int]) -> int:
    """Runs a command; an error a person can act on becomes one line on standard error and its exit code.

    A standard output that is closed, full or no longer read stops nothing: the work goes on, and the exit code is 2 at least.
    Progress that standard error does not take is lost and changes nothing.
    """
    with outlets() as out:
        code = _coded(command)
        out.flush()
        if out.lost:
            fix = "give it a place that takes everything; files that the command wrote are whole"
            sys.stderr.write(f"error: standard output: cannot be written ({out.lost}); fix: {fix}\n")
            code = max(code, 2)
    return code


def _coded(command: Callable[[], int]) -> int:
    if platform.system() not in ("Linux", "Darwin"):
        sys.stderr.write("wm_audit runs on Linux and macOS; elsewhere use a container or WSL\n")
        return 2
    try:
        return command()
    except AuditError as error:
        sys.stderr.write(f"error: {error.line()}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; what was finished is saved: add --resume to go on\n")
        return 130


def shown(path: Path) -> str:
    """A path as people would type it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
