"""Whole numbers from declared shares."""

from collections.abc import Mapping
from fractions import Fraction

from wm_audit.core import AuditError


def apportion(total: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Splits `total` by the largest-remainder method (Hamilton 1792); ties go to the earlier name.

    Shares are read as the decimals they are written as, so 0.29 of 100 is 29.

    Raises:
        AuditError: no share, a share that is not positive, or shares that do not sum to 1.
    """
    if not shares or not all(0 < share <= 1 for share in shares.values()):
        raise AuditError(f"shares are {dict(shares)}", where="shares", expected="positive numbers that sum to 1")
    exact = {name: Fraction(str(float(share))) for name, share in shares.items()}
    whole = sum(exact.values(), Fraction(0))
    if abs(whole - 1) > Fraction(1, 10**6):
        raise AuditError(f"shares sum to {float(whole)}", where="shares", expected="a sum of 1")
    quotas = {name: total * share / whole for name, share in exact.items()}
    counts = {name: int(quota) for name, quota in quotas.items()}
    by_remainder = sorted(quotas, key=lambda name: float(counts[name] - quotas[name]))
    for name in by_remainder[: total - sum(counts.values())]:
        counts[name] += 1
    return counts
