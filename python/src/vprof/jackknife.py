"""Standard errors and confidence intervals from batches of intervals that follow each other.

The delete-one jackknife for groups of unequal size (Busing, Meijer and van der Leeden 1999) with
Student's t, once from few long groups of batches and once from about 16 shorter ones; the wider
interval counts. (docs/analysis.md, Confidence; ``analyzer/src/factors/jackknife.cpp``.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .exact import Exact, Floats, Ints, covariance, sums_of_exact, variance, zeros
from .significance import LEVEL, logit_interval, p_of_zero, t_quantile
from .sums import Sums
from .tails import Long, TailJackknife, TailShares

_BATCH_POWER = 0.25
_FEWEST = 6.0
_SHORT = 16.0


@dataclass
class Estimate:
    """An estimate and its standard error; degrees 0: the error is not known."""

    value: float
    error: float = 0.0
    degrees: float = 0.0
    ci95: tuple[float, float] = (0.0, 0.0)

    @property
    def reach(self) -> float:
        """Half of the confidence interval."""
        return t_quantile(LEVEL, self.degrees) * self.error if self.degrees > 0 else 0.0

    def raise_error(self, least: float) -> None:
        if self.error < least:
            self.error = least
            self.ci95 = (self.value - self.reach, self.value + self.reach)

    def wider(self, other: Estimate) -> Estimate:
        """The one of the two with the wider interval."""
        return other if self.degrees <= 0 or other.reach > self.reach else self

    def widen_fraction(self) -> None:
        """Of a part of the whole: covers the interval that is symmetric on the logit scale, too."""
        if self.degrees > 0 and 0 < self.value < 1:
            low, high = logit_interval(self.value, self.reach)
            self.ci95 = (min(self.ci95[0], low), max(self.ci95[1], high))


def jackknife(value: float, without: Floats | Long | None, n: Ints) -> Estimate:
    """``without[i]``: the value without group i, which has ``n[i]`` intervals."""
    if without is None or len(without) < 2:
        return Estimate(value, ci95=(value, value))
    own = np.asarray(without, dtype=np.longdouble)
    total = np.longdouble(n.sum())
    groups = np.longdouble(len(own))
    h = total / n.astype(np.longdouble)
    centre = groups * value - ((1 - n / total) * own).sum()
    distance = h * value - (h - 1) * own - centre
    squares = (distance * distance / (h - 1)).sum()
    estimate = Estimate(value, float(np.sqrt(squares / groups)), float(len(own) - 1))
    estimate.ci95 = (value - estimate.reach, value + estimate.reach)
    return estimate


def join(sums: Sums, wanted: float | None = None) -> Ints:
    """The group of each batch: neighbours of one recording are joined until about this many are left,
    by default n^(1/4), but no fewer than 6."""
    batches = sums.batches
    if wanted is None:
        wanted = max(_FEWEST, float(sums.n) ** _BATCH_POWER)
    each = max(1, math.floor(len(batches) / wanted + 0.5))
    groups = np.zeros(len(batches), dtype=np.int64)
    group, inside = -1, each
    for number, recording in enumerate(batches.recording.tolist()):
        if inside == each or batches.recording[number - 1] != recording:
            group, inside = group + 1, 0
        groups[number] = group
        inside += 1
    return groups


@dataclass
class FactorEstimate:
    """What the jackknife says about a factor; fractions are of Var(T)."""

    contribution: Estimate
    variance: Estimate  #: ns²
    share: Estimate
    covariance: Estimate  #: with the latency, ns²
    tail_share: Estimate
    #: Of the hypothesis that the share, or the covariance of a pair, is 0.
    p: float = 1.0

    def keep_wider(self, other: FactorEstimate) -> None:
        for name in ("contribution", "variance", "share", "covariance", "tail_share"):
            setattr(self, name, getattr(self, name).wider(getattr(other, name)))


@dataclass
class Joined:
    """Sums by group of batches and by place, as matrices, and what is left without each group."""

    sums: Sums
    groups: Ints
    n: Ints = field(init=False)
    x: Exact = field(init=False)

    def __post_init__(self) -> None:
        sums, groups = self.sums, self.groups
        size, places = int(groups.max()) + 1, len(sums.places)
        self.n = np.zeros(size, dtype=np.int64)
        np.add.at(self.n, groups, sums.batches.n)
        keys = groups[sums.rows.batch] * places + sums.rows.place

        def matrix(values: Exact) -> Exact:
            return sums_of_exact(keys, size * places, values).reshape(size, places)

        self.x, self.xx, self.xt = (matrix(v) for v in (sums.rows.x, sums.rows.xx, sums.rows.xt))
        products = sums.products
        same = products.a == products.b
        self.others = zeros(size * places).reshape(size, places)
        np.add.at(
            self.others, (groups[products.batch[same]], products.a[same]), products.xy[same]
        )
        self._pairs = products.a * places + products.b
        self._order = np.argsort(self._pairs, kind="stable")
        self._pairs = self._pairs[self._order]
        self.rest_n = self.n.sum() - self.n
        self.latency = self.without(self.x[:, 0])
        self.latency_variance = (
            self._variance(self.latency, self.without(self.xx[:, 0])) if size > 1 else None
        )

    def __len__(self) -> int:
        return len(self.n)

    @staticmethod
    def without(own: Exact) -> Exact:
        """The sum over all other groups."""
        return np.asarray(own.sum() - own)

    def _variance(self, x: Exact, xx: Exact) -> Floats:
        return np.array(
            [variance(int(n), a, b) for n, a, b in zip(self.rest_n, x, xx)], dtype=np.float64
        )

    def of_places(self, places: Sequence[int]) -> tuple[Floats, Floats]:
        """Var and Cov with the latency, without each group, of what takes the time of places."""
        chosen = list(places)
        x, xx, xt = (self.without(m[:, chosen].sum(axis=1)) for m in (self.x, self.xx, self.xt))
        others = self.without(self.others[:, chosen].sum(axis=1))
        covariances = [
            covariance(int(n), a, t, at) for n, a, t, at in zip(self.rest_n, x, self.latency, xt)
        ]
        return self._variance(x, xx + others), np.array(covariances, dtype=np.float64)

    def of_pair(self, a: int, b: int) -> Floats:
        """2 Cov of two places, without each group."""
        key = min(a, b) * len(self.sums.places) + max(a, b)
        first, last = np.searchsorted(self._pairs, [key, key + 1])
        rows = self._order[first:last]
        xy = zeros(len(self))
        np.add.at(xy, self.groups[self.sums.products.batch[rows]], self.sums.products.xy[rows])
        values = zip(
            self.rest_n, self.without(self.x[:, a]), self.without(self.x[:, b]), self.without(xy)
        )
        return np.array([2 * covariance(int(n), x, y, p) for n, x, y, p in values])

    def fraction(self, values: Floats) -> Floats:
        """Of the variance of the latency, without each group."""
        assert self.latency_variance is not None
        positive = self.latency_variance > 0
        return np.where(positive, values / np.where(positive, self.latency_variance, 1), 0.0)

    def tail(self, tail: TailShares) -> TailJackknife:
        batches = self.sums.batches
        recordings = np.zeros(len(self), dtype=np.int64)
        recordings[self.groups] = batches.recording
        last = None
        if batches.last_begin is not None:
            last = np.full(len(self), np.iinfo(np.int64).min)
            np.maximum.at(last, self.groups, batches.last_begin)
        return TailJackknife(tail, recordings, self.n, self.x, last)


class Jackknife:
    """Confidence intervals of factors."""

    def __init__(self, sums: Sums, latency_variance: float, tail: TailShares | None) -> None:
        self._variance = latency_variance
        self._joined = [Joined(sums, join(sums)), Joined(sums, join(sums, _SHORT))]
        self._tails = [None if tail is None else one.tail(tail) for one in self._joined]

    def of_places(
        self, places: Sequence[int], contribution: float, share: float, tail_share: float | None
    ) -> FactorEstimate:
        """Of what takes the time of places, none of which is within another."""
        found: FactorEstimate | None = None
        for joined, tail in zip(self._joined, self._tails):
            one = self._of_places(joined, tail, places, contribution, share, tail_share)
            if found is None:
                found = one
            else:
                found.keep_wider(one)
            found.p = p_of_zero(share, one.share.error, one.share.degrees)
        assert found is not None
        for estimate in (found.contribution, found.share, found.tail_share):
            estimate.widen_fraction()
        return found

    def _of_places(
        self,
        joined: Joined,
        tail: TailJackknife | None,
        places: Sequence[int],
        contribution: float,
        share: float,
        tail_share: float | None,
    ) -> FactorEstimate:
        all_ns2 = self._variance
        variances = covariances = parts = shares = None
        if len(joined) > 1:
            variances, covariances = joined.of_places(places)
            parts, shares = joined.fraction(variances), joined.fraction(covariances)
        one = FactorEstimate(
            jackknife(contribution, parts, joined.n),
            jackknife(contribution * all_ns2, variances, joined.n),
            jackknife(share, shares, joined.n),
            jackknife(share * all_ns2, covariances, joined.n),
            Estimate(tail_share or 0.0),
        )
        if tail_share is not None and tail is not None:
            without = tail.without_each(list(places))
            one.tail_share = jackknife(tail_share, without, joined.n)
            residual = (contribution - 2 * tail_share * share + tail_share**2) * all_ns2
            if one.tail_share.degrees > 0:
                t = t_quantile(LEVEL, one.tail_share.degrees)
                one.tail_share.raise_error(tail.least_error(max(0.0, residual), t * t))
        return one

    def of_pairs(self, pairs: Sequence[tuple[int, int]], contribution: float) -> FactorEstimate:
        """Of Σ 2 Cov of pairs of places."""
        found: FactorEstimate | None = None
        for joined in self._joined:
            without = parts = None
            if len(joined) > 1:
                without = np.sum([joined.of_pair(a, b) for a, b in pairs], axis=0)
                parts = joined.fraction(without)
            one = FactorEstimate(
                jackknife(contribution, parts, joined.n),
                jackknife(contribution * self._variance, without, joined.n),
                Estimate(0.0),
                Estimate(0.0),
                Estimate(0.0),
            )
            if found is None:
                found = one
            else:
                found.keep_wider(one)
            found.p = p_of_zero(contribution, one.contribution.error, one.contribution.degrees)
        assert found is not None
        found.contribution.widen_fraction()
        return found
