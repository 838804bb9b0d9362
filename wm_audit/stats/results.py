"""What the statistics return beside a `Measurement`: a test, an interval, a Kendall count."""

import sys
from dataclasses import dataclass
from typing import ClassVar

from wm_audit.core import Reason


@dataclass(frozen=True, slots=True)
class TestResult:
    """A test that was made, or the reason why it was not.

    Attributes:
        value: the test statistic on the data.
        p: the p-value, 0 < p <= 1.
        hits: how many orders, subsets or draws are at least as extreme (the identity included where all are enumerated).
        total: of how many.
        floor: the smallest p-value the design allows.
        reason: why there is no test, or None.
    """

    __test__: ClassVar[bool] = False  # the name would make pytest collect the class

    value: float | None
    p: float | None
    hits: int
    total: int
    floor: float | None
    reason: Reason | None = None

    @classmethod
    def null(cls, reason: Reason) -> "TestResult":
        """A test that could not be made."""
        return cls(None, None, 0, 0, None, reason)


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, or the reason why there is none.

    Attributes:
        low: the lower bound.
        high: the upper bound.
        level: the coverage asked for.
        z: the estimate on the scale on which `se` holds (Fisher's z for correlations), where there is one.
        se: the standard error on that scale.
        reason: why there is no interval, or None.
        n_degenerate: resamples on which the statistic is undefined.
        resamples: how many resamples were drawn (0: the interval does not resample).
    """

    low: float | None
    high: float | None
    level: float
    z: float | None = None
    se: float | None = None
    reason: Reason | None = None
    n_degenerate: int = 0
    resamples: int = 0

    @classmethod
    def null(cls, reason: Reason, level: float, *, n_degenerate: int = 0, resamples: int = 0) -> "Interval":
        """An interval that could not be computed."""
        return cls(None, None, level, reason=reason, n_degenerate=n_degenerate, resamples=resamples)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """(low, high), or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class Kendall:
    """Kendall's tau-b with its counts; each of the n (n - 1) / 2 pairs of items is in exactly one of them.

    Attributes:
        value: tau-b, or None.
        concordant: pairs ordered the same way by x and y.
        discordant: pairs ordered opposite ways.
        ties_x: pairs tied in x only.
        ties_y: pairs tied in y only.
        ties_both: pairs tied in both.
        n: items after dropping.
        n_dropped: items dropped because x or y is not finite.
        reason: why there is no value, or None.
        variant: which of Kendall's coefficients this is.
    """

    value: float | None
    concordant: int
    discordant: int
    ties_x: int
    ties_y: int
    ties_both: int
    n: int
    n_dropped: int
    reason: Reason | None = None
    variant: str = "tau-b"


def share(hits: int, total: int) -> float:
    """The ratio of hits to total as a p-value: positive even where the ratio of two large integers underflows."""
    return max(hits / total, sys.float_info.min)
