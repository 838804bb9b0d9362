"""Commands. `wm-audit NAME ...` and `python -m experiments.NAME ...` are the same."""

import importlib
import sys
from collections.abc import Sequence

from wm_audit.cli.frame import guarded

COMMANDS = {
    "run_audit": "run the audit, from data to verdicts",
    "merge": "join the records of shards into one results file",
    "analyse": "judge rows that were measured elsewhere",
    "lock": "fix a promise, read it in sentences, check what speaks for its time",
    "verify": "check a results file: ten lines, nothing is trained",
    "power": "how often a design decides, by simulation",
    "make_leaderboard": "render the results files into LEADERBOARD.md",
}


def main(argv: Sequence[str] | None = None) -> int:
    """The entry point `wm-audit`: hands over to the command that is named."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments[0].replace("-", "_") if arguments else ""
    if name in COMMANDS:
        return int(importlib.import_module(f"wm_audit.cli.{name}").main(arguments[1:]))
    lines = "\n".join(f"  {command:<18} {what}" for command, what in COMMANDS.items())
    asked_for_help = not arguments or arguments[0] in ("-h", "--help")

    def usage() -> int:
        stream = sys.stdout if asked_for_help else sys.stderr
        stream.write(f"usage: wm-audit COMMAND [ARGUMENT ...]\n{lines}\nwm-audit COMMAND --help teaches the command\n")
        return 0 if asked_for_help else 3

    return guarded(usage)
