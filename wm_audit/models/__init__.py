"""World models: what they are, how an ensemble is ordered, and controls with known answers.

A family is a function from a `Task` to either something that can be trained (`wm_audit.train.Learner`) or a finished
`WorldModel`. A new one is one file and one line in `MODELS`; the contract tests find it.
"""

from collections.abc import Callable
from typing import Any

from wm_audit.models import dreamer_lite
from wm_audit.models.task import Task

MODELS: dict[str, Callable[[Task], Any]] = {
    "dreamer_lite": dreamer_lite.build,
}

__all__ = ["MODELS", "Task"]
