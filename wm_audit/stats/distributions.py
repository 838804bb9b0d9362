"""Normal, beta and Student distributions: cumulative probabilities and quantiles, scalar, to about 1e-14.

A quantile function starts from a rough value and is refined against the cumulative function; the tail is always
computed as a tail, never as 1 minus something near 1.
"""

import math
from functools import lru_cache

_TINY = 1e-300  # keeps the continued fraction away from division by zero
_STEPS = 100_000


def normal_cdf(z: float) -> float:
    """P(Z <= z) of the standard normal."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@lru_cache(maxsize=1024)
def normal_quantile(p: float) -> float:
    """The z with P(Z <= z) = p, for p in (0, 1).

    The start is Abramowitz and Stegun (1964), 26.2.23, within 4.5e-4; Halley's steps take it to machine precision.

    Raises:
        ValueError: p lies outside (0, 1).
    """
    p = _inside("p", p)
    tail = min(p, 1.0 - p)
    t = math.sqrt(-2.0 * math.log(tail))
    z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
    for _ in range(3):
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        step = (normal_cdf(-z) - tail) / density
        z += step / (1.0 + 0.5 * z * step)
    return -z if p < 0.5 else z


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for x in [0, 1] and a, b > 0.

    Raises:
        ValueError: an argument is out of range.
    """
    a, b = _shapes(a, b)
    x = float(x)
    if not 0.0 <= x <= 1.0:
        raise ValueError(f"x must lie in [0, 1], found {x!r}")
    return _beta(x, 1.0 - x, a, b)


@lru_cache(maxsize=1024)
def beta_quantile(p: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = p, for p in (0, 1): Newton's steps inside a shrinking bracket.

    Raises:
        ValueError: an argument is out of range.
    """
    p = _inside("p", p)
    a, b = _shapes(a, b)
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(_STEPS):
        excess = _beta(x, 1.0 - x, a, b) - p
        low, high = (low, x) if excess > 0.0 else (x, high)
        scale = _front(x, 1.0 - x, a, b)  # the density times x (1 - x)
        newton = x - excess * x * (1.0 - x) / scale if scale > 0.0 else -1.0
        if abs(newton - x) <= 4e-16 * x:
            break
        x = newton if low < newton < high else 0.5 * (low + high)
        if x in (low, high):
            break
    return x


def student_cdf(t: float, df: float) -> float:
    """P(T <= t) of Student's t with `df` degrees of freedom.

    Raises:
        ValueError: df is not positive.
    """
    tail = student_tail(abs(t), df)
    return tail if t < 0.0 else 1.0 - tail


def student_tail(t: float, df: float) -> float:
    """P(T > t) for t >= 0, accurate also where it is very small.

    Raises:
        ValueError: t is negative or df not positive.
    """
    if not (t >= 0.0 and 0.0 < df < math.inf):
        raise ValueError(f"t must not be negative and df must be positive, found t = {t!r}, df = {df!r}")
    square, df = float(t) * float(t), float(df)
    if math.isinf(square):
        return 0.0
    return 0.5 * _beta(df / (df + square), square / (df + square), 0.5 * df, 0.5)


@lru_cache(maxsize=1024)
def student_quantile(p: float, df: float) -> float:
    """The t with P(T <= t) = p, for p in (0, 1).

    The tail is convex and heavier than the normal one, so Newton's steps from the normal quantile only ever grow
    towards the root.

    Raises:
        ValueError: an argument is out of range.
    """
    p = _inside("p", p)
    tail = min(p, 1.0 - p)
    t = abs(normal_quantile(tail))
    for _ in range(_STEPS):
        square = t * t
        # The density at t, from the derivative of I_x(df / 2, 1 / 2) by t.
        density = _front(df / (df + square), square / (df + square), 0.5 * df, 0.5) / t if t > 0.0 else _peak(df)
        step = (student_tail(t, df) - tail) / density if density > 0.0 else 0.0
        t += step
        if step <= 1e-15 * t:
            break
    return -t if p < 0.5 else t


def _peak(df: float) -> float:
    """Student's density at 0."""
    return math.exp(math.lgamma(0.5 * (df + 1.0)) - math.lgamma(0.5 * df)) / math.sqrt(df * math.pi)


def _beta(x: float, y: float, a: float, b: float) -> float:
    """I_x(a, b) with y = 1 - x given separately, so that neither loses digits."""
    if x <= 0.0 or y <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    front = _front(x, y, a, b)
    if x < (a + 1.0) / (a + b + 2.0):
        return front / _fraction(x, y, a, b)
    return 1.0 - front / _fraction(y, x, b, a)


def _front(x: float, y: float, a: float, b: float) -> float:
    """x^a y^b / B(a, b) by Loader's saddle point (Loader 2000), which keeps its digits for large a and b."""
    if x <= 0.0 or y <= 0.0:
        return 0.0
    n = a + b
    log_ratio = _stirling(n) - _stirling(a) - _stirling(b) - _deviance(a, n * x) - _deviance(b, n * y)
    return math.sqrt(a * b / (2.0 * math.pi * n)) * math.exp(log_ratio)


def _stirling(z: float) -> float:
    """The logarithm of Gamma(z + 1) minus Stirling's approximation of it."""
    if z < 16.0:
        return math.lgamma(z + 1.0) - (z + 0.5) * math.log(z) + z - 0.5 * math.log(2.0 * math.pi)
    square = z * z
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square) / square) / square) / z


def _deviance(x: float, mean: float) -> float:
    """The deviance x log(x / mean) + mean - x, by its series where the two are close."""
    if abs(x - mean) >= 0.1 * (x + mean):
        return x * math.log(x / mean) + mean - x
    ratio = (x - mean) / (x + mean)
    total, term, k = (x - mean) * ratio, 2.0 * x * ratio, 1
    while True:
        term *= ratio * ratio
        following = total + term / (2 * k + 1)
        if following == total:
            return total
        total, k = following, k + 1


def _fraction(x: float, y: float, a: float, b: float) -> float:
    """The continued fraction of DiDonato and Morris (1992), eq. 9, by Lentz's method; I_x(a, b) is the front over it.

    It takes x and y = 1 - x apart, so that a large a beside an x near 1 cancels nothing.
    """
    drift = a * y - b * x
    value = c = _away(a * (drift + 1.0) / (a + 1.0))
    d = 0.0
    for m in range(1, _STEPS):
        middle = a + 2 * m - 1.0
        numerator = (a + m - 1.0) * (a + b + m - 1.0) * m * (b - m) * (x / middle) ** 2
        denominator = m + m * (b - m) * x / middle + (a + m) * (drift + 1.0 + m * (1.0 + y)) / (a + 2 * m + 1.0)
        d = 1.0 / _away(denominator + numerator * d)
        c = _away(denominator + numerator / c)
        value *= c * d
        if abs(c * d - 1.0) < 3e-16:
            break
    return value


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _inside(name: str, p: float) -> float:
    if not 0.0 < p < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, found {p!r}")
    return float(p)


def _shapes(a: float, b: float) -> tuple[float, float]:
    if not (0.0 < a < math.inf and 0.0 < b < math.inf):
        raise ValueError(f"a and b must be positive and finite, found {a!r}, {b!r}")
    return float(a), float(b)
