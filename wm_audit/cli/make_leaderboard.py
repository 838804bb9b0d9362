"""`python -m experiments.make_leaderboard`: LEADERBOARD.md, and what the README quotes, from the results files."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wm_audit.board import results
from wm_audit.board.leaderboard import leaderboard
from wm_audit.board.terminal import terminal
from wm_audit.board.words import counted
from wm_audit.cli.frame import ROOT, Parser, guarded, say, shown
from wm_audit.core import AuditError
from wm_audit.core.files import write_atomic

_DESCRIPTION = """Renders every results file of a folder into one LEADERBOARD.md, and fills the blocks of the README above the folder that
quote one of them (<!-- FOLDER/results_NAME.json --> ... <!-- end -->). The same files give the same bytes;
--check compares instead of writing, and ends with 1 where a page is not what the results say."""
_BLOCK = re.compile(r"(?P<open><!-- (?P<folder>[\w./-]+)/(?P<name>results_\w+\.json)[^>]*-->)\n.*?(?P<close><!-- end -->)", re.DOTALL)

_EXAMPLES = """  python -m experiments.make_leaderboard
  python -m experiments.make_leaderboard --check
  python -m experiments.make_leaderboard --folder scratch     a board of your own runs"""


def main(argv: Sequence[str] | None = None) -> int:
    """Parses the command line and renders; returns the exit code."""
    parser = Parser("make_leaderboard", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("--folder", type=Path, default=ROOT / "leaderboard", help="where the results files lie (default: leaderboard)")
    parser.add_argument("--check", action="store_true", help="compare with the board that is there; write nothing")
    options = parser.parse_args(argv)
    return guarded(lambda: _make(options.folder, check=options.check))


def results_in(folder: Path) -> list[Path]:
    """The results files of a folder, in the order of their names."""
    return sorted(folder.glob("results_*.json"))


def pages(folder: Path) -> dict[Path, str]:
    """Every page that is generated from the results files of a folder, with its text.

    Raises:
        AuditError: a results file was changed, or the README cannot be read or quotes one that is not there.
    """
    documents = [(path.name, results.read(path)) for path in results_in(folder)]
    made = {folder / "LEADERBOARD.md": leaderboard(documents)}
    readme = folder.parent / "README.md"
    if readme.is_file():
        made[readme] = _quoted(_text(readme), folder, dict(documents), where=str(readme))
    return made


def _text(page: Path) -> str:
    try:
        return page.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise AuditError(f"cannot be read ({error.strerror})", where=str(page), expected="a page", fix="make it readable") from error
    except UnicodeDecodeError as error:
        what, fix = f"is not UTF-8 text (byte {error.start})", "save it as UTF-8, or move it away"
        raise AuditError(what, where=str(page), expected="a Markdown page in UTF-8", fix=fix) from error


def _make(folder: Path, *, check: bool) -> int:
    paths = results_in(folder)
    if not paths:
        raise AuditError("holds no results_*.json", where=str(folder), expected="results files", fix="run an audit with --out in it")
    made = pages(folder)
    stale = [page for page, text in made.items() if not page.is_file() or page.read_bytes() != text.encode("utf-8")]
    if check:
        for page in stale:
            say(f"{shown(page)} is not what the results files say; fix: python -m experiments.make_leaderboard")
        return 1 if stale else 0
    for page in stale:
        write_atomic(page, made[page])
    say(f"{', '.join(shown(page) for page in made)}: as {counted(len(paths), 'results file')} {'says' if len(paths) == 1 else 'say'}")
    return 0


def _quoted(text: str, folder: Path, documents: Mapping[str, Mapping[str, Any]], *, where: str) -> str:
    """The page with every block that quotes a result of this folder filled with what the end of that run printed."""

    def fill(match: re.Match[str]) -> str:
        name = match["name"]
        if (folder.parent / match["folder"]).resolve() != folder.resolve():
            return match[0]
        if name not in documents:
            raise AuditError(f"quotes {name}", where=where, expected=f"one of {', '.join(documents)}", fix="correct the name")
        return f"{match['open']}\n```text\n{terminal(documents[name]).rstrip()}\n```\n{match['close']}"

    return _BLOCK.sub(fill, text)
