"""The rows of one group of cells: a trained model and its compressed twins, or one control arm."""

import tempfile
import time
from pathlib import Path
from typing import Any

from wm_audit.core import Key, Reason, Row
from wm_audit.deploy import NULL_LEVER, compress, save_model
from wm_audit.instruments.audit.bench import Bench
from wm_audit.instruments.audit.data import dataset, planner, world
from wm_audit.instruments.audit.ensemble import ensemble
from wm_audit.instruments.audit.machine import fence
from wm_audit.instruments.audit.protocol import TRAINED, Setting
from wm_audit.instruments.audit.resolve import require_files
from wm_audit.models.controls import CONTROLS
from wm_audit.models.dreamer_lite import DreamerLite
from wm_audit.models.protocol import WorldModel
from wm_audit.policy.agents import OracleAgent, RandomAgent
from wm_audit.policy.closed_loop import summary
from wm_audit.run.cells import Cell
from wm_audit.run.worker import Emit

VALUE, REPEAT, TWIN = 0, 1, 2
"""Evaluation streams: a float model's own, its repetition for the noise floor, and its compressed twins'."""


def work(setting: Setting, group: tuple[Cell, ...], emit: Emit) -> None:
    """Makes the rows of a group; what `run_grid` hands to a worker."""
    first, root, begun = group[0].key, setting.config.executed["root"], time.monotonic()
    emit.note("data")
    fence(root, "data", first.env, first.seed)
    data = dataset(setting, first.env, first.seed)
    bench = Bench(setting, first.env, data, {"data": time.monotonic() - begun})
    if first.arm != TRAINED:
        for cell in group:
            fence(root, "measuring", cell.key.text())
            emit(_arm(bench, cell.key), bench.seconds)
        return
    made = bench.time("training", lambda: ensemble(setting, group[0], data, emit.note))
    for cell in group:
        emit.note(f"measuring {cell.key.compression}")
        fence(root, "measuring", cell.key.text())
        row = _trained(bench, cell.key, made.model, made.training)
        require_files(setting.model, setting.model_files)
        emit(row, bench.seconds)
        bench = Bench(setting, first.env, data)


def _trained(bench: Bench, key: Key, model: WorldModel, training: dict[str, Any]) -> Row:
    """A float model on its own and the repetition stream, or one of its twins."""
    if key.compression == "none":
        measured, details = bench.diagnostics(model, VALUE)
        again, _ = bench.diagnostics(model, REPEAT)
        measured = {name: item if item.value is None else item.with_(repeat=again[name].value) for name, item in measured.items()}
        return bench.row(key, model, (measured, details | {"training": training} | _size(model)))
    if not isinstance(model, DreamerLite):
        return bench.null_row(key, Reason.CAPABILITY_MISSING)
    twin = bench.time("compression", lambda: compress(model, key.compression))
    measured, details = bench.diagnostics(twin.model, VALUE if key.compression == NULL_LEVER else TWIN)
    said = {"engine": twin.engine, "compressed_share": dict(twin.share)}
    return bench.row(key, twin.model, (measured, details | said | _size(twin.model)))


def _arm(bench: Bench, key: Key) -> Row:
    """A control with a known answer; the random policy has a return and nothing else."""
    config, env = bench.setting.config, world(bench.setting.config, key.env)
    if key.arm not in CONTROLS:
        returns = bench.returns(RandomAgent(env.spec))
        row = bench.null_row(key, Reason.NOT_APPLICABLE)
        return Row(key, summary(returns), row.diagnostics, {"returns": returns.value.tolist()}, row.manifest)
    model = CONTROLS[key.arm](env, config.section("model")["members"])
    row = bench.row(key, model, bench.diagnostics(model, VALUE))
    if key.arm != "oracle":
        return row
    own = bench.returns(OracleAgent(env.spec, planner(config), config.section("planning")["discount"]))
    return Row(key, row.outcome, row.diagnostics, row.details | {"planner_returns": own.value.tolist()}, row.manifest)


def _size(model: WorldModel) -> dict[str, int]:
    """Bytes of the weight file, measured on a file."""
    if not isinstance(model, DreamerLite):
        return {}
    with tempfile.TemporaryDirectory() as folder:
        return {"size_bytes": save_model(Path(folder), model)}
