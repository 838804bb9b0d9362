"""Draws states as RGB pictures: background, walls, cue, goals, agent.

Only exactly rounded arithmetic (+, -, *, square root, floor) touches a pixel, so a picture has the same bytes on every
machine. Discs are drawn in small boxes around them; their rims are weighted by coverage, so that motion below one pixel
shows. Row 0 is the top of the arena (y = 1).
"""

import math

import numpy as np
from numpy.typing import NDArray

from wm_audit.envs.pixel_nav.layout import AGENT_RADIUS, BORDER, Box, Layout
from wm_audit.envs.pixel_nav.settings import Settings
from wm_audit.envs.pixel_nav.state import GOALS, PAYING, PHASE, POSITION
from wm_audit.envs.protocol import Floats, Images

RENDERER = "pixel_nav/1"

Singles = NDArray[np.float32]

FLOOR = (34, 30, 44)
WALL = (150, 150, 156)
GOAL = (40, 214, 96)
AGENT = (255, 236, 64)
CUES = ((232, 24, 40), (24, 64, 240))  # the first goal pays, the second goal pays

# The drifting pattern, per channel: darkest value, what one wave adds at most (one along x, one along y), and how far the
# channel's waves run ahead, in periods: blue is bright where red is dark. The pattern moves as one: two phases say all of it,
# however much of the picture it fills. Green stays low, so that goal and agent stand out wherever the pattern is bright.
PATTERN_BASE = (12, 8, 16)
PATTERN_WAVE = (104, 38, 110)
PATTERN_LEADS = (0.0, 0.0, 0.5)

_CUE_BOX = Box(7 / 16, 1 - BORDER, 8 / 16, 1.0)  # in the upper border, where nothing covers it; 1, 2 or 4 pixels wide
_CHUNK_BYTES = 1 << 19  # pictures are drawn in portions that stay in the processor's cache


class Painter:
    """Draws one layout with one choice of settings."""

    def __init__(self, layout: Layout, settings: Settings) -> None:
        self._settings = settings
        self._side = settings.image
        edges = (Box(0, 0, 1, BORDER), Box(0, 1 - BORDER, 1, 1), Box(0, 0, BORDER, 1), Box(1 - BORDER, 0, 1, 1))
        self._walls = [self._pixels(box) for box in (*edges, *layout.walls)]
        self._cue = self._pixels(_CUE_BOX)
        centres = (np.arange(self._side, dtype=np.float32) + np.float32(0.5)) / np.float32(self._side)
        leads = np.array(PATTERN_LEADS, dtype=np.float32)[:, None]
        self._along_x = centres + leads  # (3, w), position in periods
        self._along_y = centres[::-1] + leads  # (3, h)

    def draw(self, state: Floats) -> Images:
        """(n, 3, h, w): the pictures of a state (S, n)."""
        n = state.shape[1]
        images = np.empty((n, 3, self._side, self._side), dtype=np.uint8)
        chunk = max(1, _CHUNK_BYTES // (3 * self._side**2))
        for first in range(0, n, chunk):
            self._draw_into(images[first : first + chunk], state[:, first : first + chunk])
        return images

    def _draw_into(self, images: Images, state: Floats) -> None:
        if self._settings.distractor == "drift":
            self._pattern_into(images, state[PHASE])
        else:
            images[:] = _column(FLOOR)
        for rows, columns in self._walls:
            images[:, :, rows, columns] = _column(WALL)
        paying, goals, radius = state[PAYING] >= 0.5, state[GOALS], self._settings.goal_radius
        if self._settings.cue == "dot":
            rows, columns = self._cue
            images[:, :, rows, columns] = np.array(CUES, dtype=np.uint8)[paying.astype(np.int64)][:, :, None, None]
            self._disc_into(images, goals[:2], radius, GOAL)
            self._disc_into(images, goals[2:], radius, GOAL)
        else:
            self._disc_into(images, np.where(paying, goals[2:], goals[:2]), radius, GOAL)
        self._disc_into(images, state[POSITION], AGENT_RADIUS, AGENT)

    def _pattern_into(self, images: Images, phase: Floats) -> None:
        """A wave along x plus a wave along y in every channel; each is rounded to whole levels before they are added."""
        shift = phase.T.astype(np.float32)[:, :, None, None]  # (n, 2, 1, 1)
        height = np.array(PATTERN_WAVE, dtype=np.float32)[:, None]
        columns = (height * _wave(self._along_x + shift[:, 0]) + np.float32(0.5)).astype(np.uint8)
        rows = (height * _wave(self._along_y + shift[:, 1]) + np.float32(0.5)).astype(np.uint8)
        rows += np.array(PATTERN_BASE, dtype=np.uint8)[:, None]
        np.add(rows[:, :, :, None], columns[:, :, None, :], out=images)

    def _disc_into(self, images: Images, centre: Floats, radius: float, colour: tuple[int, int, int]) -> None:
        """Blends a disc per copy over the pictures, weighted by how much of a pixel it covers; `centre` is (2, n)."""
        side, reach = self._side, radius * self._side
        box = math.ceil(2 * reach) + 2
        x, y = centre[0] * side, (1.0 - centre[1]) * side
        columns, across = _window(x, reach, box, side)
        rows, down = _window(y, reach, box, side)
        distance = np.sqrt(down[:, :, None] ** 2 + across[:, None, :] ** 2)
        cover = np.clip(np.float32(reach + 0.5) - distance, np.float32(0), np.float32(1))[:, None]  # (n, 1, box, box)
        pixel = (rows * side)[:, :, None] + columns[:, None, :]
        plane = np.arange(3, dtype=np.int64) * side**2
        copy = np.arange(len(x), dtype=np.int64) * (3 * side**2)
        index = copy[:, None, None, None] + plane[:, None, None] + pixel[:, None]
        flat = images.reshape(-1)
        below = flat[index].astype(np.float32)
        flat[index] = (below + cover * (_column(colour).astype(np.float32) - below) + np.float32(0.5)).astype(np.uint8)

    def _pixels(self, box: Box) -> tuple[slice, slice]:
        """Rows and columns of a rectangle whose edges lie between pixels."""
        side = self._side
        rows = slice(round((1 - box.y_high) * side), round((1 - box.y_low) * side))
        return rows, slice(round(box.x_low * side), round(box.x_high * side))


def _wave(periods: Singles) -> Singles:
    """A smooth wave of period 1 between 0 and 1: a triangle wave through the cubic 3 t^2 - 2 t^3."""
    tooth = np.abs(np.float32(2) * (periods - np.floor(periods)) - np.float32(1))
    return np.asarray(tooth * tooth * (np.float32(3) - np.float32(2) * tooth), dtype=np.float32)


def _window(centre: Floats, reach: float, box: int, side: int) -> tuple[NDArray[np.int64], Singles]:
    """(n, box) pixel indices around a coordinate in pixels, kept inside the picture, and their offsets from it."""
    first = np.clip(np.floor(centre - reach - 0.5), 0, side - box).astype(np.int64)
    index = first[:, None] + np.arange(box, dtype=np.int64)
    return index, (index + 0.5 - centre[:, None]).astype(np.float32)


def _column(colour: tuple[int, int, int]) -> Images:
    """A colour as (3, 1, 1)."""
    return np.array(colour, dtype=np.uint8)[:, None, None]
