"""What an audit fixes before it measures: its cells, and what each cell's numbers depend on. No torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from wm_audit.core import Key, strict_json
from wm_audit.core.made_for import Purpose
from wm_audit.prereg.audit_config import AuditConfig
from wm_audit.run.cells import Cell
from wm_audit.run.provenance import code_digest

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
DATA_SOURCES = ("wm_audit.core", "wm_audit.envs", "wm_audit.data", "wm_audit.policy", "wm_audit.instruments.audit.data")
"""Those of them that can move a data set."""
MODEL_SOURCES = (
    *DATA_SOURCES,
    "wm_audit.models",
    "wm_audit.train",
    "wm_audit.deploy.checkpoint",
    "wm_audit.instruments.audit.ensemble",
    "wm_audit.instruments.audit.machine",
)
"""Those of them that can move a trained model."""

_TRAINING_ONLY = ("model", "training")
_EVERY_ROW = ("root", "collection", "planning", "evaluation")


@dataclass(frozen=True, slots=True)
class Setting:
    """What all cells of a run share; it crosses process boundaries.

    Attributes:
        config: the run, resolved.
        folder: of the records; data sets and checkpoints lie in it too.
        model: a built-in name, FILE.py:NAME, or a checkpoint folder.
        model_files: sha256 of every file behind `model`, by its place beneath the model's folder; none for a built-in name.
        environment: digest of what the numbers' last bits depend on.
        compiled: whether training is compiled.
    """

    config: AuditConfig
    folder: Path
    model: str
    model_files: Mapping[str, str]
    environment: str
    compiled: bool

    @property
    def model_digest(self) -> str | None:
        """`sha256:` over the files behind the model; None for a built-in family, whose sources are digested anyway."""
        return strict_json.digest(dict(self.model_files)) if self.model_files else None


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


def data_purpose(setting: Setting, env: str, seed: int) -> dict[str, str | int]:
    """What the data set of this environment and seed is made for, and from; its collection and the oracle planner in it included."""
    entry = setting.config.to_json()
    settings = {name: entry[name] for name in ("root", "planning", "collection")} | {"environment": entry["environments"][env]}
    return {
        "env": env,
        "seed": seed,
        "settings": strict_json.digest(settings),
        "sources": _sources(DATA_SOURCES),
        "environment": setting.environment,
    }


def model_purpose(setting: Setting, cell: Cell, dataset: str) -> dict[str, str | int]:
    """What the trained model of a cell is made for, and from: another budget of evaluation trains nothing anew.

    Args:
        setting: the run.
        cell: any cell of the group.
        dataset: digest of the data that it learns from.
    """
    trained = {name: item for name, item in cell.inputs.items() if name not in ("evaluation", "measured")}
    key = cell.key
    return {
        "env": key.env,
        "hidden": key.hidden,
        "embed": key.embed,
        "seed": key.seed,
        "settings": strict_json.digest(trained),
        "dataset": dataset,
        "sources": _sources(MODEL_SOURCES),
        "environment": setting.environment,
    }


def short(purpose: Purpose) -> str:
    """A name for what was made for this purpose, to tell it from every other."""
    return strict_json.digest(dict(purpose)).removeprefix("sha256:")[:16]


@cache
def _sources(packages: tuple[str, ...]) -> str:
    """Read once in every process."""
    return code_digest(packages)


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
