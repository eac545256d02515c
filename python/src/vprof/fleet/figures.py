"""Figures of one slice of the fleet from exact sums, with their confidence."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .engine import Row
from ..significance import LEVEL, holm, logit_interval, t_quantile, t_two_sided
from .slices import GROUPS

#: What varies less is not tested and not listed.
LEAST = 0.01


@dataclass
class Sums:
    """Integers of any size, so nothing is rounded before the last division."""

    n: int = 0
    count: int = 0
    x: int = 0
    xt: int = 0
    xx: int = 0
    t: int = 0
    tt: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.n + other.n, self.count + other.count, self.x + other.x, self.xt + other.xt,
            self.xx + other.xx, self.t + other.t, self.tt + other.tt,
        )  # fmt: skip

    def __sub__(self, other: Sums) -> Sums:
        return Sums(
            self.n - other.n, self.count - other.count, self.x - other.x, self.xt - other.xt,
            self.xx - other.xx, self.t - other.t, self.tt - other.tt,
        )  # fmt: skip

    def mean(self) -> float:
        return self.x / self.n if self.n else 0.0

    def covariance(self) -> float:
        return (self.n * self.xt - self.x * self.t) / self.n**2 if self.n else 0.0

    def variance(self) -> float:
        """Of the latency."""
        return (self.n * self.tt - self.t**2) / self.n**2 if self.n else 0.0

    def share(self) -> float:
        below = self.n * self.tt - self.t**2
        return (self.n * self.xt - self.x * self.t) / below if below else 0.0

    def contribution(self) -> float:
        below = self.n * self.tt - self.t**2
        return (self.n * self.xx - self.x**2) / below if below else 0.0


@dataclass
class Estimate:
    value: float
    error: float = 0.0
    degrees: float = 0.0
    low: float = math.nan
    high: float = math.nan

    @property
    def reach(self) -> float:
        return t_quantile(LEVEL, self.degrees) * self.error if self.degrees > 0 else math.inf

    @property
    def p(self) -> float:
        """How likely an estimate as far from 0 is if the truth is 0."""
        if self.degrees <= 0:
            return 1.0
        if self.error <= 0:
            return 1.0 if self.value == 0 else 0.0
        return t_two_sided(self.value / self.error, self.degrees)


def jackknife(value: float, without: Sequence[float], n: Sequence[int]) -> Estimate:
    """Leaves out one group at a time, of unequal size (Busing, Meijer, van der Leeden, 1999)."""
    groups = len(n)
    if groups < 2:
        return Estimate(value, low=-math.inf, high=math.inf)
    total = sum(n)
    centre = groups * value - sum((1 - m / total) * w for m, w in zip(n, without, strict=True))
    squares = 0.0
    for m, w in zip(n, without, strict=True):
        h = total / m
        squares += (h * value - (h - 1) * w - centre) ** 2 / (h - 1)
    estimate = Estimate(value, math.sqrt(squares / groups), groups - 1)
    estimate.low, estimate.high = value - estimate.reach, value + estimate.reach
    return estimate


def _joined(groups: Sequence[Sums], joined: int) -> list[Sums]:
    result = []
    for first in range(0, len(groups), joined):
        total = Sums()
        for sums in groups[first : first + joined]:
            total += sums
        if total.n:
            result.append(total)
    return result


def _share(groups: Sequence[Sums]) -> Estimate:
    total = Sums()
    for sums in groups:
        total += sums
    return jackknife(
        total.share(), [(total - sums).share() for sums in groups], [sums.n for sums in groups]
    )


def share_of(groups: Sequence[Sums]) -> tuple[Estimate, float]:
    """Twice, with 16 groups and with 8 of twice the length: the wider interval counts.

    As docs/analysis.md: between 0 and 1 the interval also covers that on the logit scale, and the p
    value is that of 16 groups.
    """
    short = _share(_joined(groups, 1))
    long = _share(_joined(groups, 2))
    p = short.p
    kept = long if long.degrees > 0 and long.reach > short.reach else short
    if kept.degrees > 0 and 0 < kept.value < 1:
        low, high = logit_interval(kept.value, kept.reach)
        kept.low, kept.high = min(kept.low, low), max(kept.high, high)
    return kept, p


@dataclass
class FunctionFigures:
    function: str
    mean_ns: float
    share: Estimate
    contribution: float | None
    #: Part of the intervals whose recordings show all of the function.
    visible: float
    significant: bool = False


@dataclass
class SliceFigures:
    slice: str
    intervals: int
    mean_ns: float
    stddev_ns: float
    mean: Estimate
    functions: dict[str, FunctionFigures] = field(default_factory=dict)
    total: Sums = field(default_factory=Sums)


def figures(rows: Iterable[Row], with_products: bool) -> dict[str, SliceFigures]:
    """Of the rows of sql/totals.sql, by slice."""
    by_slice: dict[str, dict[str, list[Sums]]] = defaultdict(dict)
    for slice, group, function, *values in rows:
        of = by_slice[slice].setdefault(function, [Sums() for _ in range(GROUPS)])
        of[group] += Sums(*map(int, values))
    return {
        slice: _slice(slice, functions, with_products) for slice, functions in by_slice.items()
    }


def _slice(
    slice: str, functions: Mapping[str, list[Sums]], with_products: bool
) -> SliceFigures:
    root = functions[""]
    total = _joined(root, GROUPS)[0]
    n = [sums.n for sums in root if sums.n]
    mean = jackknife(total.mean(), [(total - sums).mean() for sums in root if sums.n], n)
    result = SliceFigures(
        slice, total.n, total.mean(), math.sqrt(max(0.0, total.variance())), mean, total=total
    )
    tested: list[FunctionFigures] = []
    p_values: list[float] = []
    for function, groups in sorted(functions.items()):
        if function == "":
            continue
        # n, t and tt of a function are of the intervals that do not show all of it.
        seen = [
            Sums(r.n - g.n, g.count, g.x, g.xt, g.xx, r.t - g.t, r.tt - g.tt)
            for r, g in zip(root, groups, strict=True)
        ]
        whole = _joined(seen, GROUPS)
        if not whole:
            continue
        share, p = share_of(seen)
        found = FunctionFigures(
            function,
            whole[0].mean(),
            share,
            whole[0].contribution() if with_products else None,
            whole[0].n / total.n,
        )
        result.functions[function] = found
        if abs(share.value) >= LEAST or (found.contribution or 0) >= LEAST:
            tested.append(found)
            p_values.append(p)
    for found, rejected in zip(tested, holm(p_values), strict=True):
        found.significant = rejected and (found.share.low > 0 or found.share.high < 0)
    return result
