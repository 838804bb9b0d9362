"""What all diagnostics look at: one model, its probes, and the predictions they share, computed once on first use."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import AuditError, Measurement, Reason
from wm_audit.data.probe import Counterfactual, Segments
from wm_audit.diagnostics.imagined import Imagined, imagine_actions
from wm_audit.diagnostics.parameters import Parameters
from wm_audit.diagnostics.rollout import Forecast, Rollout, roll
from wm_audit.models.protocol import WorldModel

Loop = Literal["one_step", "open_loop"]
Field = Literal["mean", "nll", "reward"]


class Gap(NamedTuple):
    """Why a prediction cannot be used: the reason, items that are usable, items that are not finite."""

    reason: Reason
    n: int
    n_dropped: int

    def measurement(self, unit: str, orientation: int) -> Measurement:
        """The null that stands in the number's place."""
        return Measurement.null(self.reason, unit=unit, n=self.n, n_dropped=self.n_dropped, orientation=orientation)


@dataclass(frozen=True)
class Evidence:
    """A model and its probes. Equal evidence gives equal numbers; nothing here draws a random number.

    Attributes:
        model: the world model under test, K members.
        segments: B held-out segments: c context frames, then H steps.
        counterfactual: probe states, each with M actions tried in the true world.
        parameters: the locked settings.
    """

    model: WorldModel
    segments: Segments
    counterfactual: Counterfactual
    parameters: Parameters = field(default_factory=Parameters)

    @cached_property
    def rollout(self) -> Rollout:
        """One-step and open-loop forecasts of all segments."""
        return roll(self.model, self.segments, self.parameters.batch)

    @property
    def reward_rtol(self) -> float:
        """How close two predicted rewards of the segments are when they are tied."""
        return self.parameters.rtol(self.rollout.single_precision)

    @cached_property
    def imagined(self) -> Imagined | None:
        """The model's rewards of the counterfactual probe's actions, or None without a reward head."""
        return imagine_actions(self.model, self.counterfactual, self.parameters.batch)

    @cached_property
    def real(self) -> NDArray[np.float32]:
        """(B, H, C, h, w) the frames that were to be predicted, intensities in [0, 1]."""
        return unit_range(self.segments.obs)

    @cached_property
    def context_frames(self) -> NDArray[np.float32]:
        """(B, c, C, h, w) the frames before them, intensities in [0, 1]."""
        return unit_range(self.segments.context_obs)

    @cached_property
    def one_step_mean(self) -> NDArray[np.float32]:
        """(K, B, H, C, h, w) frames predicted one step ahead, clipped to [0, 1]. Ask `gap("one_step", "mean")` first."""
        return self._image("one_step")

    @cached_property
    def open_loop_mean(self) -> NDArray[np.float32]:
        """(K, B, H, C, h, w) frames imagined from the last context frame on, clipped to [0, 1]. Ask `gap("open_loop", "mean")` first."""
        return self._image("open_loop")

    def forecast(self, loop: Loop) -> Forecast:
        """One of the two forecasts by name."""
        return self.rollout.one_step if loop == "one_step" else self.rollout.open_loop

    def gap(self, loop: Loop, name: Field = "mean", *, by_step: bool = False) -> Gap | None:
        """Why no number can be computed from this prediction; None where one can.

        An item is not finite when any member's prediction of it is not; one such item is enough, because a number from the
        rest would describe another model.

        Args:
            loop: "one_step" or "open_loop".
            name: which field of the forecast.
            by_step: whether an item is a step of a segment, or a whole segment.
        """
        values: NDArray[Any] | None = getattr(self.forecast(loop), name)
        if values is None:
            return Gap(Reason.NO_REWARD_HEAD if name == "reward" else Reason.CAPABILITY_MISSING, 0, 0)
        finite = np.isfinite(values).all(axis=(0, *range(3, values.ndim)))
        return gap_of(finite if by_step else finite.all(axis=1))

    def prediction(self, loop: Loop, name: Field, *, by_step: bool = False) -> NDArray[Any] | Gap:
        """The prediction as the model gave it, or why there is none to compute with."""
        gap = self.gap(loop, name, by_step=by_step)
        values: NDArray[Any] = getattr(self.forecast(loop), name)
        return values if gap is None else gap

    def _image(self, loop: Loop) -> NDArray[np.float32]:
        mean = self.forecast(loop).mean
        if mean is None:
            raise AuditError("does not decode images", where="the model", expected="a model with `decode`")
        return mean if mean.size == 0 or (mean.min() >= 0.0 and mean.max() <= 1.0) else mean.clip(0.0, 1.0)


def gap_of(finite: NDArray[np.bool_]) -> Gap | None:
    """The gap that items which are not finite leave, or None where all are."""
    good = int(np.count_nonzero(finite))
    return None if good == finite.size else Gap(Reason.NONFINITE_PREDICTION, good, finite.size - good)


def unit_range(frames: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Intensities 0..255 to [0, 1], in single precision as the models have them."""
    return frames.astype(np.float32) / np.float32(255.0)
