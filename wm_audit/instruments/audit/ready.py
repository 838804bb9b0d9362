"""What a run can be refused for before anything is made: the worlds, the image's patches, the episodes, the probes, the model."""

from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

import numpy as np

from wm_audit.core import AuditError, Key, Measurement, UsageError
from wm_audit.instruments.audit.data import probe_check, world
from wm_audit.instruments.audit.ensemble import is_learner, order
from wm_audit.instruments.audit.machine import fence
from wm_audit.instruments.audit.protocol import TRAINED
from wm_audit.instruments.audit.resolve import Family, checkpoint, family
from wm_audit.models import MODELS
from wm_audit.prereg.audit_config import AuditConfig
from wm_audit.run.worker import one_line


def check_worlds(config: AuditConfig, model: str) -> dict[str, Measurement]:
    """Makes every environment and a small recording in it, as the cells will.

    Args:
        config: the run.
        model: what `--model` names; the built-in family cuts images into patches, others need not.

    Returns:
        Per environment, the share of probe states that tell their actions apart; null where the probe is degenerate.

    Raises:
        AuditError: an environment refuses its settings, the model's patch does not divide its image, or the budget of steps
            leaves a behaviour or a split without an episode; the message names the file and the field.
    """
    return {env: _check(config, model, env) for env in config.environments}


def check_model(config: AuditConfig, model: str) -> None:
    """Builds every capacity of a model that a user brings, as the cells will, before they do it one by one.

    Args:
        config: the run.
        model: what `--model` names; a built-in family is checked with its world.

    Raises:
        UsageError: nothing answers to the name, it gives no model of some capacity, or it is a checkpoint that is not the one model
            that the configuration asks for.
    """
    with chdir(Path.cwd()):
        answer = family(model)
    if model in MODELS or TRAINED not in config.executed["arms"]:
        return
    _check_checkpoint(config, model)
    for env in config.environments:
        for hidden, embed in config.capacities:
            _try(config, model, answer, Key(env, hidden, embed, config.seeds[0]))
    fence(config.executed["root"], "checked")  # a stranger's code ran in this process, which goes on to judge


def _try(config: AuditConfig, model: str, answer: Family, key: Key) -> None:
    spec = world(config, key.env).spec
    grey = np.full(spec.image, 0.5, dtype=np.float32)
    task = order(config, key, spec, grey, lambda function: function)
    fence(config.executed["root"], "checking", key.text())
    try:
        with chdir(Path.cwd()):  # relative names, --out among them, keep their meaning whatever the function does
            is_learner(answer(task), model)
    except (Exception, SystemExit) as error:  # a stranger's function may raise anything, and every one of them is one line here
        said, size = error.what if isinstance(error, AuditError) else one_line(error), f"{key.hidden}x{key.embed}"
        what, expected = f"cannot be built at {size} for {key.env}: {said}", "a function that gives a world model or a learner"
        raise UsageError(what, where=f"--model {model}", expected=expected, fix="correct the file, or leave this capacity out") from error


def _check_checkpoint(config: AuditConfig, model: str) -> None:
    """A checkpoint is what it is: under another capacity or a second seed its row would speak of a model that was never trained."""
    found = checkpoint(model)
    if found is None:
        return
    where, sizes, seeds = f"--model {model}", len(config.capacities), len(config.seeds)
    if (sizes, seeds) != (1, 1):
        what, expected = f"{config.where} names {sizes} capacities and {seeds} seeds", "one of each: a checkpoint is one model"
        raise UsageError(what, where=where, expected=expected, fix="give a config with one capacity and one seed, or a model file")
    own, members = found.config, config.section("model")["members"]
    for env in config.environments:
        spec = world(config, env).spec
        pairs = {
            "capacity (hidden, embed)": ((own.hidden, own.embed), config.capacities[0]),
            "image (C, h, w)": (own.image, spec.image),
            "number of actions": (own.actions, len(spec.action_low)),
            "number of members": (found.members, members),
        }
        for name, (theirs, ours) in pairs.items():
            if theirs != ours:
                fix = "give the config of the run that made it"
                raise UsageError(f"its {name} is {theirs}", where=where, expected=f"{ours}, as {config.where} has it for {env}", fix=fix)


def _check(config: AuditConfig, model: str, env: str) -> Measurement:
    with _located(f"{config.promise.where}: environments.{env}", "correct the promise, or copy it and name the copy"):
        spec = world(config, env).spec
    patch, (_, height, width) = config.executed["model"]["patch"], spec.image
    if model in MODELS and (height % patch or width % patch):
        what = f"is {patch}, which does not divide the {height}x{width} image of {env}"
        raise AuditError(what, where=f"{config.promise.where}: model.patch", expected="a divisor of both sides", fix="write another patch")
    with _located(f"{config.where}: collection", "raise collection.steps"):
        return probe_check(config, env)


@contextmanager
def _located(where: str, fix: str) -> Iterator[None]:
    """Puts the file and section before whatever an error names, and a way out where it names none."""
    try:
        yield
    except AuditError as error:
        place = f"{where} ({error.where})" if error.where else where
        raise AuditError(error.what, where=place, expected=error.expected, fix=error.fix or fix) from error
