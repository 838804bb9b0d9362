"""Simulated grids with a known truth, and what the audit decides on them. No torch.

What is simulated is what the rules read: one composite and one outcome per cell for H1 and H2, one contrast per cell for H3.
"""

import math
from dataclasses import dataclass
from typing import Literal

from wm_audit.core import Label, Stream
from wm_audit.stats import Interval, equivalence, superiority
from wm_audit.stats.arrays import Floats
from wm_audit.stats.jackknife_many import jackknife_many
from wm_audit.stats.sign_flip_many import directions, flips_many
from wm_audit.verdict import Rules

Question = Literal["H1", "H2", "H3"]


@dataclass(frozen=True, slots=True, order=True)
class Plan:
    """A design whose power is asked.

    Attributes:
        seeds: independent runs, S.
        capacities: model sizes, C, each trained with every seed.
        icc: intra-seed correlation: how far a seed's cells agree over capacities, on both sides alike.
    """

    seeds: int
    capacities: int
    icc: float

    def __post_init__(self) -> None:
        """Refuses what no grid can be."""
        if self.seeds < 1 or self.capacities < 1:
            raise ValueError(f"seeds and capacities must be at least 1, found {self.seeds} and {self.capacities}")
        if not 0.0 <= self.icc <= 1.0:
            raise ValueError(f"icc must lie in [0, 1], found {self.icc!r}")


def pearson_of(spearman: float) -> float:
    """The correlation of a bivariate normal whose Spearman correlation is given: 2 sin(pi rho / 6) (Pearson 1907).

    Raises:
        ValueError: outside [-1, 1].
    """
    if not -1.0 <= spearman <= 1.0:
        raise ValueError(f"spearman must lie in [-1, 1], found {spearman!r}")
    return 2.0 * math.sin(math.pi * spearman / 6.0)


def grids(plan: Plan, rho: float, repetitions: int, draws: Stream) -> tuple[Floats, Floats]:
    """Composites and outcomes, (R, S, C) each, from a Gaussian copula.

    Inside every capacity the Spearman correlation of the two is rho. Each side is the sum of what a seed has in common over
    capacities (variance icc) and of what a cell has alone (1 - icc); both parts are correlated alike. The same stream gives the
    same underlying draws for every rho and icc, so that powers are compared on common random numbers.

    Args:
        plan: the design.
        rho: true within-capacity Spearman correlation.
        repetitions: R.
        draws: a fresh stream.
    """
    r = pearson_of(rho)
    x, own = spread(plan, repetitions, draws.child("x")), spread(plan, repetitions, draws.child("y"))
    return x, r * x + math.sqrt(1.0 - r * r) * own


def spread(plan: Plan, repetitions: int, draws: Stream) -> Floats:
    """Standard normal cells with the plan's intra-seed correlation, (R, S, C)."""
    seed = draws.child("seed").normal((repetitions, plan.seeds, 1))
    cell = draws.child("cell").normal((repetitions, plan.seeds, plan.capacities))
    return math.sqrt(plan.icc) * seed + math.sqrt(1.0 - plan.icc) * cell


def contrasts(plan: Plan, truth: float, repetitions: int, draws: Stream) -> Floats:
    """Contrasts of cells, (R, S, C), with mean `truth` and standard deviation 1: the sign-flip test does not see the unit.

    Args:
        plan: the design.
        truth: true mean contrast, in standard deviations of one cell's contrast.
        repetitions: R.
        draws: a fresh stream; the same one gives the same underlying draws for every truth and icc.
    """
    return truth + spread(plan, repetitions, draws)


def intervals(x: Floats, y: Floats, rules: Rules) -> list[Interval]:
    """The deciding interval of every grid (R, S, C)."""
    return jackknife_many(x, y, rules.level)


def associated(found: list[Interval], question: Question, rules: Rules) -> list[Label | None]:
    """What H1 or H2 says of every interval; None where there is no interval."""
    judge, bound = (equivalence, rules.margin) if question == "H1" else (superiority, rules.threshold)
    return [judge(item, bound) if item.bounds else None for item in found]


def contrasted(cells: Floats, rules: Rules, root: int) -> list[Label | None]:
    """What H3 says of cell contrasts (R, S, C): a seed's mean over capacities, then the inverted sign-flip test; None: no interval.

    Args:
        cells: contrasts.
        rules: the level.
        root: root seed of the random subsets that more than 20 seeds need.
    """
    flips, alpha = flips_many(cells.mean(axis=2), root=root), round(rules.alpha, 12)
    if math.floor(alpha * flips.total) == 0:
        return [None] * len(cells)
    return list(directions(flips, alpha))
