"""What an action sequence is worth: through a world model, or on the true dynamics.

Both add the same numbers in the same order in float64, so that a world model that knows the truth gives the returns of the
environment bit for bit.

Shapes: K members, B problems, N candidates, T environment steps, A action.
"""

from collections.abc import Iterator

import numpy as np
import torch

from wm_audit.core import AuditError
from wm_audit.envs.protocol import Oracle
from wm_audit.models.members import members_mean
from wm_audit.models.protocol import Continues, Rewards, State, WorldModel
from wm_audit.policy.bounds import Floats
from wm_audit.policy.cem import Score


def env_score(env: Oracle, snapshot: Floats, *, discount: float) -> Score:
    """Returns on the true dynamics, from the states `snapshot` (B, S); rewards after termination are 0.

    Truncation is no part of the dynamics, so the search looks past the episode's limit. The environment is forked, never touched.
    """
    return scratch_score(env.fork(), snapshot, discount=discount)


def scratch_score(world: Oracle, snapshot: Floats, *, discount: float) -> Score:
    """`env_score` on a world that is the caller's to overwrite, for callers who score many times and fork once."""

    def score(actions: Floats) -> Floats:
        batch, candidates, steps, size = actions.shape
        world.restore(np.repeat(snapshot, candidates, axis=0))
        flat = actions.reshape(batch * candidates, steps, size)
        alive = np.ones(batch * candidates, dtype=bool)
        total = np.zeros(batch * candidates)
        for t, weight in enumerate(_weights(discount, steps)):
            outcome = world.advance(flat[:, t])
            total = total + weight * np.where(alive, outcome.reward, 0.0)
            alive &= ~outcome.terminated
        return total.reshape(batch, candidates)

    return score


def model_score(model: WorldModel, state: State, *, discount: float, rows: int | None = None) -> Score:
    """Imagined returns from the states `state` (K, B, ...), averaged over all members.

    A model that predicts continuation has every reward weighted by the probability that the episode was still running before it.

    Args:
        model: must predict rewards.
        state: where the imagination starts; not changed.
        discount: weight of a reward one step later.
        rows: at most so many of the B * N sequences are imagined at once; all of them by default.

    Raises:
        AuditError: the model does not predict rewards.
    """
    if not isinstance(model, Rewards):
        raise AuditError(
            "the model does not predict rewards", where=type(model).__name__, expected="a `reward` method", fix="plan with another model"
        )

    def score(actions: Floats) -> Floats:
        batch, candidates, steps, size = actions.shape
        flat = torch.from_numpy(actions.reshape(batch * candidates, steps, size).astype(np.float32))
        source = torch.arange(batch).repeat_interleave(candidates)
        with torch.inference_mode():
            parts = [
                _imagined(model, model, {name: item[:, source[part]] for name, item in state.items()}, flat[part], discount)
                for part in _parts(batch * candidates, rows)
            ]
        return members_mean(np.concatenate(parts, axis=1)).reshape(batch, candidates)

    return score


def _imagined(model: WorldModel, head: Rewards, state: State, actions: torch.Tensor, discount: float) -> Floats:
    """(K, rows): every member's return of the sequences `actions` (rows, T, A)."""
    total = np.zeros((model.members, actions.shape[0]))
    running = np.ones_like(total)
    for t, weight in enumerate(_weights(discount, actions.shape[1])):
        state = model.imagine(state, actions[:, t])
        reward = head.reward(state).double().numpy()
        with np.errstate(invalid="ignore", over="ignore"):  # inf * 0 and inf - inf are nan, which the search sorts out
            if isinstance(model, Continues):
                reward, running = running * reward, running * model.continues(state).double().numpy()
            total = total + weight * reward
    return total


def _weights(discount: float, steps: int) -> Iterator[float]:
    """1, discount, discount**2, ... by repeated multiplication."""
    weight = 1.0
    for _ in range(steps):
        yield weight
        weight *= discount


def _parts(count: int, rows: int | None) -> Iterator[slice]:
    step = count if rows is None else rows
    yield from (slice(start, min(start + step, count)) for start in range(0, count, step))
