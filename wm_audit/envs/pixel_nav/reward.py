"""What a place is worth."""

import numpy as np

from wm_audit.envs.pixel_nav.distance import Walk
from wm_audit.envs.pixel_nav.layout import Layout
from wm_audit.envs.pixel_nav.settings import Settings
from wm_audit.envs.pixel_nav.state import GOALS, PAYING, POSITION
from wm_audit.envs.protocol import Bools, Floats


class Payment:
    """Rewards of n copies; remembers what does not change during an episode.

    dense:  1 - walking distance to the paying goal / the layout's span, in [0, 1], the same slope everywhere.
    sparse: 1 while the agent's centre is inside the paying goal, else 0.
    """

    def __init__(self, layout: Layout, settings: Settings) -> None:
        self._settings = settings
        self._span = layout.span
        self._walk = Walk(layout)
        self._goal = np.zeros((2, 0))
        self._from_corners = self._walk.from_corners(self._goal)

    def begin(self, state: Floats) -> None:
        """Takes up the goals of a state (S, n) that was just reset or restored."""
        first, second = state[GOALS][:2], state[GOALS][2:]
        self._goal = np.where(state[PAYING] < 0.5, first, second)
        if self._settings.reward == "dense":
            self._from_corners = self._walk.from_corners(self._goal)

    def pay(self, state: Floats) -> tuple[Floats, Bools]:
        """Reward (n,) of the places reached, and whether they end the episode (n,)."""
        place = state[POSITION]
        offset = place - self._goal
        inside = offset[0] * offset[0] + offset[1] * offset[1] <= self._settings.goal_radius * self._settings.goal_radius
        ends = self._settings.terminal == "goal"
        if self._settings.reward == "sparse":
            reward = inside.astype(np.float64)
        else:
            reward = np.clip(1.0 - self._walk.to_goal(place, self._goal, self._from_corners) / self._span, 0.0, 1.0)
            reward = np.where(inside, 1.0, reward) if ends else reward
        return reward, inside if ends else np.zeros_like(inside)
