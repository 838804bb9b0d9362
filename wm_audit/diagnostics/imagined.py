"""What the model promises for actions that were tried in the true world from the same state."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from wm_audit.data.probe import Counterfactual
from wm_audit.diagnostics.rollout import check_shape, padded
from wm_audit.models.filter import ground_or_filter
from wm_audit.models.protocol import Rewards, WorldModel, tile


@dataclass(frozen=True, slots=True)
class Imagined:
    """Imagined rewards of B states with M actions each.

    Attributes:
        reward: (K, B, M) float64, summed over the held steps in their order.
        single_precision: whether the model computed its rewards in less than float64, which widens what counts as a tie.
    """

    reward: NDArray[np.float64]
    single_precision: bool


def imagine_actions(model: WorldModel, probe: Counterfactual, batch: int) -> Imagined | None:
    """Tries every action in the model: each probe state is copied M times and each copy's action held for `hold` steps.

    Args:
        model: any world model.
        probe: B states, M actions each.
        batch: probe states evaluated together, padded, so that batch * M rows are imagined.

    Returns:
        The rewards, or None for a model without a reward head.
    """
    if not isinstance(model, Rewards):
        return None
    states, tried = probe.actions.shape[:2]
    total = np.zeros((model.members, states, tried), np.float64)
    single_precision = False
    with torch.inference_mode():
        for rows, picked in padded(states, batch):
            here = ground_or_filter(model, probe.snapshot[picked], probe.context_obs[picked], probe.context_action[picked])
            dream = tile(here, tried)
            action = torch.from_numpy(probe.actions[picked]).flatten(0, 1)
            for _ in range(probe.hold):
                dream = model.imagine(dream, action)
                reward = model.reward(dream)
                check_shape("reward", reward, (model.members, batch * tried))
                single_precision = single_precision or reward.dtype != torch.float64
                total[:, rows] += reward.reshape(model.members, batch, tried)[:, : rows.stop - rows.start].numpy()
    return Imagined(total, single_precision)
