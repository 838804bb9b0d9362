"""Where walls stand and where things may start.

The arena is the unit square, x to the right, y upwards. Rectangles of walls lie on multiples of 1/16, so that
their edges fall between pixels at every image size.
"""

from dataclasses import dataclass
from typing import NamedTuple

BORDER = 1 / 16  # thickness of the wall around the arena
AGENT_RADIUS = 0.07
CLEARANCE = 0.25  # least distance between the start and either goal


class Box(NamedTuple):
    """An axis-aligned rectangle, x_low < x_high and y_low < y_high."""

    x_low: float
    y_low: float
    x_high: float
    y_high: float

    def grown(self, margin: float) -> "Box":
        """The rectangle with `margin` added on all four sides."""
        return Box(self.x_low - margin, self.y_low - margin, self.x_high + margin, self.y_high + margin)


@dataclass(frozen=True, slots=True)
class Layout:
    """One floor plan.

    Attributes:
        id: the environment's id.
        walls: rectangles inside the arena; the border stands by itself.
        start: where the agent's centre may start.
        goals: where the centre of the first and of the second goal may lie; one of the two pays.
        span: an upper bound of the walking distance between two places, in arena sides.
    """

    id: str
    walls: tuple[Box, ...]
    start: Box
    goals: tuple[Box, Box]
    span: float

    @property
    def floor(self) -> Box:
        """Where the agent's centre can be, walls inside the arena aside."""
        edge = BORDER + AGENT_RADIUS
        return Box(edge, edge, 1 - edge, 1 - edge)

    @property
    def blocks(self) -> tuple[Box, ...]:
        """The walls as the agent's centre feels them: grown by its radius (it collides as its bounding square)."""
        return tuple(wall.grown(AGENT_RADIUS) for wall in self.walls)


# First goal on the left, second on the right; the start may be anywhere that is not near a goal.
OPEN = Layout(
    id="pixel_nav",
    walls=(),
    start=Box(0.14, 0.14, 0.86, 0.86),
    goals=(Box(0.185, 0.185, 0.36, 0.815), Box(0.64, 0.185, 0.815, 0.815)),
    span=1.05,
)

# The start is in the left room, both goals in the right one: the first above, the second below.
TWO_ROOMS = Layout(
    id="two_room",
    walls=(Box(7 / 16, 0.0, 9 / 16, 6 / 16), Box(7 / 16, 10 / 16, 9 / 16, 1.0)),
    start=Box(0.14, 0.14, 0.36, 0.86),
    goals=(Box(0.69, 0.63, 0.815, 0.815), Box(0.69, 0.185, 0.815, 0.37)),
    span=1.08,
)
