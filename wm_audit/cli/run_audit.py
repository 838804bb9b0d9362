"""`python -m experiments.run_audit`: the audit, from data to verdicts."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wm_audit.board.terminal import terminal
from wm_audit.board.words import counted
from wm_audit.cli.frame import ROOT, SCRATCH, Parser, guarded, say, shown
from wm_audit.core import Measurement, UsageError
from wm_audit.core.record import folder_of
from wm_audit.instruments.audit.ready import check_worlds
from wm_audit.instruments.audit.run import Audit, run_audit
from wm_audit.models import MODELS
from wm_audit.prereg.audit_config import AuditConfig, load_config
from wm_audit.run import timings
from wm_audit.run.grid import Outcome
from wm_audit.run.shards import WHOLE, Shard
from wm_audit.train import is_compiled, missing

MODES = {"smoke": "smoke_pixel_nav.yaml", "pilot": "pilot_pixel_nav.yaml", "main": "main_pixel_nav_full.yaml"}

_DESCRIPTION = """Does a world model's perceptual fidelity predict control? Collects data, trains ensembles, measures every
diagnostic, plans with each model in the real environment, compares compressed twins, and judges H1 to H3 by the rules
that the preregistration fixes. Cells are saved one by one; --resume goes on where a run stopped.
--mode main has five seeds, the published scale, at which most questions stay INCONCLUSIVE whatever the truth; all twenty
seeds of the promise are --config configs/audit/main_pixel_nav_20.yaml (what each decides: docs/power/power.md)."""

_EXAMPLES = """  python -m experiments.run_audit                          smoke: a small audit of the built-in world, about two minutes
  python -m experiments.run_audit --mode main --jobs 2     the full grid, hours; add --resume after an interruption
  python -m experiments.run_audit --mode main --shard 0/4  a quarter of the grid on one of four machines
  python -m experiments.run_audit --arms oracle,random --out scratch/controls.json
  python -m experiments.run_audit --model my_model.py:build --config my_run.yaml --out scratch/mine.json"""


def main(argv: Sequence[str] | None = None) -> int:
    """Parses the command line and runs the audit; returns the exit code."""
    options = _parser().parse_args(argv)
    return guarded(lambda: _run(options))


def _parser() -> Parser:
    parser = Parser("run_audit", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("--mode", choices=sorted(MODES), help="which of the project's own configurations (default: smoke)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="a run configuration, a slice of its preregistration")
    models = f"{', '.join(MODELS)}, FILE.py:NAME (known by the file and all that it imports from its folder) or a checkpoint folder"
    parser.add_argument("--model", default="dreamer_lite", metavar="M", help=models)
    parser.add_argument("--arms", metavar="LIST", help="only these arms, separated by commas, e.g. trained,oracle,random")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="worker processes (default: all cores)")
    parser.add_argument("--shard", default="0/1", metavar="i/N", help="part i of N of the grid, counted from 0")
    parser.add_argument("--resume", action="store_true", help="keep the cells that an earlier run of the same settings finished")
    parser.add_argument("--out", type=Path, metavar="PATH", help="the results file (default: scratch/results_NAME.json)")
    return parser


def _run(options: argparse.Namespace) -> int:
    shard = Shard.parse(options.shard)
    config = _arms(_config(options), options.arms)
    out = options.out or SCRATCH / f"results_{config.name}.json"
    if out.suffix != ".json":
        raise UsageError(f"found {str(out)!r}", where="--out", expected="a file that ends in .json", fix="name the results file")
    if out.is_dir():
        raise UsageError("is a folder", where=f"--out {out}", expected="a file to write", fix="name the results file")
    say(_headline(config, shard, out))
    wanted = bool(config.executed["training"]["compiled"])
    if wanted and not is_compiled(wanted=True):
        sys.stderr.write(missing() + "\n")
    for env, found in check_worlds(config, options.model).items():
        say(_probe_line(env, found))
    audit = run_audit(config, out, model=options.model, jobs=options.jobs, shard=shard, resume=options.resume)
    say(_ending(audit, out, shard))
    return audit.outcome.exit_code


def _config(options: argparse.Namespace) -> AuditConfig:
    if options.config is None:
        return load_config(ROOT / "configs" / "audit" / MODES[options.mode or "smoke"])
    config = load_config(options.config)
    if options.mode not in (None, config.mode):
        what = f"--mode is {options.mode}, the file's own mode is {config.mode}"
        raise UsageError(what, where=str(options.config), expected="one mode", fix="leave --mode out")
    return config


def _arms(config: AuditConfig, listed: str | None) -> AuditConfig:
    """The configuration with only the arms that were asked for."""
    if listed is None:
        return config
    asked, known = [name.strip() for name in listed.split(",")], config.executed["arms"]
    for name in asked:
        if name not in known:
            raise UsageError(f"found {name!r}", where="--arms", expected=f"some of {', '.join(known)}", fix="correct the list")
    chosen = [name for name in known if name in asked]
    return config if chosen == known else replace(config, executed={**config.executed, "arms": chosen}, relation="slice")


def _headline(config: AuditConfig, shard: Shard, out: Path) -> str:
    grid = f"{counted(len(config.seeds), 'seed')} x {counted(len(config.capacities), 'capacity')}"
    part = "" if shard == WHOLE else f", shard {shard.index}/{shard.count}"
    promise = f"preregistration version {config.promise.version} ({config.promise.status}), {config.promise.digest[:19]}"
    return f"{config.name}: {', '.join(config.environments)}, {grid}{part}; {promise}; results go to {shown(out)}"


def _probe_line(env: str, found: Measurement) -> str:
    if found.value is None:
        why = found.reason.sentence if found.reason else ""
        return f"probe check {env}: {why}; counterfactual_tau will be null: hold actions longer (evaluation.probe_hold)"
    return f"probe check {env}: {found.value:.0%} of {found.n} probe states tell their actions apart"


def _ending(audit: Audit, out: Path, shard: Shard) -> str:
    outcome = audit.outcome
    done = f"{counted(len(outcome.made), 'cell')} made, {len(outcome.kept)} kept, {len(outcome.failed)} failed"
    if audit.document is None:
        cells = shown(folder_of(out))
        rest = f"{len(outcome.elsewhere)} cells belong to other shards: join them with"
        merge = f"python -m experiments.merge {cells} OTHER.cells --out {shown(out)}"
        own = f"shard {shard.index}/{shard.count}: {done}; {rest}\n  {merge}" if outcome.elsewhere else done
        return own + _failures(outcome, out)
    board = f"python -m experiments.make_leaderboard --folder {shown(out.parent)}"
    files = f"{done}; results in {shown(out)}, cells in {shown(folder_of(out))}; as a page: {board}"
    return f"{terminal(audit.document)}\n{files}{_failures(outcome, out)}"


def _failures(outcome: Outcome, out: Path) -> str:
    """Every reason once, with the cells that it stopped; nothing where nothing failed."""
    if not outcome.failed:
        return ""
    reasons: dict[str, list[str]] = {}
    for item in outcome.failed:
        reasons.setdefault(item.line, []).append(item.key.text())
    lines = [f"failed {keys[0]}{f' and {len(keys) - 1} more' if len(keys) > 1 else ''}: {line}" for line, keys in reasons.items()]
    lines.append(f"whole traces: {shown(folder_of(out) / timings.FILE)}; run again with --resume to fill the gaps")
    return "\n" + "\n".join(lines)
