"""From a float ensemble to its compressed twins, and checkpoints of both."""

from wm_audit.deploy.checkpoint import load_model, save_model
from wm_audit.deploy.twins import LEVERS, NULL_LEVER, Twin, compress

__all__ = ["LEVERS", "NULL_LEVER", "Twin", "compress", "load_model", "save_model"]
