"""A small recurrent state-space model (Hafner et al. 2019-2023) whose ensemble trains as one."""

from wm_audit.models.dreamer_lite.build import build
from wm_audit.models.dreamer_lite.config import Config
from wm_audit.models.dreamer_lite.loss import KL_RULE
from wm_audit.models.dreamer_lite.model import DreamerLite, Trainable

__all__ = ["KL_RULE", "Config", "DreamerLite", "Trainable", "build"]
