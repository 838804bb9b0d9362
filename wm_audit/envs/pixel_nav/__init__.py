"""The built-in world: a disc with momentum in a walled square, seen in pixels, numpy only.

It pulls visual fidelity and control apart: a large moving pattern that matters to nothing (`distractor`) and a
tiny dot that decides which of two goals pays (`cue`). Every layout runs on the same engine.
"""

from wm_audit.envs.pixel_nav.layout import OPEN, TWO_ROOMS, Layout
from wm_audit.envs.pixel_nav.settings import Settings
from wm_audit.envs.pixel_nav.state import COLUMNS, WIDTH
from wm_audit.envs.pixel_nav.world import PixelNav

__all__ = ["COLUMNS", "OPEN", "TWO_ROOMS", "WIDTH", "Layout", "PixelNav", "Settings"]
