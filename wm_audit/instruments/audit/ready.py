"""What a run can be refused for before anything is made: the worlds, the image's patches, the episodes, the probes."""

from collections.abc import Iterator
from contextlib import contextmanager

from wm_audit.core import AuditError, Measurement
from wm_audit.instruments.audit.data import probe_check, world
from wm_audit.models import MODELS
from wm_audit.prereg.audit_config import AuditConfig


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
