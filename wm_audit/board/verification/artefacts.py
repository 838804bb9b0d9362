"""Check 8: the pages that quote the results say what the results say, byte for byte."""

from collections.abc import Callable, Mapping
from itertools import zip_longest
from pathlib import Path

from wm_audit.board.verification.check import Check, Place, cannot, judged
from wm_audit.board.verification.compare import text
from wm_audit.board.verification.subject import Subject
from wm_audit.core import AuditError

NAME = "artefacts"
Pages = Callable[[Path], Mapping[Path, str]]
"""From a folder of results files to every page that is generated from them, with its text."""


def artefacts(subject: Subject, pages: Pages) -> Check:
    """Regenerates every page of the folder and compares."""
    folder = subject.path.resolve().parent
    if not (folder / "LEADERBOARD.md").is_file():
        return cannot(NAME, "no board stands beside the file; python -m experiments.make_leaderboard --folder FOLDER writes one")
    try:
        made = pages(folder)
    except AuditError as error:
        return cannot(NAME, f"the pages cannot be regenerated from the files of the folder: {error.line()}")
    places = [place for page, expected in made.items() for place in _compared(page, expected)]
    names = ", ".join(page.name for page in made)
    return judged(NAME, places, good=f"{names} regenerate byte for byte", bad="a page does not say what the results say")


def _compared(page: Path, expected: str) -> list[Place]:
    """The first line of a page that differs, if any."""
    try:
        found = page.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return [Place(page.name, "no readable page", "the page that the results give")]
    if found == expected:
        return []
    pairs = enumerate(zip_longest(found.split("\n"), expected.split("\n")), start=1)
    number, (one, two) = next((number, pair) for number, pair in pairs if pair[0] != pair[1])
    return [Place(f"{page.name} line {number}", *("the end of the page" if line is None else text(line) for line in (one, two)))]
