"""An ensemble in one tensor is its members, trained apart."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import pytest
import torch
from torch import Tensor

from wm_audit.core import Stream, stream
from wm_audit.data import Batch, Replay
from wm_audit.models.dreamer_lite import Config
from wm_audit.models.dreamer_lite.gradient import Window, gradient
from wm_audit.models.dreamer_lite.loss import Losses
from wm_audit.train import Settings, fit

Make = Callable[..., Any]
SETTINGS = Settings(steps=10, learning_rate=3e-3, warmup=3)


class Picked(NamedTuple):
    """The samples that some members of an ensemble of three would draw."""

    inner: Replay
    members: tuple[int, ...]

    def sample(self, stream: Stream, members: int) -> Batch:
        assert members == len(self.members)
        batch, mine = self.inner.sample(stream, 3), list(self.members)
        return Batch(batch.obs[mine], batch.action[mine], batch.reward[mine], batch.is_first[mine], batch.terminal[mine])


def run(members: tuple[int, ...], learner: Make, replay: Make) -> Tensor:
    """Trains these members of the ensemble of three, on their own samples and noise."""
    noise = torch.Generator().manual_seed(9)

    def own(flat: Tensor, given: Window, centre: Tensor, config: Config) -> tuple[Losses, Tensor]:
        drawn = torch.randn(3, *given.noise.shape[1:], generator=noise)
        return gradient(flat, given._replace(noise=drawn[list(members)]), centre, config)

    pupil = learner(*members, step=own)
    fit(pupil, cast("Replay", Picked(replay(), members)), SETTINGS, stream(3))
    trained: Tensor = pupil.parameters.detach()
    return trained


@pytest.mark.parametrize("members", [(2, 0, 1), (0,), (1,), (2,), (1, 2)])
def test_a_member_is_the_same_in_any_company(members: tuple[int, ...], learner: Make, replay: Make) -> None:
    """To rounding: products of three matrices may add in another order than products of one.

    Ten steps of Adam move every parameter by up to 0.03; the company moves none by a hundredth of that.
    """
    together = run((0, 1, 2), learner, replay)
    alone = run(members, learner, replay)
    torch.testing.assert_close(alone, together[list(members)], rtol=0.0, atol=3e-4)
    assert float((alone - together[list(members)]).abs().mean()) < 1e-6


def test_members_differ(learner: Make, replay: Make) -> None:
    """Also where they start from the same numbers: each sees samples and noise of its own."""
    pupil = learner(0, 0, 0)
    assert torch.equal(pupil.parameters[0], pupil.parameters[1])
    fit(pupil, replay(), SETTINGS, stream(3))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert not torch.equal(pupil.parameters[i], pupil.parameters[j])
