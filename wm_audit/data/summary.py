"""How good the recorded behaviours were."""

from typing import NamedTuple

import numpy as np

from wm_audit.data.dataset import Dataset


class ReturnSummary(NamedTuple):
    """The distribution of one behaviour's returns: n episodes, and the sd with ddof 1 (0 for a single episode)."""

    n: int
    min: float
    median: float
    max: float
    sd: float


def returns_summary(dataset: Dataset) -> dict[str, ReturnSummary]:
    """The return distribution of every behaviour, over all splits. Training on data without variation teaches no reward."""
    episodes, returns = dataset.episodes, dataset.episodes.returns()
    groups = {name: returns[episodes.behaviour == index] for index, name in enumerate(episodes.behaviours)}
    return {
        name: ReturnSummary(
            n=int(group.size),
            min=float(group.min()),
            median=float(np.median(group)),
            max=float(group.max()),
            sd=float(group.std(ddof=1)) if group.size > 1 else 0.0,
        )
        for name, group in groups.items()
    }
