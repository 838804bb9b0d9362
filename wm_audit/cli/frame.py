"""What every command shares: one line for an error, the project's exit codes, and where files lie."""

import argparse
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from wm_audit.core import AuditError
from wm_audit.core.shown_text import printable

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
        self.exit(3, f"{self.prog}: {message}; fix: see --help\n")


def say(text: str) -> None:
    """Lines on standard output; a name that holds an escape sequence shows it and does not send it."""
    sys.stdout.write("\n".join(map(printable, text.split("\n"))) + "\n")
    sys.stdout.flush()


def guarded(command: Callable[[], int]) -> int:
    """Runs a command; an error a person can act on becomes one line on standard error and its exit code."""
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
    except BrokenPipeError:
        return 0


def shown(path: Path) -> str:
    """A path as people would type it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
