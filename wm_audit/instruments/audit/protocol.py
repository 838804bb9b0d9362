"""What an audit fixes before it measures: its cells, and what each cell's numbers depend on. No torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wm_audit.core import Key, strict_json
from wm_audit.prereg.audit_config import AuditConfig
from wm_audit.run.cells import Cell

TRAINED = "trained"
SOURCES = (
    "wm_audit.core",
    "wm_audit.envs",
    "wm_audit.data",
    "wm_audit.models",
    "wm_audit.train",
    "wm_audit.deploy",
    "wm_audit.diagnostics",
    "wm_audit.policy",
    "wm_audit.stats",
    "wm_audit.instruments.audit",
)
"""The packages whose sources can move a row's number."""

_TRAINING_ONLY = ("model", "training")
_EVERY_ROW = ("root", "collection", "planning", "evaluation")


@dataclass(frozen=True, slots=True)
class Setting:
    """What all cells of a run share; it crosses process boundaries.

    Attributes:
        config: the run, resolved.
        folder: of the records; data sets and checkpoints lie in it too.
        model: a built-in name, FILE.py:NAME, or a checkpoint folder.
        model_digest: sha256 of what `model` names, where it is a file.
        compiled: whether training is compiled.
    """

    config: AuditConfig
    folder: Path
    model: str
    model_digest: str | None
    compiled: bool


def planned(config: Mapping[str, Any]) -> list[Key]:
    """Every row that a configuration, in the form that records hold, asks for.

    Trained models and their compressed twins stand on the whole grid; the control arms once per environment, on the data of the
    first seed. Largest capacities come first, and neighbours in the list have different seeds, so that parallel workers collect
    different data sets.
    """
    keys: list[Key] = []
    sizes = sorted(((int(item["hidden"]), int(item["embed"])) for item in config["capacities"]), reverse=True)
    for env in config["environments"]:
        if TRAINED in config["arms"]:
            grid = [(hidden, embed, int(seed)) for hidden, embed in sizes for seed in config["seeds"]]
            twins = ("none", *config["levers"])
            keys += [Key(env, hidden, embed, seed, TRAINED, twin) for hidden, embed, seed in grid for twin in twins]
        keys += [Key(env, 0, 0, int(config["seeds"][0]), arm) for arm in config["arms"] if arm != TRAINED]
    return keys


def cells(setting: Setting) -> list[Cell]:
    """The grid: one cell a row; a model and its twins are one group."""
    config = setting.config.to_json()
    return [Cell(key, _inputs(key, config, setting), _group(key)) for key in planned(config)]


def measured_names(config: AuditConfig) -> tuple[str, ...]:
    """The diagnostics of every row: the preregistered slots, then the locked extras."""
    return (*config.executed["diagnostics"], *config.executed["extras"])


def training_key(cell: Cell) -> str:
    """Names a trained model by all that training depends on: another budget of evaluation trains nothing anew."""
    trained = {name: item for name, item in cell.inputs.items() if name not in ("evaluation", "measured")}
    return cell.resume_key(strict_json.digest(trained)).removeprefix("sha256:")[:16]


def _group(key: Key) -> str:
    if key.arm == TRAINED:
        return f"{key.env}-{key.hidden}x{key.embed}-seed{key.seed}"
    return f"{key.env}-{key.arm}-seed{key.seed}"


def _inputs(key: Key, config: Mapping[str, Any], setting: Setting) -> dict[str, Any]:
    """Settings that move this row's numbers; lists of seeds, capacities and levers do not, nor does anything of the statistics."""
    inputs: dict[str, Any] = {name: config[name] for name in _EVERY_ROW}
    inputs["environment"] = config["environments"][key.env]
    inputs["measured"] = [*config["diagnostics"], *config["extras"]]
    if key.arm == TRAINED:
        inputs |= {name: config[name] for name in _TRAINING_ONLY}
        inputs |= {"family": setting.model, "family_digest": setting.model_digest, "compiled": setting.compiled}
    else:
        inputs["members"] = config["model"]["members"]
    return inputs
