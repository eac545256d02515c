"""Student's t and Holm's procedure, as docs/analysis.md uses them."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: A probability of 5 %, of all that is tested together.
LEVEL = 0.05


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Of the incomplete beta function, by the method of Lentz."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    result = d
    for m in range(1, 500):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + term / c
            c = c if abs(c) > tiny else tiny
            result *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return result


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(a, b, x) / a
    return 1.0 - front * _continued_fraction(b, a, 1.0 - x) / b


def p_value(t: float, degrees: float) -> float:
    """Of a two-sided test: how likely a t as far from 0 is by chance."""
    if degrees <= 0 or math.isnan(t):
        return 1.0
    if math.isinf(t):
        return 0.0
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


def t_quantile(level: float, degrees: float) -> float:
    """The t that is exceeded, on either side, with the probability `level`."""
    low, high = 0.0, 1.0
    while p_value(high, degrees) > level and high < 1e12:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if p_value(middle, degrees) > level:
            low = middle
        else:
            high = middle
    return high


def holm(p_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which hypotheses are rejected: any true one with a probability of at most `level`."""
    rejected = [False] * len(p_values)
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    for rank, i in enumerate(order):
        if not p_values[i] <= level / (len(p_values) - rank):
            break
        rejected[i] = True
    return rejected
