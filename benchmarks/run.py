"""`python -m benchmarks.run`: every benchmark in a process of its own, one after another; writes RESULTS.md."""

import os
import subprocess
import sys
from pathlib import Path

import torch

from benchmarks.report import machine, say

NAMES = ("statistics", "planning", "training")
FOLDER = Path(__file__).parent
HEAD = """# Speed

Written by `make bench`. One core; processor seconds, so that other work on the machine counts little; medians of interleaved rounds.
"""


def main() -> int:
    """Runs every benchmark in a process of its own and writes RESULTS.md, or leaves it where one fails."""
    sections = [HEAD, f"Machine: {machine()}, torch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()}).\n"]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    for name in NAMES:
        say(f"== {name}")
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}"], stdout=subprocess.PIPE, text=True, check=False, env=os.environ | threads
        )
        if done.returncode:
            say(f"benchmarks/{name}.py failed; RESULTS.md stays as it was")
            return done.returncode
        sections.append(done.stdout)
    text = "\n".join(sections)
    (FOLDER / "RESULTS.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
