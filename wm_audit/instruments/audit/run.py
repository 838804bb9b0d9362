"""The audit, from a configuration to a results file."""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from wm_audit.board import results
from wm_audit.core.record import folder_of
from wm_audit.instruments.audit.decide import conclude
from wm_audit.instruments.audit.machine import environment_of, one_thread
from wm_audit.instruments.audit.measure import work
from wm_audit.instruments.audit.protocol import SOURCES, Setting, cells
from wm_audit.instruments.audit.ready import check_model
from wm_audit.instruments.audit.resolve import model_files
from wm_audit.models import MODELS
from wm_audit.prereg.audit_config import AuditConfig
from wm_audit.prereg.claims import log_digest
from wm_audit.run.grid import Outcome, run_grid
from wm_audit.run.provenance import code_digest, git_state
from wm_audit.run.shards import WHOLE, Shard
from wm_audit.run.store import Stamp, Store
from wm_audit.train import is_compiled


class Audit(NamedTuple):
    """What a run came to: what the grid did, and the results document, or None while other shards' cells are missing."""

    outcome: Outcome
    document: dict[str, Any] | None


def run_audit(
    config: AuditConfig, out: Path, *, model: str = "dreamer_lite", jobs: int = 1, shard: Shard = WHOLE, resume: bool = False
) -> Audit:
    """Makes every missing cell, merges, judges, and writes the results file.

    Args:
        config: the run, a slice of its promise.
        out: the results file; records lie in the folder of the same name beside it.
        model: a built-in name, FILE.py:NAME, or a checkpoint folder.
        jobs: worker processes.
        shard: which part of the grid is made here.
        resume: whether records of an earlier run may stand.

    Raises:
        AuditError: evidence that does not belong to this run, or an unwritable place.
        UsageError: a model that is unknown, cannot be built or does not fit the configuration, or fewer than one job.
    """
    folder = folder_of(out)
    wanted = bool(config.executed["training"]["compiled"])
    claim = config.claim()  # what is to be refused is refused before the first cell
    check_model(config, model)
    compiled = is_compiled(wanted=wanted)
    environment = environment_of(config, compiled=compiled)
    setting = Setting(config, folder, model, model_files(model), environment["digest"], compiled=compiled)
    stamp = Stamp(
        preregistration=config.promise.header(claim.locked_on, log_digest(claim.deviations)),
        config=config.to_json(),
        environment=environment,
        code=code_digest(SOURCES),
        source=git_state(Path(__file__).parent),
    )
    grid = cells(setting)
    with Store(folder, stamp) as store:
        options: Any = {"jobs": jobs, "shard": shard, "resume": resume, "prepare": one_thread, "fresh": model not in MODELS}
        outcome = run_grid(grid, store, partial(work, setting), **options)
    if outcome.elsewhere or not (outcome.kept or outcome.made):
        return Audit(outcome, None)
    document = conclude([folder], promise=config.promise)
    results.write(out, document)
    return Audit(outcome, document)
