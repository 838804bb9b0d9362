"""How finely the outcome tells rows apart: without distinct outcomes there is nothing to predict."""

from dataclasses import dataclass

import numpy as np

from wm_audit.core import Measurement
from wm_audit.stats.arrays import Floats, Numbers, real_array, tolerances
from wm_audit.stats.ranks import tie_codes
from wm_audit.stats.reliability import reliability


@dataclass(frozen=True, slots=True)
class Resolution:
    """Distinct values of a set of outcomes, by the tie rule.

    Attributes:
        n: outcomes that are finite.
        n_dropped: outcomes that are not.
        distinct: how many values they take.
        share: distinct / n, None without any outcome.
        largest_tie: size of the largest group of equal outcomes.
    """

    n: int
    n_dropped: int
    distinct: int
    share: float | None
    largest_tie: int


@dataclass(frozen=True, slots=True)
class OutcomeResolution:
    """The outcome's resolution in one environment.

    Attributes:
        overall: over all rows.
        inside: within each capacity, in the order of the columns.
        seeds_without_variation: seeds with at least two finite outcomes whose outcomes are equal at every capacity.
        reliability: share of the spread between seeds that is not evaluation noise, where per-start returns are given.
    """

    overall: Resolution
    inside: tuple[Resolution, ...]
    seeds_without_variation: int
    reliability: Measurement | None


def outcome_resolution(outcome: Numbers, returns: Numbers | None = None, *, rtol: float = 1e-12, atol: float = 0.0) -> OutcomeResolution:
    """Counts distinct outcomes, in all and inside each capacity.

    Args:
        outcome: (seeds, capacities) outcome of each row; None and NaN are missing.
        returns: (seeds, capacities, starts) per-start returns, for the reliability.
        rtol: relative tie tolerance.
        atol: absolute tie tolerance.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    values = real_array("outcome", outcome, 2)
    tolerances(rtol, atol)
    noise = None if returns is None else real_array("returns", returns, 3)
    if noise is not None and noise.shape[:2] != values.shape:
        raise ValueError(f"returns must have the seeds and capacities of outcome, {values.shape}, found {noise.shape}")
    seeds = [_resolution(row, rtol, atol) for row in values]
    return OutcomeResolution(
        overall=_resolution(values.ravel(), rtol, atol),
        inside=tuple(_resolution(column, rtol, atol) for column in values.T),
        seeds_without_variation=sum(seed.n > 1 and seed.distinct == 1 for seed in seeds),
        reliability=None if noise is None else reliability(noise),
    )


def _resolution(values: Floats, rtol: float, atol: float) -> Resolution:
    finite = values[np.isfinite(values)]
    sizes = np.bincount(tie_codes(finite, rtol, atol))
    share = sizes.size / finite.size if finite.size else None
    return Resolution(finite.size, values.size - finite.size, int(sizes.size), share, int(sizes.max(initial=0)))
