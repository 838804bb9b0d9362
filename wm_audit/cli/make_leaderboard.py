"""`python -m experiments.make_leaderboard`: LEADERBOARD.md from the results files beside it."""

from collections.abc import Sequence
from pathlib import Path

from wm_audit.board import results
from wm_audit.board.leaderboard import leaderboard
from wm_audit.cli.frame import ROOT, Parser, guarded, say, shown
from wm_audit.core import AuditError
from wm_audit.core.files import write_atomic

_DESCRIPTION = """Renders every results file of a folder into one LEADERBOARD.md. The same files give the same bytes;
--check compares instead of writing, and says 1 where the board is not what the results say."""
_EXAMPLES = """  python -m experiments.make_leaderboard
  python -m experiments.make_leaderboard --check"""


def main(argv: Sequence[str] | None = None) -> int:
    """Parses the command line and renders; returns the exit code."""
    parser = Parser("make_leaderboard", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("--folder", type=Path, default=ROOT / "leaderboard", help="where the results files lie (default: leaderboard)")
    parser.add_argument("--check", action="store_true", help="compare with the board that is there; write nothing")
    options = parser.parse_args(argv)
    return guarded(lambda: _make(options.folder, check=options.check))


def _make(folder: Path, *, check: bool) -> int:
    paths = sorted(folder.glob("results_*.json"))
    if not paths:
        raise AuditError("holds no results_*.json", where=str(folder), expected="results files", fix="run an audit with --out in it")
    text = leaderboard([(path.name, results.read(path)) for path in paths])
    board = folder / "LEADERBOARD.md"
    if check:
        same = board.is_file() and board.read_text(encoding="utf-8") == text
        say(f"{shown(board)} {'is' if same else 'is not'} what {len(paths)} results files say")
        return 0 if same else 1
    write_atomic(board, text)
    say(f"{shown(board)} written from {len(paths)} results files")
    return 0
