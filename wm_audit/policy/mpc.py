"""Receding-horizon control: plan, do the first decision, shift the plan, plan again.

Shapes: n episodes, H decisions, A action.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Stream
from wm_audit.policy.bounds import Bounds, Floats
from wm_audit.policy.cem import CemSettings, Score, plan


class Decision(NamedTuple):
    """Actions (n, A) inside the bounds, and which of the searches behind them met returns that are not finite (n,)."""

    action: Floats
    nonfinite: NDArray[np.bool_]


@dataclass(slots=True)
class RecedingHorizon:
    """The planner's memory over one batch of episodes: the plan to start the next search from, and the action being held.

    The search of every decision starts from the previous plan shifted by one decision; the new last one is the middle of the
    box. A decision is held for `settings.hold` steps before the next search.
    """

    bounds: Bounds
    settings: CemSettings
    _streams: Sequence[Stream] = field(init=False, default=())
    _warm: Floats | None = field(init=False, default=None)
    _action: Floats = field(init=False)

    def reset(self, streams: Sequence[Stream]) -> None:
        """Forgets everything of the previous episodes; streams[i] is the noise of all searches of the new episode i."""
        self._streams, self._warm = streams, None
        self._action = np.tile(self.bounds.middle, (len(streams), 1))

    def decide(self, score: Score, step: int, rows: NDArray[np.int64] | None = None) -> Decision:
        """The actions (m, A) of environment step `step`, counted from 0 in every episode.

        Args:
            score: of the m running episodes.
            step: the same for all.
            rows: (m,) which episodes are still running; all by default.
        """
        running = np.arange(len(self._streams)) if rows is None else rows
        if step % self.settings.hold:
            return Decision(self._action[running], np.zeros(running.size, dtype=bool))
        trace = plan(
            score,
            self.bounds.low,
            self.bounds.high,
            batch=running.size,
            settings=self.settings,
            stream=[self._streams[i].child("plan", step) for i in running],
            mean=None if self._warm is None else self._warm[running],
            keep=False,
        )
        self._remember(trace.plan, running)
        return Decision(trace.plan[:, 0], trace.n_nonfinite.sum(axis=0) > 0)

    def _remember(self, chosen: Floats, running: NDArray[np.int64]) -> None:
        """Keeps the first decision to hold it, and the rest, one decision on, to start from."""
        n, horizon, size = len(self._streams), *chosen.shape[1:]
        if self._warm is None:
            self._warm = np.tile(self.bounds.middle, (n, horizon, 1))
        self._action[running] = chosen[:, 0]
        self._warm[running] = np.concatenate([chosen[:, 1:], np.broadcast_to(self.bounds.middle, (running.size, 1, size))], axis=1)
