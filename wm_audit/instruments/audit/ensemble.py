"""The trained ensemble of one capacity and seed: ordered, fitted, kept on disk, or brought by the user."""

from collections.abc import Callable, Sequence
from contextlib import chdir
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from wm_audit.core import AuditError, Key, stream
from wm_audit.data import Dataset, Replay
from wm_audit.data.episode import Singles
from wm_audit.envs import EnvSpec
from wm_audit.instruments.audit import kept
from wm_audit.instruments.audit.machine import fence
from wm_audit.instruments.audit.protocol import Setting, model_purpose, short
from wm_audit.instruments.audit.resolve import family, require_files
from wm_audit.models import Task
from wm_audit.models.dreamer_lite import KL_RULE, DreamerLite
from wm_audit.models.protocol import WorldModel
from wm_audit.models.task import Accelerate
from wm_audit.prereg.audit_config import AuditConfig
from wm_audit.run.cells import Cell
from wm_audit.train import Settings, compiled, fit

Note = Callable[[str], None]


class Ensemble(NamedTuple):
    """A finished model, and what its training reported (JSON types)."""

    model: WorldModel
    training: dict[str, Any]


def ensemble(setting: Setting, cell: Cell, data: Dataset, note: Note) -> Ensemble:
    """The checkpoint that was made for this purpose if one stands, else a newly trained model, which is then kept.

    Raises:
        TrainingError: a loss is not finite.
        AuditError: the model family gives something that is no world model, or what stands there is not whole, or was made for
            something else.
    """
    key, purpose = cell.key, model_purpose(setting, cell, data.digest)
    folder = setting.folder / "models" / f"{key.env}-{key.hidden}x{key.embed}-seed{key.seed}-{short(purpose)}"
    if kept.stands(folder):
        return Ensemble(*kept.read(folder, purpose))
    config, root = setting.config, setting.config.executed["root"]
    fence(root, "building", key.text())
    task = order(config, key, data.env, mean_picture(data), lambda function: compiled(function, wanted=setting.compiled))
    with chdir(Path.cwd()):
        learner = family(setting.model)(task)
    require_files(setting.model, setting.model_files)  # before the hours of training, and once more before a row is kept
    fence(root, "training", key.text())
    if not is_learner(learner, setting.model):
        return Ensemble(_checked(learner, setting.model), {"steps": 0})
    settings = _settings(setting)
    replay = Replay(data, settings.batch, settings.length, learner.arrange)
    source = stream(root, "train", key.env, key.hidden, key.embed, key.seed)
    report = fit(learner, replay, settings, source, tick=lambda step: note(f"training {step}/{settings.steps}"))
    model, training = _checked(learner.trained(), setting.model), asdict(report)
    if isinstance(model, DreamerLite):
        training["kl_rule"] = KL_RULE  # the same number of free nats means something else under another rule
        kept.write(folder, model, training, purpose)
    return Ensemble(model, training)


def _settings(setting: Setting) -> Settings:
    section = setting.config.section("training")
    return Settings(**{name: item for name, item in section.items() if name != "compiled"})


def order(config: AuditConfig, key: Key, env: EnvSpec, centre: Singles, accelerate: Accelerate) -> Task:
    """What a family is asked for, for one capacity and seed.

    Args:
        config: the run.
        key: of any cell of the group.
        env: the recorded world.
        centre: (C, h, w), the mean picture of the training data.
        accelerate: may compile a function of tensors.
    """
    settings, root = config.section("model"), config.executed["root"]
    return Task(
        image=env.image,
        actions=len(env.action_low),
        hidden=key.hidden,
        embed=key.embed,
        settings=settings,
        streams=tuple(stream(root, "initial", key.env, key.hidden, key.embed, key.seed, k) for k in range(settings["members"])),
        centre=centre,
        accelerate=accelerate,
    )


def mean_picture(data: Dataset) -> Singles:
    """(C, h, w) in [0, 1]: the mean observation of the train split, summed in integers so that no order matters."""
    episodes, total, count = data.episodes, np.zeros(data.env.image, dtype=np.int64), 0
    for episode in data.split["train"]:
        frames = episodes.obs[episode, : episodes.length[episode] + 1]
        total += frames.sum(axis=0, dtype=np.int64)
        count += len(frames)
    return (total / (count * 255.0)).astype(np.float32)


def is_learner(built: object, name: str) -> bool:
    """Whether a family gave something to train; otherwise it is a finished model.

    Raises:
        AuditError: it is neither.
    """
    if not hasattr(built, "gradient"):
        _checked(built, name)
        return False
    _whole(built, name, ("parameters", "arrange", "trained"), "a Trainable (train/fit.py)")
    return True


def _checked(model: object, name: str) -> WorldModel:
    _whole(model, name, ("members", "initial", "observe", "imagine"), "a WorldModel (models/protocol.py)")
    return cast("WorldModel", model)


def _whole(found: object, name: str, parts: Sequence[str], expected: str) -> None:
    absent = [part for part in parts if not hasattr(found, part)]
    if absent:
        raise AuditError(f"gives a {type(found).__name__} without {absent[0]!r}", where=name, expected=expected)
