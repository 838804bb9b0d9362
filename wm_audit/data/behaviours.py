"""What chooses the actions of the recorded episodes.

A behaviour is asked once for every group of episodes that run in lockstep, and answers with the function that is
then asked at every step:

    act = behaviour(env, streams)     # env runs n copies, at their start states; streams[i] belongs to episode i
    action = act(now)                 # (m, A) for the m <= n copies still running, float64, clipped by the collector

`env` is the very world that is being recorded: a planner may take `env.snapshot()` and plan in an `env.fork()`, but
must not step, restore or reset `env` itself (the collector refuses that). An episode that ended leaves the group, so
`env.n` shrinks; `now.rows` says which of the n episodes are left.

The grouping is a matter of memory, not of content: an action may depend on its own episode's stream, observations
and snapshots and on the step index, never on the neighbours, on n or on m. Then the data do not depend on the chunk size.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from wm_audit.core import AuditError, Stream
from wm_audit.data.actions import bounds
from wm_audit.data.episode import Doubles, Ints
from wm_audit.envs.protocol import EnvSpec, Images, Oracle


class Now(NamedTuple):
    """What a behaviour sees at one step.

    Attributes:
        obs: (m, C, h, w), the current observation of every running copy.
        step: t, the same for all copies.
        rows: (m,) the positions of the running copies among the n episodes the behaviour was started with.
    """

    obs: Images
    step: int
    rows: Ints


Act = Callable[[Now], Doubles]
Behaviour = Callable[[Oracle, Sequence[Stream]], Act]


def uniform(env: Oracle, streams: Sequence[Stream]) -> Act:
    """A fresh action, uniform inside the bounds, at every step."""
    return _scripted(_uniform_noise(env.spec, streams))


def held(steps: int) -> Behaviour:
    """A uniform action that is kept for `steps` steps before the next is drawn.

    Raises:
        AuditError: `steps` is smaller than 1.
    """
    if steps < 1:
        raise AuditError(f"is {steps}", where="held.steps", expected="at least 1")

    def behaviour(env: Oracle, streams: Sequence[Stream]) -> Act:
        drawn = _uniform_noise(env.spec, streams)
        return _scripted(drawn[:, np.arange(env.spec.limit) // steps])

    return behaviour


def correlated(correlation: float, scale: float = 0.6) -> Behaviour:
    """First-order autoregressive noise around the middle of the bounds (Ornstein-Uhlenbeck noise in discrete time).

    x[0] = scale e[0],  x[t] = correlation x[t-1] + scale sqrt(1 - correlation^2) e[t],  e ~ N(0, 1): the standard
    deviation is `scale` half ranges and the correlation of neighbouring steps is `correlation`, both before clipping.

    Raises:
        AuditError: the correlation is outside [0, 1), or the scale is not positive and finite.
    """
    if not 0 <= correlation < 1:
        raise AuditError(f"is {correlation}", where="correlated.correlation", expected="0 <= correlation < 1")
    if not 0 < scale < np.inf:
        raise AuditError(f"is {scale}", where="correlated.scale", expected="a positive number")

    def behaviour(env: Oracle, streams: Sequence[Stream]) -> Act:
        low, high = bounds(env.spec)
        noise = _normal_noise(env.spec, streams)
        for t in range(1, env.spec.limit):
            noise[:, t] = correlation * noise[:, t - 1] + np.sqrt(1 - correlation**2) * noise[:, t]
        return _scripted(np.clip((low + high) / 2 + (high - low) / 2 * scale * noise, low, high))

    return behaviour


def noisy(policy: Behaviour, scale: float | tuple[float, float]) -> Behaviour:
    """Another behaviour's actions plus Gaussian noise, in half ranges; a pair is a range the episodes' scales are drawn from.

    A scale per episode, uniform in the pair, spreads the episodes from nearly undisturbed to nearly random.

    Raises:
        AuditError: a scale is negative or not finite, or the pair is not ordered.
    """
    least, most = scale if isinstance(scale, tuple) else (scale, scale)
    if not 0 <= least <= most < np.inf:
        raise AuditError(f"is {scale}", where="noisy.scale", expected="a number of at least 0, or an ordered pair of them")

    def behaviour(env: Oracle, streams: Sequence[Stream]) -> Act:
        low, high = bounds(env.spec)
        scales = np.concatenate([item.child("scale").uniform(1, least, most) for item in streams])
        noise = _normal_noise(env.spec, [item.child("noise") for item in streams]) * (scales[:, None, None] * (high - low) / 2)
        act = policy(env, [item.child("policy") for item in streams])

        def disturbed(now: Now) -> Doubles:
            action: Doubles = act(now) + noise[now.rows, now.step]
            return action

        return disturbed

    return behaviour


def _scripted(actions: Doubles) -> Act:
    """Plays (n, T, A) actions that were fixed before the episodes began."""

    def act(now: Now) -> Doubles:
        chosen: Doubles = actions[now.rows, now.step]
        return chosen

    return act


def _uniform_noise(spec: EnvSpec, streams: Sequence[Stream]) -> Doubles:
    """(n, T, A), uniform inside the bounds, row i from stream i alone."""
    low, high = bounds(spec)
    unit = np.stack([item.uniform((spec.limit, low.size)) for item in streams])
    return np.asarray(low + (high - low) * unit, dtype=np.float64)


def _normal_noise(spec: EnvSpec, streams: Sequence[Stream]) -> Doubles:
    """(n, T, A), standard normal, row i from stream i alone."""
    low, _ = bounds(spec)
    return np.stack([item.normal((spec.limit, low.size)) for item in streams])
