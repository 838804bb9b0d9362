from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wm_audit.core import AuditError
from wm_audit.data import Dataset, returns_summary


def test_returns_add_the_lived_rewards_in_step_order(dataset: Dataset) -> None:
    episodes = dataset.episodes
    for e in range(episodes.count):
        total = 0.0
        for reward in episodes.reward[e, : episodes.length[e]]:
            total += float(reward)
        assert episodes.returns()[e] == total


def test_summary_shows_the_returns_of_every_behaviour(dataset: Dataset) -> None:
    summary = returns_summary(dataset)
    assert list(summary) == ["uniform", "correlated", "noisy"]
    for index, item in enumerate(summary.values()):
        returns = np.sort(dataset.episodes.returns()[dataset.episodes.behaviour == index])
        assert (item.n, item.min, item.max) == (returns.size, returns[0], returns[-1])
        assert item.median == np.median(returns)
        assert item.sd == pytest.approx(np.sqrt(np.sum((returns - returns.mean()) ** 2) / (returns.size - 1)))
        assert item.sd > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"action": np.zeros((40, 12, 2))},
        {"reward": np.zeros((40, 13))},
        {"obs": np.zeros((40, 12, 3, 8, 8), dtype=np.uint8)},
        {"snapshot": np.zeros((39, 13, 6))},
        {"terminated": np.zeros((40, 12, 1), dtype=np.bool_)},
        {"length": np.full(40, 13)},
        {"length": np.zeros(40, dtype=np.int64)},
        {"behaviour": np.full(40, 3)},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_arrays_that_do_not_belong_together_are_refused(wrong: dict[str, Any], dataset: Dataset) -> None:
    with pytest.raises(AuditError, match=r"^episodes\.\w+: "):
        replace(dataset.episodes, **wrong)
