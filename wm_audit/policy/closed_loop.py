"""Closed loop: what an agent earns in the environment itself, in all evaluation episodes at once.

Shapes: n episodes, S numbers of physical state, A action.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import AuditError, Measurement, Reason, Stream
from wm_audit.envs.protocol import Oracle
from wm_audit.policy.agents import Agent
from wm_audit.policy.bounds import Floats

MIN_STARTS = 20
TIE = 1e-12
"""Two returns nearer to each other than this share of the larger are the same number with other rounding."""


@dataclass(frozen=True, slots=True)
class Returns:
    """What every episode gave.

    Attributes:
        value: (n,), undiscounted sum of the rewards until the episode ended.
        length: (n,), steps until then.
        nonfinite_plans: (n,), searches in which some imagined return was not finite.
    """

    value: Floats
    length: NDArray[np.int64]
    nonfinite_plans: NDArray[np.int64]


def start_states(env: Oracle, n: int, stream: Stream, *, least: int = MIN_STARTS) -> Floats:
    """(n, S): states to start evaluation episodes from; every cell of a grid uses the same ones.

    Copy i's draws do not depend on n, so more starts extend the list and never change it.

    Raises:
        AuditError: fewer than `least`: the mean of a few start states says little.
    """
    if n < least:
        raise AuditError("too few start states", where="start_states", expected=f"at least {least}, found {n}", fix="ask for more")
    world = env.fork()
    world.reset(stream, n)
    return world.snapshot()


def closed_loop(env: Oracle, starts: Floats, agent: Agent, *, steps: int, stream: Stream) -> Returns:
    """Lets the agent act from every start state until its episode ends, at most `steps` steps.

    Ended episodes contribute nothing any more; when all have ended, the loop stops. Pictures are drawn only for agents that look.

    Args:
        env: forked, never touched.
        starts: (n, S), from `start_states`.
        agent: is reset first, so that nothing survives from earlier episodes.
        steps: usually the environment's limit.
        stream: the agent's noise. The same stream for two agents gives common random numbers.

    Raises:
        AuditError: the agent's actions are not finite numbers (n, A).
    """
    world, n = env.fork(), starts.shape[0]
    world.restore(starts)
    agent.reset(n, stream)
    obs = world.render() if agent.observes else None
    value, alive = np.zeros(n), np.ones(n, dtype=bool)
    length, nonfinite = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for step in range(steps):
        decision = agent.act(world, obs, step)
        _check(decision.action, (n, len(env.spec.action_low)))
        outcome = world.advance(decision.action)
        value = value + np.where(alive, outcome.reward, 0.0)
        length += alive
        nonfinite += alive & decision.nonfinite
        alive &= ~(outcome.terminated | outcome.truncated)
        if not alive.any():
            break
        obs = world.render() if agent.observes else None
    return Returns(value, length, nonfinite)


def summary(returns: Returns) -> Measurement:
    """Mean return over the episodes with its standard error (ddof 1), which needs two of them.

    A return that is not finite makes the mean null: leaving it out would flatter the agent.
    """
    n = returns.value.size
    dropped = int((~np.isfinite(returns.value)).sum())
    if n == 0:
        return Measurement.null(Reason.TOO_FEW_SAMPLES, unit="return", orientation=1)
    if dropped:
        return Measurement.null(Reason.NONFINITE_PREDICTION, unit="return", orientation=1, n=n - dropped, n_dropped=dropped)
    se = float(returns.value.std(ddof=1) / np.sqrt(n)) if n > 1 else None
    return Measurement(float(returns.value.mean()), unit="return", orientation=1, n=n, se=se)


def normalised(return_: Measurement, random_return: Measurement, oracle_return: Measurement) -> Measurement:
    """The return on a scale on which the random policy has 0 and the oracle planner 1.

    The standard error is that of the return alone: the references are taken as given.

    Returns:
        null with the return's own reason, `reference_missing` where a reference has no value, `reference_degenerate` where the
        oracle is not above random by more than rounding.
    """
    if return_.value is None:
        return return_.with_(unit="1", orientation=1)
    null = partial(Measurement.null, n=return_.n, n_dropped=return_.n_dropped, orientation=1)
    if random_return.value is None or oracle_return.value is None:
        return null(Reason.REFERENCE_MISSING)
    gap = oracle_return.value - random_return.value
    if gap <= TIE * max(abs(oracle_return.value), abs(random_return.value)):
        return null(Reason.REFERENCE_DEGENERATE)
    value, se = (return_.value - random_return.value) / gap, None if return_.se is None else return_.se / gap
    return Measurement(value, n=return_.n, n_dropped=return_.n_dropped, orientation=1, se=se)


def _check(action: Floats, shape: tuple[int, int]) -> None:
    if action.shape != shape or not np.isfinite(action).all():
        raise AuditError(
            f"the agent's actions are {action.shape} or not finite", where="closed_loop", expected=f"finite {shape}", fix="repair the agent"
        )
