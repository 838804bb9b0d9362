"""n copies of the built-in world behind the environment protocol."""

from dataclasses import asdict
from typing import Any, Self

import numpy as np

from wm_audit.core import AuditError, Stream
from wm_audit.envs.pixel_nav.layout import Layout
from wm_audit.envs.pixel_nav.motion import move
from wm_audit.envs.pixel_nav.render import RENDERER, Painter
from wm_audit.envs.pixel_nav.reward import Payment
from wm_audit.envs.pixel_nav.settings import Settings
from wm_audit.envs.pixel_nav.state import STEP, WIDTH, first_state
from wm_audit.envs.protocol import EnvSpec, Floats, Images, Outcome, Step


class PixelNav:
    """An `Oracle`: actions (n, 2) in [-1, 1] push right and up; pictures (n, 3, h, w).

    Args:
        layout: the floor plan; it names the environment.
        settings: see `Settings`.

    Raises:
        AuditError: an unknown setting or a bad value.
    """

    def __init__(self, layout: Layout, /, **settings: Any) -> None:
        self._layout = layout
        self._settings = Settings.of(settings, where=layout.id)
        self._painter = Painter(layout, self._settings)
        self._payment = Payment(layout, self._settings)
        self._state = np.zeros((WIDTH, 0))
        self._spec = EnvSpec(
            id=layout.id,
            image=(3, self._settings.image, self._settings.image),
            action_low=(-1.0, -1.0),
            action_high=(1.0, 1.0),
            limit=self._settings.limit,
            step_seconds=0.1,
            reward=self._settings.reward,
            distractor=self._settings.distractor,
            cue=self._settings.cue,
            renderer=RENDERER,
            settings=asdict(self._settings),
        )

    @property
    def spec(self) -> EnvSpec:
        """What this world is."""
        return self._spec

    @property
    def n(self) -> int:
        """How many copies are running; none before the first reset or restore."""
        return self._state.shape[1]

    def reset(self, stream: Stream, n: int) -> Images:
        """Starts n fresh copies, copy i from `stream.child(i)`; the same stream gives the same episodes again.

        Raises:
            ValueError: n is smaller than 1.
        """
        if n < 1:
            raise ValueError(f"n must be at least 1, found {n}")
        self._begin(first_state(self._layout, stream, n))
        return self.render()

    def step(self, action: Floats) -> Step:
        """Advances every copy by one step and draws it; `action` is (n, 2), clipped to [-1, 1].

        Raises:
            ValueError: wrong shape, or a number that is not finite.
        """
        outcome = self.advance(action)
        return Step(self.render(), *outcome)

    def advance(self, action: Floats) -> Outcome:
        """`step` without drawing. An episode that ends at the limit by reaching the goal is terminated, not truncated.

        Raises:
            ValueError: wrong shape, or a number that is not finite.
        """
        move(self._state, self._checked(action).T, self._layout, self._settings)
        reward, terminated = self._payment.pay(self._state)
        truncated = (self._state[STEP] >= self._settings.limit) & ~terminated
        return Outcome(reward, terminated, truncated)

    def render(self) -> Images:
        """The current picture of every copy; the velocity is not in it."""
        return self._painter.draw(self._state)

    def snapshot(self) -> Floats:
        """(n, S): see `state.COLUMNS`."""
        return self._state.T.copy(order="C")

    def restore(self, snapshot: Floats) -> None:
        """Puts (m, S) states back.

        Raises:
            AuditError: not (m, S), or a number that is not finite.
        """
        rows = np.asarray(snapshot, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != WIDTH:
            raise AuditError(f"found a snapshot of shape {rows.shape}", where=self._layout.id, expected=f"(copies, {WIDTH})")
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if bad.size:
            raise AuditError(f"the snapshot is not finite in {_few(bad)}", where=self._layout.id, expected="finite numbers")
        self._begin(np.array(rows.T, order="C"))

    def fork(self) -> Self:
        """An independent world with the same settings that stands where this one stands."""
        twin = type(self)(self._layout, **asdict(self._settings))
        twin._begin(self._state.copy())  # noqa: SLF001 - a twin of the same class
        return twin

    def _begin(self, state: Floats) -> None:
        self._state = state
        self._payment.begin(state)

    def _checked(self, action: Floats) -> Floats:
        """(n, 2) inside the bounds."""
        pushes = np.asarray(action, dtype=np.float64)
        if pushes.shape != (self.n, 2):
            raise ValueError(f"{self._layout.id}: actions have the shape {pushes.shape}, expected {(self.n, 2)}")
        bad = np.flatnonzero(~np.isfinite(pushes).all(axis=1))
        if bad.size:
            raise ValueError(f"{self._layout.id}: the action is not finite in {_few(bad)}")
        return np.clip(pushes, -1.0, 1.0)


def _few(copies: np.ndarray[Any, np.dtype[np.int64]]) -> str:
    """Copies by number, the first eight of them."""
    names = ", ".join(str(copy) for copy in copies[:8])
    return f"copies {names}" + (f" and {copies.size - 8} more" if copies.size > 8 else "")
