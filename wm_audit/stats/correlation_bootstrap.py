"""Bootstrap intervals of rank correlations: descriptive, never deciding."""

from typing import Literal

import numpy as np

from wm_audit.core import Reason, Stream
from wm_audit.stats.arrays import Floats, Ints, Numbers, open_unit
from wm_audit.stats.bootstrap import Method, bootstrap
from wm_audit.stats.fisher import PERFECT
from wm_audit.stats.pairs import rankable_pairs
from wm_audit.stats.ranks import masked_ranks
from wm_audit.stats.resampling import Labels
from wm_audit.stats.results import Interval
from wm_audit.stats.spearman import cosine


def correlation_bootstrap(
    x: Numbers,
    y: Numbers,
    statistic: Literal["spearman", "kendall"] = "spearman",
    *,
    stream: Stream,
    resamples: int = 2_000,
    level: float = 0.95,
    method: Method = "percentile",
    cluster: Labels | None = None,
    rtol: float = 1e-12,
    atol: float = 0.0,
    min_n: int = 6,
    min_distinct: int = 4,
) -> Interval:
    """The bootstrap interval of Spearman's rho or Kendall's tau-b over pairs, or over clusters of pairs.

    Ties are a property of the data: tie groups are found once and kept in every resample. A resample in which a side is constant is
    degenerate.

    Args:
        x: (n,) values; None and NaN are missing.
        y: (n,) values, paired with `x`.
        statistic: which coefficient.
        stream: random numbers.
        resamples: how many.
        level: coverage.
        method: `percentile` or `bca`.
        cluster: (n,) labels of pairs that are drawn together.
        rtol: relative tie tolerance.
        atol: absolute tie tolerance.
        min_n: fewest pairs after dropping.
        min_distinct: fewest distinct values on each side, in the data (not asked of a resample).

    Returns:
        The interval; null for the reasons of `spearman` and `bootstrap`, and `perfect_correlation`: every resample is perfect then.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    if statistic not in ("spearman", "kendall"):
        raise ValueError(f"statistic must be 'spearman' or 'kendall', found {statistic!r}")
    open_unit("level", level)
    pairs = rankable_pairs(x, y, rtol=rtol, atol=atol, min_n=min_n, min_distinct=min_distinct)
    if pairs.reason is not None:
        return Interval.null(pairs.reason, level)
    kernel = rho_rows if statistic == "spearman" else tau_rows
    if abs(float(kernel(pairs.x[None], pairs.y[None])[0])) >= PERFECT:
        return Interval.null(Reason.PERFECT_CORRELATION, level)
    labels = None
    if cluster is not None:
        labels = np.asarray(cluster)
        if labels.shape != pairs.kept.shape:
            raise ValueError(f"cluster must hold one label for each of {pairs.kept.size} pairs, found shape {labels.shape}")
        labels = labels[pairs.kept]
    return bootstrap(kernel, (pairs.x, pairs.y), stream=stream, resamples=resamples, level=level, method=method, cluster=labels)


def rho_rows(x: Ints, y: Ints) -> Floats:
    """Spearman's rho of each row of tie groups, (B, n) and (B, n) to (B,); NaN where a side is constant."""
    centre = 0.5 * (x.shape[-1] + 1)
    return cosine(masked_ranks(x, np.array(True)) - centre, masked_ranks(y, np.array(True)) - centre)


def tau_rows(x: Ints, y: Ints) -> Floats:
    """Kendall's tau-b of each row of tie groups, (B, n) and (B, n) to (B,); NaN where a side is constant."""
    untied = np.zeros((3, len(x)))  # sums over pairs of sign x sign y, sign x squared, sign y squared
    for shift in range(1, x.shape[-1]):
        a = np.sign(x[:, shift:] - x[:, :-shift])
        b = np.sign(y[:, shift:] - y[:, :-shift])
        untied += ((a * b).sum(axis=1), (a * a).sum(axis=1), (b * b).sum(axis=1))
    norm = np.sqrt(untied[1] * untied[2])
    ratio: Floats = np.divide(untied[0], norm, out=np.full(len(x), np.nan), where=norm > 0.0)
    return np.clip(ratio, -1.0, 1.0)
