"""The cross-entropy method over action sequences: pure, batched over problems, every round kept in a trace.

Rubinstein (1999), "The cross-entropy method for combinatorial and continuous optimization"; as a planner in latent
space Hafner et al. (2019), "Learning latent dynamics for planning from pixels", algorithm 2.

Shapes: I iterations, B problems, N candidates, E elites, H decisions, A action.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Stream
from wm_audit.policy.bounds import Bounds, Floats

Score = Callable[[Floats], Floats]
"""Actions of every environment step (B, N, H * hold, A) -> returns (B, N), larger is better."""


@dataclass(frozen=True, slots=True)
class CemSettings:
    """How a search is run.

    Attributes:
        horizon: H, decisions looked ahead.
        candidates: N, action sequences scored per round.
        elites: E, sequences the next round is fitted to; one elite has no spread, so at least 2.
        iterations: I, rounds.
        init_std: spread of the first round, as a share of the width of the action box.
        std_floor: least spread of any round, as the same share.
        alpha: weight of the previous round's mean and spread when they are fitted anew.
        hold: environment steps that every decision is held for.
    """

    horizon: int
    candidates: int
    elites: int
    iterations: int
    init_std: float = 0.5
    std_floor: float = 0.05
    alpha: float = 0.0
    hold: int = 1

    def __post_init__(self) -> None:
        """Refuses settings under which the search cannot explore.

        Raises:
            ValueError: names the setting.
        """
        for name in ("horizon", "iterations", "hold"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")
        if self.elites < 2:
            raise ValueError(f"elites must be at least 2: a single elite has no spread to search with, found {self.elites}")
        if self.candidates <= self.elites:
            raise ValueError(f"candidates must be more than elites, found {self.candidates} and {self.elites}")
        if not 0.0 < self.std_floor <= self.init_std < np.inf:
            raise ValueError(f"0 < std_floor <= init_std is needed, found {self.std_floor} and {self.init_std}")
        if not 0.0 <= self.alpha < 1.0:
            raise ValueError(f"alpha must be in [0, 1), found {self.alpha}")


@dataclass(frozen=True, slots=True)
class PlanTrace:
    """Everything a search did.

    Attributes:
        candidates: (I, B, N, H, A), or None if they were not to be kept. From the second round on, and from the first
            if a mean was given, candidate 0 is the mean; from the second round on candidate 1 is the best so far.
        returns: (I, B, N), as scored.
        elites: (I, B, E), indices of the candidates fitted to, best first; -1 where no finite return was left.
        mean, std: (I, B, H, A), after every round.
        plan: (B, H, A), what to do.
        n_nonfinite: (I, B), how many returns were not finite.
        blind: (B,), some round had no finite return at all; the mean then stayed where it was.
    """

    candidates: Floats | None
    returns: Floats
    elites: NDArray[np.int64]
    mean: Floats
    std: Floats
    plan: Floats
    n_nonfinite: NDArray[np.int64]
    blind: NDArray[np.bool_]


class _Round(NamedTuple):
    candidates: Floats | None
    returns: Floats
    elites: NDArray[np.int64]
    mean: Floats
    std: Floats


def plan(
    score: Score,
    low: Floats,
    high: Floats,
    *,
    batch: int,
    settings: CemSettings,
    stream: Stream | Sequence[Stream],
    mean: Floats | None = None,
    keep: bool = True,
) -> PlanTrace:
    """Searches B problems at once for the action sequence with the largest return.

    Problem i draws from its own stream: its plan does not depend on which others are in the batch, and the search noise of
    different problems is independent, so that it averages out over the start states of an evaluation. (Noise shared by all
    problems would be cheaper to draw, but one unlucky draw would then hit every start state alike.)

    Args:
        score: maps actions (B, N, H * hold, A) to returns (B, N); all actions it sees are inside the bounds.
        low: (A,), lowest action.
        high: (A,), highest action.
        batch: B.
        settings: how the search is run.
        stream: source of the noise: one for each problem, or one whose child i is problem i's.
        mean: (B, H, A), where to start; the middle of the box by default.
        keep: whether the trace holds the candidates.

    Raises:
        ValueError: bounds, `mean` or streams of a wrong number or shape, or `score` returned another shape than (B, N).
    """
    box = Bounds.of(low, high)
    shape = (batch, settings.horizon, box.low.size)
    centre = np.broadcast_to(box.middle, shape) if mean is None else np.asarray(mean, dtype=np.float64)
    if centre.shape != shape or not np.isfinite(centre).all():
        raise ValueError(f"mean must be finite and {shape}, found {centre.shape}")
    spread: Floats = np.broadcast_to(settings.init_std * box.span, shape)
    streams = [stream.child(i) for i in range(batch)] if isinstance(stream, Stream) else list(stream)
    if len(streams) != batch:
        raise ValueError(f"{batch} problems need {batch} streams, found {len(streams)}")
    best, found = centre, np.zeros(batch, dtype=bool)
    rounds: list[_Round] = []
    for i in range(settings.iterations):
        candidates = _candidates(streams, centre, spread, settings.candidates, box)
        if i > 0 or mean is not None:
            candidates[:, 0] = box.inside(centre)
        candidates[found, 1] = best[found]
        returns = _scored(score, candidates, settings.hold)
        elites = select_elites(returns, settings.elites)
        centre, spread = _refit(candidates, elites, (centre, spread), settings, box)
        first = elites[:, 0]
        best = np.where((first >= 0)[:, None, None], candidates[np.arange(batch), first], best)
        found = found | (first >= 0)
        rounds.append(_Round(candidates if keep else None, returns, elites, centre, spread))
    return _trace(rounds, box.inside(centre))


def select_elites(returns: Floats, count: int) -> NDArray[np.int64]:
    """Indices (B, count) of the largest finite returns (B, N), best first, ties by index; -1 where none is left.

    A return that is not finite (nan, +inf, -inf) comes from a model that has left its domain: it never wins.
    """
    finite = np.isfinite(returns)
    order = np.argsort(np.where(finite, -returns, np.inf), axis=1, kind="stable")[:, :count]
    return np.where(np.take_along_axis(finite, order, axis=1), order, -1).astype(np.int64)


def _candidates(streams: list[Stream], mean: Floats, std: Floats, count: int, box: Bounds) -> Floats:
    """(B, N, H, A): Gaussian around the mean, clipped to the box before anybody scores them."""
    noise = np.stack([item.normal((count, *mean.shape[1:])) for item in streams])
    return box.inside(mean[:, None] + std[:, None] * noise)


def _scored(score: Score, candidates: Floats, hold: int) -> Floats:
    """(B, N): returns, each decision held for `hold` environment steps."""
    returns = np.asarray(score(np.repeat(candidates, hold, axis=2)), dtype=np.float64)
    if returns.shape != candidates.shape[:2]:
        raise ValueError(f"score must return {candidates.shape[:2]}, found {returns.shape}")
    return returns


def _refit(
    candidates: Floats, elites: NDArray[np.int64], previous: tuple[Floats, Floats], settings: CemSettings, box: Bounds
) -> tuple[Floats, Floats]:
    """Mean and spread (B, H, A) of the elites, blended with the previous ones; unchanged where there is no elite."""
    mean, std = previous
    used = (elites >= 0)[:, :, None, None]
    number = np.maximum(used.sum(axis=1), 1)
    chosen = np.take_along_axis(candidates, np.maximum(elites, 0)[:, :, None, None], axis=1)
    centre = np.where(used, chosen, 0.0).sum(axis=1) / number
    spread = np.sqrt(np.where(used, (chosen - centre[:, None]) ** 2, 0.0).sum(axis=1) / number)
    centre = settings.alpha * mean + (1.0 - settings.alpha) * centre
    spread = np.maximum(settings.alpha * std + (1.0 - settings.alpha) * spread, settings.std_floor * box.span)
    some = used.any(axis=1)
    return np.where(some, centre, mean), np.where(some, spread, std)


def _trace(rounds: list[_Round], plan_: Floats) -> PlanTrace:
    kept = [item.candidates for item in rounds if item.candidates is not None]
    returns = np.stack([item.returns for item in rounds])
    n_nonfinite = (~np.isfinite(returns)).sum(axis=2)
    return PlanTrace(
        candidates=np.stack(kept) if kept else None,
        returns=returns,
        elites=np.stack([item.elites for item in rounds]),
        mean=np.stack([item.mean for item in rounds]),
        std=np.stack([item.std for item in rounds]),
        plan=plan_,
        n_nonfinite=n_nonfinite.astype(np.int64),
        blind=(n_nonfinite == returns.shape[2]).any(axis=0),
    )
