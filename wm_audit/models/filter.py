"""From what was seen to what is believed: the one way in which a context becomes a model state.

Shapes: K members, B batch, c context steps, A action, image `C h w`, S numbers of physical state.
"""

import numpy as np
import torch
from numpy.typing import NDArray

from wm_audit.models.protocol import Grounds, State, WorldModel


def filter_context(model: WorldModel, context_obs: NDArray[np.uint8], context_action: NDArray[np.float32]) -> State:
    """The posterior after the last context observation, (K, B, ...).

    obs[0] follows a zero action on the initial state; action[i - 1] led to obs[i].

    Args:
        model: any world model; it is not trained here, so no gradient is kept.
        context_obs: (B, c, C, h, w), c at least 1.
        context_action: (B, c - 1, A).

    Raises:
        ValueError: the two do not fit together.
    """
    batch, steps = context_obs.shape[:2]
    if steps < 1 or context_action.ndim != 3 or context_action.shape[:2] != (batch, steps - 1):
        raise ValueError(f"context actions must be ({batch}, {steps - 1}, A) for {steps} observations, found {context_action.shape}")
    obs = torch.from_numpy(np.array(context_obs))
    action = torch.from_numpy(np.array(context_action, dtype=np.float32))
    with torch.no_grad():
        state = model.observe(model.initial(batch), torch.zeros(batch, action.shape[2]), obs[:, 0])
        for i in range(1, steps):
            state = model.observe(state, action[:, i - 1], obs[:, i])
    return state


def ground_or_filter(
    model: WorldModel, snapshot: NDArray[np.float64], context_obs: NDArray[np.uint8], context_action: NDArray[np.float32]
) -> State:
    """The state at the last context observation: told where the model can be told (`snapshot` (B, S)), filtered elsewhere."""
    if isinstance(model, Grounds):
        return model.ground(np.array(snapshot, dtype=np.float64))
    return filter_context(model, context_obs, context_action)
