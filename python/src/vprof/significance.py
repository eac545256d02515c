"""Student's t, and the correction for many tests at once.

``analyzer/src/statistics/significance.cpp``; docs/analysis.md, Confidence.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

#: Of 95 % confidence intervals, and of all tests that are made together.
LEVEL = 0.05

#: The farthest that an interval reaches on the logit scale: 20 times the odds.
_MOST_LOGIT = 3.0

_TINY = 1e-300


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8)."""

    def nonzero(value: float) -> float:
        return _TINY if abs(value) < _TINY else value

    c, d = 1.0, 1 / nonzero(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, 300):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / nonzero(1 + even * d)
        c = nonzero(1 + even / c)
        result *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / nonzero(1 + odd * d)
        c = nonzero(1 + odd / c)
        result *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return result


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def t_two_sided(t: float, degrees: float) -> float:
    """The probability that Student's t lies further from 0 than \\|t\\|; 1 without degrees."""
    if not degrees > 0:
        return 1.0
    return _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


@functools.lru_cache(maxsize=4096)
def t_quantile(p: float, degrees: float) -> float:
    """The t whose two-sided p-value is ``p``: 2.571 for 0.05 and 5 degrees of freedom."""
    low, high = 0.0, 1.0
    while t_two_sided(high, degrees) > p and high < 1e12:
        high *= 2
    for _ in range(100):
        if high - low <= 1e-12 * high:
            break
        middle = (low + high) / 2
        if t_two_sided(middle, degrees) > p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def p_of_zero(value: float, error: float, degrees: float) -> float:
    """The p-value of the hypothesis that an estimate is of 0. 1 if its error is not known
    (degrees 0); an error of 0 is certain knowledge."""
    if not degrees > 0 or value == 0:
        return 1.0
    return t_two_sided(value / error, degrees) if error > 0 else 0.0


def logit_interval(value: float, reach: float) -> tuple[float, float]:
    """Of a part of the whole, 0 < value < 1: the interval that is symmetric on the logit scale."""
    width = min(reach / (value * (1 - value)), _MOST_LOGIT)
    odds = value / (1 - value)
    low, high = odds * math.exp(-width), odds * math.exp(width)
    return low / (1 + low), high / (1 + high)


def holm(p_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which hypotheses to reject so that with probability 1 - ``level`` none of those that hold is
    rejected: Holm's step-down procedure (1979)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    rejected = [False] * len(p_values)
    for done, i in enumerate(order):
        if p_values[i] * (len(order) - done) > level:
            break
        rejected[i] = True
    return rejected
