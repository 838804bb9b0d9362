"""How often a test sees an association where there is none: the size of the primary test and of the usual pooled one. No torch."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from wm_audit.core import Stream, stream
from wm_audit.instruments.audit.simulate import Plan, spread
from wm_audit.stats import block_permutation_test, spearman, t_approximation
from wm_audit.stats.arrays import Floats
from wm_audit.verdict import Rules

Null = Literal["capacity", "seeds", "both"]
NULLS: tuple[Null, ...] = ("capacity", "seeds", "both")
NOMINAL = 0.05
_STEP = 1.5  # what one capacity adds over the one below, in standard deviations of a cell
_ICC = 0.5  # intra-seed correlation of either side where seeds have effects


def unrelated(null: Null, seeds: int, capacities: int, repetitions: int, draws: Stream) -> tuple[Floats, Floats]:
    """Two sides, (R, S, C) each, that have nothing to do with each other inside any capacity.

    Args:
        null: `capacity`: larger models are better on both sides; `seeds`: each side has seed effects of its own; `both`.
        seeds: S.
        capacities: C.
        repetitions: R.
        draws: a fresh stream.
    """
    plan = Plan(seeds, capacities, 0.0 if null == "capacity" else _ICC)
    shift = np.zeros(capacities) if null == "seeds" else _STEP * np.arange(capacities)
    x, y = (shift + spread(plan, repetitions, draws.child(side)) for side in ("x", "y"))
    return x, y


def size(null: Null, design: tuple[int, int], rules: Rules, repetitions: int) -> dict[str, Any]:
    """The share of grids without an association on which each test has p <= .05.

    Args:
        null: what else goes on in the grid.
        design: seeds and capacities.
        rules: root, number of random orders, and the pooled test's least numbers.
        repetitions: how many grids.
    """
    seeds, capacities = design
    draws = stream(rules.root, "size", null, seeds, capacities)
    pairs = zip(*unrelated(null, seeds, capacities, repetitions, draws), strict=True)
    hits = np.zeros(2, dtype=np.int64)
    for place, (x, y) in enumerate(pairs):
        block = block_permutation_test(x, y, stream=draws.child("orders", place), draws=rules.permutations).p
        pooled = spearman(x.ravel(), y.ravel(), min_n=rules.min_n, min_distinct=rules.min_distinct)
        naive = t_approximation(pooled.value, pooled.n).p
        hits += [p is not None and p <= NOMINAL for p in (block, naive)]
    primary, naive_share = (int(count) / repetitions for count in hits)
    return {"null": null, "seeds": seeds, "capacities": capacities, "primary": primary, "naive": naive_share}


def size_table(designs: Sequence[tuple[int, int]], rules: Rules, *, repetitions: int = 400) -> dict[str, Any]:
    """The sizes of both tests for every design and every kind of grid.

    Raises:
        ValueError: fewer than one repetition.
    """
    if repetitions < 1:
        raise ValueError(f"repetitions must be at least 1, found {repetitions}")
    rows = [size(null, design, rules, repetitions) for design in designs for null in NULLS]
    return {"nominal": NOMINAL, "repetitions": repetitions, "step": _STEP, "icc": _ICC, "rows": rows}
