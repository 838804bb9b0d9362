"""McNemar's exact test of paired binary outcomes."""

from wm_audit.core import Reason
from wm_audit.stats.arrays import whole
from wm_audit.stats.results import TestResult, share


def mcnemar_exact(b: int, c: int, mid: bool = False) -> TestResult:
    """Two-sided exact test that a discordant pair falls either way with probability 1/2 (McNemar 1947).

    Args:
        b: pairs that changed one way.
        c: pairs that changed the other way.
        mid: the mid-p variant, which counts half of the observed outcome's probability (Fagerland et al. 2013).

    Returns:
        value (b - c) / (b + c); hits of total = 2^(b + c) assignments (the p-value of the mid variant is no such
        ratio); floor is the p-value of (0, b + c). Null `no_discordant_pairs` for b = c = 0.

    Raises:
        ValueError: b or c is no count.
    """
    b, c = whole("b", b, 0), whole("c", c, 0)
    n, fewer = b + c, min(b, c)
    if n == 0:
        return TestResult.null(Reason.NO_DISCORDANT_PAIRS)
    term = tail = 1  # binomial(n, 0)
    for i in range(fewer):
        term = term * (n - i) // (i + 1)
        tail += term
    # Twice the smaller tail; where the tails overlap (b = c) every assignment is as extreme.
    hits, total = min(2 * tail, 2**n), 2**n
    p = share(2 * tail - term, total) if mid else share(hits, total)
    floor = share(1 if mid else 2, total)
    return TestResult((b - c) / n, p, hits, total, floor)
