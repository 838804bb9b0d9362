"""Episodes from collection to training sequences and probes; numpy only."""

from wm_audit.data.behaviours import Act, Behaviour, Now, correlated, held, noisy, uniform
from wm_audit.data.collect import collect
from wm_audit.data.dataset import Dataset, assemble, load
from wm_audit.data.episode import Episodes
from wm_audit.data.once import build_once
from wm_audit.data.probe import Counterfactual, Segments, check, counterfactual, segments
from wm_audit.data.replay import Batch, Replay
from wm_audit.data.summary import ReturnSummary, returns_summary

__all__ = [
    "Act",
    "Batch",
    "Behaviour",
    "Counterfactual",
    "Dataset",
    "Episodes",
    "Now",
    "Replay",
    "ReturnSummary",
    "Segments",
    "assemble",
    "build_once",
    "check",
    "collect",
    "correlated",
    "counterfactual",
    "held",
    "load",
    "noisy",
    "returns_summary",
    "segments",
    "uniform",
]
