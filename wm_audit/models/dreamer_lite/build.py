"""An untrained dreamer_lite ensemble, as a task orders it."""

from wm_audit.core import AuditError
from wm_audit.models.dreamer_lite.config import Config
from wm_audit.models.dreamer_lite.gradient import gradient
from wm_audit.models.dreamer_lite.model import Trainable
from wm_audit.models.task import Task


def build(task: Task) -> Trainable:
    """The ensemble, initialised from the task's streams.

    Raises:
        AuditError: settings that cannot be built.
    """
    settings = dict(task.settings)
    bounds = settings.pop("log_variance")
    settings.pop("members")
    settings.pop("family", None)  # the promise says for whom a claim holds; asked is dreamer_lite anyway
    try:
        config = Config(
            image=task.image,
            actions=task.actions,
            hidden=task.hidden,
            embed=task.embed,
            log_variance=(float(bounds["low"]), float(bounds["high"])),
            **settings,
        )
    except (TypeError, ValueError) as error:
        raise AuditError(str(error), where="model", expected="settings of dreamer_lite", fix="correct the promise") from error
    return Trainable(config, list(task.streams), task.centre, task.accelerate(gradient))
