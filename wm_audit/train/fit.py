"""One trainer for a batched ensemble: every member on its own sample stream, all of them in one optimiser step."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.core import Stream, TrainingError
from wm_audit.data import Replay
from wm_audit.models.protocol import WorldModel
from wm_audit.train.settings import Settings

PARTS = ("image", "reward", "continues", "kl")


class LossParts(Protocol):
    """What a model says of a batch, per member (K,); `means` are posterior means (K, N, D)."""

    @property
    def total(self) -> Tensor: ...  # noqa: D102
    @property
    def image(self) -> Tensor: ...  # noqa: D102
    @property
    def reward(self) -> Tensor: ...  # noqa: D102
    @property
    def continues(self) -> Tensor: ...  # noqa: D102
    @property
    def kl(self) -> Tensor: ...  # noqa: D102
    @property
    def means(self) -> Tensor: ...  # noqa: D102


class Learner(Protocol):
    """A model in training: one parameter tensor (K, n) and its gradient."""

    parameters: Tensor

    def gradient(self, batch: Any, generator: torch.Generator) -> tuple[LossParts, Tensor]:
        """Losses of `Replay.sample`'s batch, and the gradient (K, n) of each member's total with respect to its parameters.

        The gradient may be scaled; dividing by the number of values in a picture makes step sizes independent of its size.
        """
        ...


class Trainable(Learner, Protocol):
    """What a family gives when it wants this trainer: a learner, how it keeps pictures, and the model it becomes."""

    def arrange(self, images: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """How training pictures are kept in memory, done once: (N, C, h, w) -> (N, ...); the identity is fine."""
        ...

    def trained(self) -> WorldModel:
        """The model as it stands, for evaluation."""
        ...


@dataclass(frozen=True, slots=True)
class Report:
    """What training did, per member.

    Attributes:
        steps: gradient steps taken.
        curve: evenly spaced points {step, image, reward, continues, kl}: means over the members and the steps since the last point.
        final: the last point's parts for each member.
        active_units: latent dimensions that carry information, of each member.
        collapsed: true where a member's latent carries none.
    """

    steps: int
    curve: list[dict[str, float]]
    final: dict[str, list[float]]
    active_units: list[int]
    collapsed: list[bool]


def fit(
    learner: Learner,
    replay: Replay,
    settings: Settings,
    stream: Stream,
    *,
    points: int = 20,
    tick: Callable[[int], None] | None = None,
) -> Report:
    """Trains for `settings.steps` steps; changes `learner.parameters` in place.

    Args:
        learner: the model.
        replay: sequences of the train split.
        settings: budget and optimiser.
        stream: source of the sample order and of the latent noise.
        points: of the loss curve.
        tick: called with the number of steps done, at every point of the curve.

    Raises:
        TrainingError: a loss or gradient is not finite; names step, member and part.
    """
    parameters = learner.parameters
    members = parameters.shape[0]
    optimiser = torch.optim.AdamW([parameters], lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True)
    order, generator = stream.child("order"), torch.Generator().manual_seed(stream.child("noise").seed())
    every = max(1, settings.steps // points)
    sums, since = torch.zeros(len(PARTS), members), 0
    curve: list[dict[str, float]] = []
    final: dict[str, list[float]] = {}
    means: list[Tensor] = []
    for step in range(1, settings.steps + 1):
        optimiser.param_groups[0]["lr"] = learning_rate(settings, step)
        losses, gradient = learner.gradient(replay.sample(order, members), generator)
        if gradient.shape != parameters.shape:
            found = f"is {tuple(gradient.shape)}"
            raise TrainingError(found, where="the learner's gradient", expected=f"the shape of its parameters, {tuple(parameters.shape)}")
        _clip(gradient, settings.clip, losses, step)
        parameters.grad = gradient
        optimiser.step()
        sums += torch.stack([getattr(losses, name) for name in PARTS])
        since += 1
        if step > settings.steps - 32:
            means.append(losses.means)
        if step % every == 0 or step == settings.steps:
            average = (sums / since).double()
            curve.append({"step": step} | dict(zip(PARTS, average.mean(dim=1).tolist(), strict=True)))
            final = dict(zip(PARTS, average.tolist(), strict=True))
            sums.zero_()
            since = 0
            if tick is not None:
                tick(step)
    active = active_units(torch.cat(means, dim=1)).tolist() if means else [0] * members
    return Report(settings.steps, curve, final, active, [units == 0 for units in active])


def learning_rate(settings: Settings, step: int) -> float:
    """The rate of step 1, 2, ..., `settings.steps`: linear warm-up, constant, linear decay to (nearly) zero."""
    rising = min(1.0, step / max(1, settings.warmup))
    left, falling = settings.steps + 1 - step, settings.decay * settings.steps
    return settings.learning_rate * rising * (min(1.0, left / falling) if falling > 0.0 else 1.0)


def active_units(means: Tensor, threshold: float = 0.01) -> Tensor:
    """Latent dimensions that carry information (Burda et al. 2016, section 5): variance of the posterior mean above 0.01.

    Args:
        means: posterior means (K, N, D).
        threshold: the variance that counts as active.

    Returns:
        how many per member, (K,).
    """
    return (means.var(dim=1, correction=0) > threshold).sum(dim=1)


def _clip(gradient: Tensor, limit: float, losses: LossParts, step: int) -> None:
    """Scales every member's gradient to norm `limit` at most, in place; members never share a norm."""
    norm = torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
    if not math.isfinite(float(norm.sum(dtype=torch.float64) + losses.total.sum(dtype=torch.float64))):
        _stop(losses, norm, step)
    gradient.mul_((limit / norm.clamp_min(1e-12)).clamp_max(1.0))


def _stop(losses: LossParts, norm: Tensor, step: int) -> None:
    bad = ~(torch.isfinite(losses.total) & torch.isfinite(norm[:, 0]))
    member = int(bad.nonzero()[0, 0])
    parts = {name: float(getattr(losses, name)[member]) for name in PARTS}
    broken = [name for name, value in parts.items() if not math.isfinite(value)] or ["gradient"]
    raise TrainingError(
        f"the {' and '.join(broken)} of member {member} is not finite",
        where=f"training step {step}",
        expected="finite losses and gradients",
        fix="lower training.learning_rate or training.clip",
    )
