"""The trained ensemble of one capacity and seed: ordered, fitted, kept on disk, or brought by the user."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, cast

import numpy as np

from wm_audit.core import AuditError, Key, stream, strict_json
from wm_audit.core.files import write_atomic
from wm_audit.data import Dataset, Replay
from wm_audit.deploy import load_model, save_model
from wm_audit.instruments.audit.protocol import Setting
from wm_audit.instruments.audit.resolve import family
from wm_audit.models import Task
from wm_audit.models.dreamer_lite import KL_RULE, DreamerLite
from wm_audit.models.protocol import WorldModel
from wm_audit.train import Settings, compiled, fit

Note = Callable[[str], None]


class Ensemble(NamedTuple):
    """A finished model, and what its training reported (JSON types)."""

    model: WorldModel
    training: dict[str, Any]


def ensemble(setting: Setting, key: Key, data: Dataset, name: str, note: Note) -> Ensemble:
    """The checkpoint under `name` if one stands, else a newly trained model, which is then kept.

    Raises:
        TrainingError: a loss is not finite.
        AuditError: the model family gives something that is no world model.
    """
    folder = setting.folder / "models" / name
    if (folder / "training.json").is_file():
        return Ensemble(load_model(folder), strict_json.load(folder / "training.json"))
    learner = family(setting.model)(_order(setting, key, data))
    if not hasattr(learner, "gradient"):
        return Ensemble(_checked(learner, setting.model), {"steps": 0})
    _whole(learner, setting.model, ("parameters", "arrange", "trained"), "a Trainable (train/fit.py)")
    settings = _settings(setting)
    replay = Replay(data, settings.batch, settings.length, learner.arrange)
    source = stream(setting.config.executed["root"], "train", key.env, key.hidden, key.embed, key.seed)
    report = fit(learner, replay, settings, source, tick=lambda step: note(f"training {step}/{settings.steps}"))
    model, training = _checked(learner.trained(), setting.model), asdict(report)
    if isinstance(model, DreamerLite):
        training["kl_rule"] = KL_RULE  # the same number of free nats means something else under another rule
        save_model(folder, model)
        write_atomic(folder / "training.json", strict_json.dumps(training))
    return Ensemble(model, training)


def _settings(setting: Setting) -> Settings:
    section = setting.config.section("training")
    return Settings(**{name: item for name, item in section.items() if name != "compiled"})


def _order(setting: Setting, key: Key, data: Dataset) -> Task:
    settings = setting.config.section("model")
    root = setting.config.executed["root"]
    return Task(
        image=data.env.image,
        actions=len(data.env.action_low),
        hidden=key.hidden,
        embed=key.embed,
        settings=settings,
        streams=tuple(stream(root, "initial", key.env, key.hidden, key.embed, key.seed, k) for k in range(settings["members"])),
        centre=mean_picture(data),
        accelerate=lambda function: compiled(function, wanted=setting.compiled),
    )


def mean_picture(data: Dataset) -> np.ndarray[Any, np.dtype[np.float32]]:
    """(C, h, w) in [0, 1]: the mean observation of the train split, summed in integers so that no order matters."""
    episodes, total, count = data.episodes, np.zeros(data.env.image, dtype=np.int64), 0
    for episode in data.split["train"]:
        frames = episodes.obs[episode, : episodes.length[episode] + 1]
        total += frames.sum(axis=0, dtype=np.int64)
        count += len(frames)
    return (total / (count * 255.0)).astype(np.float32)


def _checked(model: object, name: str) -> WorldModel:
    _whole(model, name, ("members", "initial", "observe", "imagine"), "a WorldModel (models/protocol.py)")
    return cast("WorldModel", model)


def _whole(found: object, name: str, parts: Sequence[str], expected: str) -> None:
    absent = [part for part in parts if not hasattr(found, part)]
    if absent:
        raise AuditError(f"gives a {type(found).__name__} without {absent[0]!r}", where=name, expected=expected)
