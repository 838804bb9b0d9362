"""What models are questioned on: recorded segments, and states where several actions were tried in the true world."""

from typing import NamedTuple

import numpy as np

from wm_audit.core import AuditError, Measurement, Reason, Stream
from wm_audit.data.actions import bounds, executable
from wm_audit.data.dataset import Dataset
from wm_audit.data.episode import Bytes, Doubles, Flags, Ints, Singles
from wm_audit.envs.protocol import Oracle

_COPIES = 4096  # worlds advanced at once


class Segments(NamedTuple):
    """B pieces of recorded episodes: a context to find the state from, then H steps to predict.

    Attributes:
        context_obs: (B, c, C, h, w) uint8; the last one shows the state the prediction starts in.
        context_action: (B, c-1, A) float32, between the context's observations.
        snapshot: (B, S) the true state at the last context observation.
        action: (B, H, A) float32.
        obs: (B, H, C, h, w) uint8; obs[t] follows action[t].
        reward: (B, H) float64, of action[t].
        terminated: (B, H) whether action[t] ended the world; only the last step can.
        episode: (B,) the episode each came from.
        step: (B,) the step of the last context observation in it.
    """

    context_obs: Bytes
    context_action: Singles
    snapshot: Doubles
    action: Singles
    obs: Bytes
    reward: Doubles
    terminated: Flags
    episode: Ints
    step: Ints


class Counterfactual(NamedTuple):
    """B states, in each of which M actions were tried from the very same state.

    Attributes:
        context_obs, context_action, snapshot, episode, step: as in `Segments`.
        actions: (B, M, A) float32.
        hold: how many steps each action is held.
        reward: (B, M) float64, the true rewards of the held steps, summed.
    """

    context_obs: Bytes
    context_action: Singles
    snapshot: Doubles
    actions: Singles
    hold: int
    reward: Doubles
    episode: Ints
    step: Ints


def segments(dataset: Dataset, split: str, n: int, *, context: int, horizon: int, stream: Stream) -> Segments:
    """Draws n different segments, uniform over all places of the split where context and horizon fit into an episode.

    Raises:
        AuditError: context, horizon or n below 1, an unknown split, or fewer than n places.
    """
    if horizon < 1:
        raise AuditError(f"is {horizon}", where="segments.horizon", expected="at least 1")
    episode, step = _places(dataset, split, n, stream, context=context, horizon=horizon, last=dataset.episodes.limit)
    data, ahead = dataset.episodes, step[:, None] + np.arange(horizon)
    rows = episode[:, None]
    return Segments(
        *_context(dataset, episode, step, context),
        action=data.action[rows, ahead],
        obs=data.obs[rows, ahead + 1],
        reward=data.reward[rows, ahead],
        terminated=data.terminated[rows, ahead],
        episode=episode,
        step=step,
    )


def counterfactual(
    dataset: Dataset, env: Oracle, *, n_states: int, n_actions: int, hold: int, context: int, stream: Stream
) -> Counterfactual:
    """Draws n different states of the probe split, in each of which `n_actions` uniform actions are held for `hold` steps.

    States are taken where `hold` steps fit before the time limit; after a termination nothing more is earned.

    Args:
        dataset: the recorded episodes.
        env: the world they were recorded in; it is forked, never touched.
        n_states: B.
        n_actions: M, at least 2.
        hold: steps an action is held.
        context: c, observations before and at the state.
        stream: of this probe.

    Raises:
        AuditError: a number out of range, another world than the recorded one, or fewer than n_states places.
    """
    if n_actions < 2 or hold < 1:
        raise AuditError(f"n_actions is {n_actions} and hold {hold}", where="counterfactual", expected="at least 2 and at least 1")
    if env.spec != dataset.env:
        raise AuditError(f"is {env.spec}", where="counterfactual.env", expected=f"the recorded world {dataset.env}")
    last = dataset.episodes.limit - hold
    episode, step = _places(dataset, "probe", n_states, stream.child("states"), context=context, horizon=1, last=last)
    low, high = bounds(env.spec)
    unit = stream.child("actions").uniform((n_states, n_actions, low.size))
    actions = executable(low + (high - low) * unit, env.spec)
    context_obs, context_action, snapshot = _context(dataset, episode, step, context)
    reward = _try(env, np.repeat(snapshot, n_actions, axis=0), actions.reshape(-1, low.size).astype(np.float64), hold)
    return Counterfactual(context_obs, context_action, snapshot, actions, hold, reward.reshape(n_states, n_actions), episode, step)


def check(probe: Counterfactual, *, rtol: float = 1e-12, atol: float = 0.0) -> Measurement:
    """The share of states whose true rewards tell their actions apart, known before any model is trained.

    A state counts if its largest and smallest reward differ by more than atol + rtol * max(|a|, |b|): the rule by which
    rank statistics call two values tied. States with a reward that is not finite are dropped and counted.

    Returns:
        The share, or null `probe_degenerate` where no state counts.
    """
    finite = np.isfinite(probe.reward).all(axis=1)
    reward = probe.reward[finite]
    n, dropped = int(finite.sum()), int((~finite).sum())
    if n:
        least, most = reward.min(axis=1), reward.max(axis=1)
        telling = int((most - least > atol + rtol * np.maximum(np.abs(least), np.abs(most))).sum())
        if telling:
            return Measurement(value=telling / n, n=n, n_dropped=dropped, orientation=1)
    return Measurement.null(Reason.PROBE_DEGENERATE, n=n, n_dropped=dropped, orientation=1)


def _places(dataset: Dataset, split: str, n: int, stream: Stream, *, context: int, horizon: int, last: int) -> tuple[Ints, Ints]:
    """Draws n different (episode, step) pairs with context - 1 steps behind, `horizon` lived steps ahead, and step <= last."""
    if split not in dataset.split:
        raise AuditError(f"is {split!r}", where="split", expected=f"one of {sorted(dataset.split)}")
    if n < 1 or context < 1:
        raise AuditError(f"n is {n} and context {context}", where="probe", expected="at least 1 each")
    ids, t = dataset.split[split], np.arange(dataset.episodes.limit)
    room = (t >= context - 1) & (t <= last) & (t + horizon <= dataset.episodes.length[ids, None])
    row, step = np.nonzero(room)
    if row.size < n:
        raise AuditError(
            f"has {row.size} places for context {context} and horizon {horizon}",
            where=f"split {split}",
            expected=f"at least {n}",
            fix="record more steps or ask for fewer",
        )
    chosen = stream.permutation(row.size)[:n]
    return ids[row[chosen]], step[chosen]


def _context(dataset: Dataset, episode: Ints, step: Ints, context: int) -> tuple[Bytes, Singles, Doubles]:
    data, behind = dataset.episodes, step[:, None] + np.arange(1 - context, 1)
    return data.obs[episode[:, None], behind], data.action[episode[:, None], behind[:, :-1]], data.snapshot[episode, step]


def _try(env: Oracle, snapshot: Doubles, action: Doubles, hold: int) -> Doubles:
    """(n,): the rewards of holding `action` (n, A) from `snapshot` (n, S), added in step order until a termination."""
    world, total = env.fork(), np.zeros(len(snapshot))
    for begin in range(0, len(snapshot), _COPIES):
        piece = slice(begin, begin + _COPIES)
        world.restore(snapshot[piece])
        alive = np.ones(world.n, dtype=np.bool_)
        for _ in range(hold):
            outcome = world.advance(action[piece])
            total[piece] += np.where(alive, outcome.reward, 0.0)
            alive &= ~outcome.terminated
    return total
