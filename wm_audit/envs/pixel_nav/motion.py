"""How the agent moves: velocity with drag, walls that stop one axis at a time.

    v' = drag v + gain a,    p' = p + v' + (wind, 0)

x moves first, then y. Each axis is swept from its old to its new value, so no speed tunnels through a wall, and the
agent slides along what it hits: that component of the velocity becomes zero, the other stays.
"""

import numpy as np

from wm_audit.envs.pixel_nav.layout import Layout
from wm_audit.envs.pixel_nav.settings import Settings
from wm_audit.envs.pixel_nav.state import DRIFT, PHASE, POSITION, STEP, VELOCITY
from wm_audit.envs.protocol import Floats

# A centre this little inside a wall counts as standing at it: a state that was rounded on its way stays outside.
_SKIN = 1e-6


def move(state: Floats, action: Floats, layout: Layout, settings: Settings) -> None:
    """Advances a state (S, n) by one step, in place; `action` is (2, n) inside the bounds."""
    x, y = state[POSITION]
    velocity = settings.drag * state[VELOCITY] + settings.gain * action
    x_end = x + velocity[0] + settings.wind
    y_end = y + velocity[1]
    x_rest = _sweep(x, x_end, y, layout, axis=0)
    y_rest = _sweep(y, y_end, x_rest, layout, axis=1)
    velocity[0] = np.where(x_rest == x_end, velocity[0], 0.0)
    velocity[1] = np.where(y_rest == y_end, velocity[1], 0.0)
    state[POSITION] = x_rest, y_rest
    state[VELOCITY] = velocity
    state[STEP] += 1.0
    phase = state[PHASE] + state[DRIFT]
    state[PHASE] = phase - np.floor(phase)


def _sweep(start: Floats, end: Floats, across: Floats, layout: Layout, *, axis: int) -> Floats:
    """(n,): where centres come to rest that move along one axis from `start` towards `end`.

    Args:
        start: (n,) coordinate on the moving axis before the move.
        end: (n,) where it would be without walls.
        across: (n,) coordinate on the other axis.
        layout: the walls.
        axis: 0 for x, 1 for y.
    """
    rest = end
    for block in layout.blocks:
        low, high = block[axis], block[axis + 2]
        beside = (across > block[1 - axis]) & (across < block[3 - axis])
        rest = np.where(beside & (start <= low + _SKIN) & (rest > low), low, rest)
        rest = np.where(beside & (start >= high - _SKIN) & (rest < high), high, rest)
    return np.clip(rest, layout.floor[axis], layout.floor[axis + 2])
