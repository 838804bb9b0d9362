"""What the model promises for actions that were tried in the true world from the same state."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.data.probe import Counterfactual
from wm_audit.diagnostics.rollout import check_shape, padded
from wm_audit.models.filter import ground_or_filter
from wm_audit.models.protocol import Continues, Rewards, State, WorldModel, tile


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

    A model that predicts continuation has every reward weighted by the probability that the world was still running before it:
    so a planner counts, and in the true world nothing is earned after a termination.

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
    total, single_precision = np.zeros((model.members, states, tried)), False
    with torch.inference_mode():
        for rows, picked in padded(states, batch):
            here = ground_or_filter(model, probe.snapshot[picked], probe.context_obs[picked], probe.context_action[picked])
            action = torch.from_numpy(probe.actions[picked]).flatten(0, 1)
            earned, single = _hold(model, model, tile(here, tried), action, probe.hold)
            total[:, rows] = earned.reshape(model.members, batch, tried)[:, : rows.stop - rows.start]
            single_precision = single_precision or single
    return Imagined(total, single_precision)


def _hold(model: WorldModel, head: Rewards, dream: State, action: Tensor, steps: int) -> tuple[NDArray[np.float64], bool]:
    """(K, rows): the summed rewards of holding `action` (rows, A), and whether they come from less than float64."""
    shape = (model.members, len(action))
    total, running, single = np.zeros(shape), np.ones(shape), False
    for _ in range(steps):
        dream = model.imagine(dream, action)
        reward = head.reward(dream)
        check_shape("reward", reward, shape)
        single = single or reward.dtype != torch.float64
        with np.errstate(invalid="ignore", over="ignore"):  # inf * 0 and inf - inf are not finite and counted as such
            total = total + running * reward.double().numpy()
            if isinstance(model, Continues):
                going = model.continues(dream)
                check_shape("continues", going, shape)
                running = running * going.double().numpy()
    return total, single
