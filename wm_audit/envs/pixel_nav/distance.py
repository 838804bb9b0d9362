"""Walking distance: the length of the shortest path around the walls, exact.

Shortest paths among rectangles turn only at their corners (Lozano-Perez and Wesley, 1979, "An algorithm for planning
collision-free paths among polyhedral obstacles"), here the corners as the agent's centre feels them.
"""

import numpy as np

from wm_audit.envs.pixel_nav.layout import Box, Layout
from wm_audit.envs.protocol import Bools, Floats

_SHRINK = 1e-9  # a path may touch a wall; rounding must not turn touching into crossing


class Walk:
    """Distances to one goal per copy in one layout."""

    def __init__(self, layout: Layout) -> None:
        self._blocks = layout.blocks
        self._corners = _corners(layout)
        x, y = self._corners
        hops = self._direct(x[:, None], y[:, None], x[None], y[None])
        for middle in range(len(x)):
            hops = np.minimum(hops, hops[:, middle, None] + hops[None, middle])
        self._hops = hops  # (corners, corners), walking distance

    def from_corners(self, goal: Floats) -> Floats:
        """(corners, n): the walking distance from every corner to each copy's `goal` (2, n)."""
        last = self._from_corners_directly(goal)
        if not len(last):
            return last
        return np.asarray((self._hops[:, :, None] + last[None]).min(axis=1), dtype=np.float64)

    def to_goal(self, place: Floats, goal: Floats, from_corners: Floats) -> Floats:
        """(n,): the walking distance from `place` (2, n) to `goal` (2, n); infinite from inside a wall."""
        straight = self._direct(place[0], place[1], goal[0], goal[1])
        if not len(from_corners):
            return straight
        around = (self._from_corners_directly(place) + from_corners).min(axis=0)
        return np.asarray(np.minimum(straight, around), dtype=np.float64)

    def _from_corners_directly(self, place: Floats) -> Floats:
        """(corners, n): straight distances between corners and places, infinite through a wall."""
        x, y = self._corners
        return self._direct(x[:, None], y[:, None], place[0], place[1])

    def _direct(self, x: Floats, y: Floats, x_to: Floats, y_to: Floats) -> Floats:
        """Straight distances, infinite where a wall is in between; arguments broadcast."""
        across, up = x_to - x, y_to - y
        length = np.sqrt(across * across + up * up)
        for block in self._blocks:
            length = np.where(_crosses(block.grown(-_SHRINK), x, y, across, up), np.inf, length)
        return np.asarray(length, dtype=np.float64)


def _crosses(box: Box, x: Floats, y: Floats, across: Floats, up: Floats) -> Bools:
    """Whether the segments from (x, y) by (across, up) meet the open box: no axis separates the two (no division)."""
    half_width, half_height = (box.x_high - box.x_low) / 2, (box.y_high - box.y_low) / 2
    off_x = x + across / 2 - (box.x_low + box.x_high) / 2
    off_y = y + up / 2 - (box.y_low + box.y_high) / 2
    wide, high = np.abs(across), np.abs(up)
    near_x = np.abs(off_x) < half_width + wide / 2
    near_y = np.abs(off_y) < half_height + high / 2
    near_line = np.abs(across * off_y - up * off_x) < half_width * high + half_height * wide
    return np.asarray(near_x & near_y & near_line, dtype=np.bool_)


def _corners(layout: Layout) -> Floats:
    """(2, corners): corners of the walls that the agent's centre can reach."""
    floor = layout.floor
    points = [(x, y) for block in layout.blocks for x in (block.x_low, block.x_high) for y in (block.y_low, block.y_high)]
    free = [
        (x, y)
        for x, y in points
        if floor.x_low <= x <= floor.x_high
        and floor.y_low <= y <= floor.y_high
        and not any(b.x_low < x < b.x_high and b.y_low < y < b.y_high for b in layout.blocks)
    ]
    return np.array(free, dtype=np.float64).reshape(-1, 2).T
