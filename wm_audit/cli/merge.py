"""`python -m experiments.merge`: shards become one results file."""

from collections.abc import Sequence
from pathlib import Path

from wm_audit.board import results
from wm_audit.board.terminal import terminal
from wm_audit.board.words import counted
from wm_audit.cli.frame import ROOT, Parser, guarded, say, shown
from wm_audit.instruments.audit.decide import conclude

_DESCRIPTION = """Joins the .cells folders of shards, judges the rows and writes one results file. Refuses folders that were run
under different promises, configurations or environments, one cell with two contents, and cells nobody planned. Missing
cells make the result partial (exit code 2) and are named."""
_EXAMPLES = "  python -m experiments.merge shard0.cells shard1.cells --out leaderboard/results_pixel_nav.json"


def main(argv: Sequence[str] | None = None) -> int:
    """Parses the command line and merges; returns the exit code."""
    parser = Parser("merge", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("folders", nargs="+", type=Path, metavar="CELLS_DIR", help="folders of records that runs wrote")
    parser.add_argument("--out", type=Path, required=True, metavar="RESULT.json", help="the results file")
    parser.add_argument("--configs", type=Path, default=ROOT / "configs", help="where locked promises lie (default: configs)")
    options = parser.parse_args(argv)
    return guarded(lambda: _merge(options.folders, options.out, options.configs))


def _merge(folders: list[Path], out: Path, configs: Path) -> int:
    document = conclude(folders, configs=configs)
    results.write(out, document)
    say(f"{terminal(document)}\n{counted(len(document['rows']), 'row')} from {counted(len(folders), 'folder')}; results in {shown(out)}")
    return 2 if document["missing"] else 0
