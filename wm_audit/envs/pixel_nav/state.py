"""The numbers that the future of a copy depends on, and how an episode's first ones are drawn.

A state is (S, n): one contiguous row per number, so that arithmetic over copies runs through memory in order.
A snapshot is its transpose, (n, S). The columns are the same for every setting, and every episode draws the same
numbers whatever is switched on: under one stream, a world with and without its distractor are the same world.
"""

import numpy as np

from wm_audit.core import Stream
from wm_audit.envs.pixel_nav.layout import CLEARANCE, Box, Layout
from wm_audit.envs.protocol import Floats

COLUMNS: dict[str, slice] = {
    "position": slice(0, 2),  # x, y of the agent's centre
    "velocity": slice(2, 4),  # vx, vy in arena sides a step
    "step": slice(4, 5),  # steps taken
    "goals": slice(5, 9),  # x, y of the first goal, x, y of the second
    "paying": slice(9, 10),  # 0: the first goal pays, 1: the second
    "phase": slice(10, 12),  # the distractor's phase in periods, along x and along y
    "drift": slice(12, 14),  # what each phase gains a step
}
WIDTH = 14  # S

POSITION, VELOCITY, GOALS, PHASE, DRIFT = (COLUMNS[name] for name in ("position", "velocity", "goals", "phase", "drift"))
STEP, PAYING = COLUMNS["step"].start, COLUMNS["paying"].start

CANDIDATES = 24  # places to start; the first one clear of both goals is taken
DRIFT_RANGE = (0.01, 0.03)  # periods a step, either way
_DRAWS = 1 + 4 + 2 * CANDIDATES + 2 + 2


def first_state(layout: Layout, stream: Stream, n: int) -> Floats:
    """(S, n): the beginning of n episodes; copy i uses `stream.child(i)` only."""
    unit = np.stack([stream.child(copy).uniform(_DRAWS) for copy in range(n)], axis=1)
    coin, goals, starts, phase, drift = np.split(unit, np.cumsum([1, 4, 2 * CANDIDATES, 2]))
    state = np.zeros((WIDTH, n))
    state[PAYING] = coin[0] >= 0.5
    state[GOALS] = np.concatenate([_inside(layout.goals[0], goals[:2]), _inside(layout.goals[1], goals[2:])])
    state[POSITION] = _clear_start(layout, starts.reshape(CANDIDATES, 2, n), state[GOALS])
    state[PHASE] = phase
    slow, fast = DRIFT_RANGE
    signed = 2.0 * drift - 1.0
    state[DRIFT] = np.where(signed < 0.0, -1.0, 1.0) * (slow + (fast - slow) * np.abs(signed))
    return state


def _inside(box: Box, unit: Floats) -> Floats:
    """Uniform numbers (..., 2, n) as places in a box."""
    low = np.array([[box.x_low], [box.y_low]])
    high = np.array([[box.x_high], [box.y_high]])
    return np.asarray(low + (high - low) * unit, dtype=np.float64)


def _clear_start(layout: Layout, unit: Floats, goals: Floats) -> Floats:
    """(2, n): the first candidate at least CLEARANCE from both goals, or the farthest one where none is."""
    places = _inside(layout.start, unit)  # (CANDIDATES, 2, n)
    offsets = places[:, None] - goals.reshape(1, 2, 2, -1)
    nearest = np.sqrt(offsets[:, :, 0] ** 2 + offsets[:, :, 1] ** 2).min(axis=1)  # (CANDIDATES, n)
    clear = nearest >= CLEARANCE
    pick = np.where(clear.any(axis=0), clear.argmax(axis=0), nearest.argmax(axis=0))
    return np.asarray(places[pick, :, np.arange(places.shape[2])].T, dtype=np.float64)
