"""Counts and missing numbers in the words of the page they stand on."""

import math

from wm_audit.stats.blocks import LEAST_SEEDS
from wm_audit.stats.jackknife import LEAST_REPLICATES
from wm_audit.verdict.caveats import sentence
from wm_audit.verdict.deltas import LEAST_FOR_SCALE

_IRREGULAR = {"capacity": "capacities", "planned row is": "planned rows are"}
_PAIRS = {
    "constant_x": "the diagnostic has one value in all models, so no order of models can go with it",
    "constant_y": "the return has one value in all models, so nothing can predict it",
    "constant_both": "neither the diagnostic nor the return differs between models",
    "no_finite_pairs": "no model has both this number and a return",
}
"""In `core` the two variables have no name; here the first is a diagnostic and the second the return."""


def counted(count: int, noun: str) -> str:
    """`1 seed`, `2 seeds`, `2 capacities`."""
    return f"{count} {noun if count == 1 else _IRREGULAR.get(noun, f'{noun}s')}"


def no_estimate(code: str | None, seeds: int | None, *, contrast: bool = False) -> str:
    """Why there is no estimate.

    Args:
        code: the reason in the file.
        seeds: complete seeds; None where their number is not known.
        contrast: whether it is one of H3's contrasts, otherwise a correlation.
    """
    return _said(code, seeds, ("an estimate", LEAST_FOR_SCALE if contrast else LEAST_SEEDS), contrast=contrast)


def no_interval(code: str | None, seeds: int, *, level: float, contrast: bool = False) -> str:
    """Why there is no interval at this level; other arguments as for `no_estimate`."""
    return _said(code, seeds, ("an interval", least_for_contrast(level) if contrast else LEAST_REPLICATES), contrast=contrast)


def least_for_contrast(level: float) -> int:
    """Fewest seeds for Hartigan's interval: of the 2^S - 1 subset means at least one must lie outside each bound."""
    return math.ceil(math.log2(1.0 / round((1.0 - level) / 2.0, 12)))


def _said(code: str | None, seeds: int | None, need: tuple[str, int], *, contrast: bool) -> str:
    known = code or "not_measured"
    if known == "too_few_seeds" and seeds is not None and seeds < need[1]:
        return f"{counted(seeds, 'complete seed')}; {need[0]} needs at least {need[1]}"
    return _PAIRS[known] if known in _PAIRS and not contrast else sentence(known)
