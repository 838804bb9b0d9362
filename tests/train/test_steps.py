"""The optimiser's steps, against Adam written out by hand; what stops a run; what counts as an active unit."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.core import Stream, TrainingError, stream
from wm_audit.data import Replay
from wm_audit.models.dreamer_lite.loss import Losses
from wm_audit.train import Settings, active_units, fit
from wm_audit.train.fit import learning_rate

Make = Callable[..., Any]


class Bowl:
    """A learner whose loss is sum_i c_i (p_i - 1)^2 / 2, with a gradient known by hand."""

    def __init__(self, curvature: NDArray[np.float64]) -> None:
        self.curvature = torch.from_numpy(curvature).float()
        self.parameters = torch.zeros(self.curvature.shape)
        self.spoil: dict[int, tuple[str, int]] = {}
        self.calls = 0

    def gradient(self, batch: Any, generator: torch.Generator) -> tuple[Losses, Tensor]:
        self.calls += 1
        gradient = self.curvature * (self.parameters - 1.0)
        total = 0.5 * (gradient * (self.parameters - 1.0)).sum(dim=1)
        quiet = {name: torch.zeros(len(total)) for name in ("image", "reward", "continues", "kl")}
        if self.calls in self.spoil:
            part, member = self.spoil[self.calls]
            if part in quiet:
                quiet[part][member] = float("nan")
            worse = torch.zeros(len(total))
            worse[member] = float("nan") if part in quiet else 0.0
            total = total + worse
            if part == "gradient":  # a finite loss whose slope is not
                gradient[member, 0] = float("inf")
        return Losses(total, **quiet, means=torch.zeros(len(total), 2, 1)), gradient


class Nothing:
    def sample(self, stream: Stream, members: int) -> None:
        return None


def by_hand(curvature: NDArray[np.float64], settings: Settings) -> NDArray[np.float64]:
    """Adam (Kingma and Ba 2015, algorithm 1) with warm-up, cool-down, per-member clipping and decoupled decay, in float64."""
    p, m, v = np.zeros_like(curvature), np.zeros_like(curvature), np.zeros_like(curvature)
    for t in range(1, settings.steps + 1):
        rate = settings.learning_rate * min(1.0, t / settings.warmup)
        if settings.decay:
            rate *= min(1.0, (settings.steps + 1 - t) / (settings.decay * settings.steps))
        g = curvature * (p - 1.0)
        g *= np.minimum(1.0, settings.clip / np.linalg.norm(g, axis=1, keepdims=True))
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        p = p * (1.0 - rate * settings.weight_decay)
        p = p - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return p


@pytest.mark.parametrize(("weight_decay", "decay"), [(0.0, 0.0), (0.1, 0.0), (0.0, 0.5)])
def test_steps_are_adams(weight_decay: float, decay: float) -> None:
    """Member 0 is never clipped, member 1 always, member 2 at first: members share no norm, and K divides nothing."""
    curvature = np.array([[0.1, 0.2, 0.4], [50.0, 3.0, 9.0], [1.5, 1.5, 2.0]])
    settings = Settings(steps=12, learning_rate=0.05, warmup=5, clip=2.0, weight_decay=weight_decay, decay=decay)
    bowl = Bowl(curvature)
    fit(bowl, cast("Replay", Nothing()), settings, stream(0))
    np.testing.assert_allclose(bowl.parameters.detach().numpy(), by_hand(curvature, settings), rtol=1e-4)


def test_the_rate_rises_stays_and_falls() -> None:
    """Every step is taken at a positive rate, the last at the least one of the fall."""
    settings = Settings(steps=100, learning_rate=2.0, warmup=10, decay=0.5)
    rates = [learning_rate(settings, step) for step in range(1, 101)]
    assert rates[:10] == pytest.approx([0.2 * step for step in range(1, 11)])
    assert rates[10:51] == [2.0] * 41
    assert rates[50:] == pytest.approx(np.linspace(2.0, 0.04, 50))
    for short in (Settings(steps=3), Settings(steps=1, decay=1.0), Settings(steps=2, warmup=0, decay=0.0)):
        assert all(0.0 < learning_rate(short, step) <= short.learning_rate for step in range(1, short.steps + 1))


@pytest.mark.parametrize("part", ["image", "reward", "continues", "kl", "gradient"])
@pytest.mark.parametrize("member", [0, 2])
def test_what_is_not_finite_stops_the_run_and_is_named(part: str, member: int) -> None:
    bowl = Bowl(np.ones((3, 2)))
    bowl.spoil = {4: (part, member)}
    with pytest.raises(TrainingError) as caught:
        fit(bowl, cast("Replay", Nothing()), Settings(steps=9), stream(0))
    error = caught.value
    assert error.line() == (
        f"training step 4: the {part} of member {member} is not finite; expected finite losses and gradients; "
        "fix: lower training.learning_rate or training.clip"
    )
    assert bowl.calls == 4
    assert bool(torch.isfinite(bowl.parameters).all())  # the broken step was not taken


def test_a_reward_that_is_no_number_stops_the_real_model(learner: Make, replay: Make) -> None:
    """One NaN in the record reaches member 1 alone."""

    class Spoilt(NamedTuple):
        inner: Replay

        def sample(self, stream: Stream, members: int) -> Any:
            batch = self.inner.sample(stream, members)
            batch.reward[1, 0, -1] = np.nan
            return batch

    with pytest.raises(TrainingError, match=r"training step 1: the reward of member 1 is not finite"):
        fit(learner(), cast("Replay", Spoilt(replay())), Settings(steps=3), stream(3))


def test_a_gradient_of_something_else_is_refused() -> None:
    bowl = Bowl(np.ones((2, 2)))
    inner = bowl.gradient
    bowl.gradient = lambda batch, generator: (inner(batch, generator)[0], torch.zeros(2, 3))  # type: ignore[method-assign]
    with pytest.raises(TrainingError, match=r"the learner's gradient: is \(2, 3\); expected the shape of its parameters, \(2, 2\)"):
        fit(bowl, cast("Replay", Nothing()), Settings(steps=1), stream(0))


def test_active_units_are_the_dimensions_whose_mean_moves() -> None:
    """Variances 0, just below and just above 0.01, and 1; one member's activity is not another's."""
    wave = torch.tensor([1.0, -1.0]).repeat(500)
    means = torch.stack([torch.stack([0.0 * wave, 0.099 * wave, 0.101 * wave, wave], dim=1) + 5.0, torch.full((1000, 4), 7.0)])
    assert active_units(means).tolist() == [2, 0]
    assert active_units(means, threshold=0.5).tolist() == [1, 0]
    assert active_units(means[:, :1]).tolist() == [0, 0]  # one point does not move
