"""Runs behaviours in a world and records everything, many episodes in lockstep."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import AuditError, Stream, stream
from wm_audit.data.actions import executable
from wm_audit.data.behaviours import Behaviour, Now
from wm_audit.data.episode import Bytes, Doubles, Episodes, Ints
from wm_audit.data.shares import apportion
from wm_audit.envs.protocol import Oracle, Step


def collect(
    env: Oracle, behaviours: Mapping[str, Behaviour], shares: Mapping[str, float], steps: int, *, root: int, seed: int, chunk: int = 256
) -> Episodes:
    """Records ceil(steps / limit) episodes, divided over the behaviours by their shares.

    `steps` is a budget: an episode that terminates early leaves the rest of its share unused. Every episode draws from
    `stream(root, "collect", env id, seed, behaviour, i)` alone, so neither the chunk size nor another behaviour's
    share changes a byte of it.

    Args:
        env: the world; it is forked, never touched.
        behaviours: by name, see `behaviours.py`.
        shares: of the episodes, by the same names, summing to 1; whole numbers by largest remainder.
        steps: budget in environment steps.
        root: the experiment's root seed.
        seed: of this data set.
        chunk: how many episodes run at once; bounds the memory of the copies.

    Raises:
        AuditError: names that do not match, a budget or chunk below 1, a behaviour without an episode, an action or
            reward that is not finite, a behaviour that moved the world, or an episode that does not end at the limit.
    """
    if set(behaviours) != set(shares):
        raise AuditError(f"shares are declared for {sorted(shares)}", where="shares", expected=f"one for each of {sorted(behaviours)}")
    if steps < 1 or chunk < 1:
        raise AuditError(f"steps is {steps} and chunk {chunk}", where="collect", expected="at least 1 each")
    counts = apportion(-(-steps // env.spec.limit), {name: shares[name] for name in behaviours})
    if empty := [name for name, count in counts.items() if count == 0]:
        raise AuditError(f"{steps} steps leave no episode for {empty}", where="collect.steps", expected="an episode for every behaviour")
    world = env.fork()
    record = _blank(world, counts, root, seed)
    first = 0
    for name, count in counts.items():
        streams = [stream(root, "collect", env.spec.id, seed, name, i) for i in range(count)]
        for begin in range(0, count, chunk):
            group = streams[begin : begin + chunk]
            rows = np.arange(first + begin, first + begin + len(group))
            _lockstep(world, behaviours[name], group, _Rows(record, rows))
        first += count
    return record


def _blank(world: Oracle, counts: Mapping[str, int], root: int, seed: int) -> Episodes:
    """Zeros of the final shape; the state's size S is known only from a state."""
    spec = world.spec
    world.reset(stream(root, "collect", spec.id, seed, "size"), 1)
    e, t, s = sum(counts.values()), spec.limit, world.snapshot().shape[1]
    return Episodes(
        obs=np.zeros((e, t + 1, *spec.image), dtype=np.uint8),
        action=np.zeros((e, t, len(spec.action_low)), dtype=np.float32),
        reward=np.zeros((e, t)),
        terminated=np.zeros((e, t), dtype=np.bool_),
        truncated=np.zeros((e, t), dtype=np.bool_),
        length=np.ones(e, dtype=np.int64),
        snapshot=np.zeros((e, t + 1, s)),
        behaviour=np.repeat(np.arange(len(counts)), list(counts.values())).astype(np.int64),
        behaviours=tuple(counts),
    )


class _Rows:
    """Writes what happens to a group of running episodes into their rows of the record."""

    def __init__(self, record: Episodes, rows: Ints) -> None:
        self._record, self._rows = record, rows

    def start(self, obs: Bytes, snapshot: Doubles) -> None:
        self._record.obs[self._rows, 0] = obs
        self._record.snapshot[self._rows, 0] = snapshot

    def step(self, alive: Ints, t: int, action: NDArray[np.float32], step: Step, snapshot: Doubles) -> None:
        record, rows = self._record, self._rows[alive]
        record.action[rows, t] = action
        record.reward[rows, t] = step.reward
        record.terminated[rows, t] = step.terminated
        record.truncated[rows, t] = step.truncated
        record.obs[rows, t + 1] = step.obs
        record.snapshot[rows, t + 1] = snapshot
        record.length[rows] = t + 1


def _lockstep(world: Oracle, behaviour: Behaviour, streams: Sequence[Stream], out: _Rows) -> None:
    """Runs one episode per stream to its end; episodes that ended leave the world."""
    state = _starts(world, streams)
    obs = world.render()
    out.start(obs, state)
    act = behaviour(world, [item.child("act") for item in streams])
    alive = np.arange(len(streams))
    for t in range(world.spec.limit):
        action = executable(act(Now(obs, t, alive)), world.spec)
        if not np.array_equal(world.snapshot(), state):
            raise AuditError("a behaviour moved the world it was shown", where=world.spec.id, expected="planning in env.fork()")
        step = world.step(action.astype(np.float64))
        if not np.isfinite(step.reward).all():
            raise AuditError(f"a reward is not finite at step {t}", where=world.spec.id, expected="finite rewards")
        state, obs = world.snapshot(), step.obs
        out.step(alive, t, action, step, state)
        running = ~(step.terminated | step.truncated)
        if not running.any():
            return
        if not running.all():
            alive, obs, state = alive[running], obs[running], state[running]
            world.restore(state)
    raise AuditError(f"an episode goes on after {world.spec.limit} steps", where=world.spec.id, expected="truncation at the limit")


def _starts(world: Oracle, streams: Sequence[Stream]) -> Doubles:
    """One start state per episode, each reset on its own, so that its draws know nothing of the group; leaves the world in them."""
    states = []
    for item in streams:
        world.reset(item.child("reset"), 1)
        states.append(world.snapshot())
    joined = np.concatenate(states)
    world.restore(joined)
    return joined
