"""One look at the held-out segments: what the model says of every future step before it sees it.

    context_obs[0..c-1] | action[0] -> obs[0], reward[0] | action[1] -> obs[1], reward[1] | ...

open loop: from the belief at the last context frame the model imagines all H steps and sees nothing more.
one step:  the belief follows the real frames, obs[t-1] is seen before step t is imagined.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.core import AuditError
from wm_audit.data.probe import Segments
from wm_audit.diagnostics.likelihood import gaussian_nll
from wm_audit.models.filter import ground_or_filter
from wm_audit.models.protocol import Continues, Decodes, Rewards, State, WorldModel

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Predictions of H steps of B segments; a field is None where the model lacks the capability.

    Attributes:
        mean: (K, B, H, C, h, w) float32, the predicted frame as the model gave it, not clipped.
        nll: (K, B, H) float64, mean negative log likelihood of the real frame's channel values, nats.
        reward: (K, B, H) float64.
        continues: (K, B, H) float64.
    """

    mean: NDArray[np.float32] | None
    nll: NDArray[np.float64] | None
    reward: NDArray[np.float64] | None
    continues: NDArray[np.float64] | None


@dataclass(frozen=True, slots=True)
class Rollout:
    """Both forecasts.

    Attributes:
        one_step: of every step after the frame before it was seen.
        open_loop: of all steps from the last context frame on.
        members_differ: whether any member ever differed from the first in a state or a prediction.
        single_precision: whether the rewards were computed in less than float64, which widens what counts as a tie.
    """

    one_step: Forecast
    open_loop: Forecast
    members_differ: bool
    single_precision: bool


def padded(n: int, batch: int) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Cuts 0 .. n-1 into batches of one size: (the rows, `batch` indices of which those beyond the rows repeat the last one)."""
    for start in range(0, n, batch):
        stop = min(start + batch, n)
        yield slice(start, stop), np.minimum(np.arange(start, start + batch, dtype=np.int64), stop - 1)


def roll(model: WorldModel, segments: Segments, batch: int) -> Rollout:
    """Forecasts of all segments.

    Args:
        model: any world model; what it cannot predict stays None.
        segments: B segments with H steps.
        batch: rows evaluated together; short batches are padded, so no row's number depends on how many others there are.

    Raises:
        AuditError: the model returned a tensor of the wrong shape.
    """
    tables = _Table(model.members, segments), _Table(model.members, segments)
    with torch.inference_mode():
        for rows, picked in padded(len(segments.action), batch):
            _roll_batch(model, segments, rows, picked, tables)
    one_step, open_loop = tables
    return Rollout(
        one_step.forecast(),
        open_loop.forecast(),
        members_differ=one_step.members_differ or open_loop.members_differ,
        single_precision=open_loop.single_precision,
    )


def _roll_batch(model: WorldModel, segments: Segments, rows: slice, picked: NDArray[np.int64], tables: tuple["_Table", "_Table"]) -> None:
    one_step, open_loop = tables
    actions, frames = torch.from_numpy(segments.action[picked]), torch.from_numpy(segments.obs[picked])
    belief = ground_or_filter(model, segments.snapshot[picked], segments.context_obs[picked], segments.context_action[picked])
    dream = belief
    for t in range(actions.shape[1]):
        action, frame = actions[:, t], frames[:, t]
        dream = model.imagine(dream, action)
        prior = dream if t == 0 else model.imagine(belief, action)
        seen = _predict(model, dream, frame)
        open_loop.put(rows, t, seen, dream)
        one_step.put(rows, t, seen if t == 0 else _predict(model, prior, frame), prior)
        if t + 1 < actions.shape[1]:
            belief = model.observe(belief, action, frame)


def _predict(model: WorldModel, state: State, frame: Tensor) -> dict[str, Tensor]:
    seen: dict[str, Tensor] = {}
    if isinstance(model, Decodes):
        pixels, truth = model.decode(state), frame.to(torch.float32) / 255.0
        check_shape("decode", pixels.mean, (model.members, *truth.shape))
        seen["mean"] = pixels.mean
        if pixels.log_variance is not None:
            check_shape("decode", pixels.log_variance, (model.members, *truth.shape))
            seen["nll"] = gaussian_nll(pixels.mean, pixels.log_variance, truth)
    if isinstance(model, Rewards):
        seen["reward"] = model.reward(state)
        check_shape("reward", seen["reward"], (model.members, len(frame)))
    if isinstance(model, Continues):
        seen["continues"] = model.continues(state)
        check_shape("continues", seen["continues"], (model.members, len(frame)))
    return seen


class _Table:
    """Predictions by name, (K, B, H, ...), filled batch by batch and step by step."""

    def __init__(self, members: int, segments: Segments) -> None:
        self._lead = (members, *segments.reward.shape)
        self._arrays: Arrays = {}
        self.members_differ = False
        self.single_precision = False

    def put(self, rows: slice, t: int, seen: dict[str, Tensor], state: State) -> None:
        """Writes step `t` of the batch's rows; what padding added is left out."""
        for name, item in seen.items():
            dtype = np.float32 if name == "mean" else np.float64
            if name not in self._arrays:
                self._arrays[name] = np.empty(self._lead + tuple(item.shape[2:]), dtype)
            self._arrays[name][:, rows, t] = item[:, : rows.stop - rows.start].numpy()
        self.single_precision = self.single_precision or ("reward" in seen and seen["reward"].dtype != torch.float64)
        self.members_differ = self.members_differ or _differ(seen) or _differ(state)

    def forecast(self) -> Forecast:
        """What was filled in, None for the rest."""
        return Forecast(*(self._arrays.get(item.name) for item in fields(Forecast)))


def _differ(tensors: dict[str, Tensor]) -> bool:
    return any(bool((item != item[:1]).any()) for item in tensors.values())


def check_shape(method: str, found: Tensor, expected: tuple[int, ...]) -> None:
    """Refuses a prediction that would be broadcast into a wrong number.

    Raises:
        AuditError: the shapes differ.
    """
    if tuple(found.shape) != expected:
        raise AuditError(
            f"returned a tensor of shape {tuple(found.shape)}",
            where=f"the model's {method}",
            expected=f"{expected} (members, batch, ...)",
            fix="see wm_audit/models/protocol.py",
        )
