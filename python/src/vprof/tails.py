"""What the slowest 1 % of the intervals take longer than the mean, and which places make it up.

    tail share = (E[x | tail] - E[x]) / (E[T | tail] - E[T])

From the intervals of the tail themselves where they are known and few enough for a profile to keep
them; else from bins, unless these are too wide to tell the tail from the rest. (docs/analysis.md,
Moments; ``analyzer/src/factors/tail_shares.cpp``.)
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .exact import Exact, Ints
from .latency import rank_of
from .sums import Slowest, Sums

_QUANTILE = 0.99
# With fewer intervals in the tail there is no telling how far chance goes.
_FEWEST_SLOW = 10
# The most that the width of a bin may change a tail share.
_MOST_ERROR = 0.05

Long = npt.NDArray[np.longdouble]


def tail_count(n: int) -> int:
    """How many of n intervals are the tail."""
    return n - rank_of(_QUANTILE, n) + 1


def tail_weights(latency: Ints, count: int, admitted: npt.NDArray[np.bool_]) -> Long:
    """The weight of each interval in the mean over the slowest ``count`` of those admitted.

    Slowest first. Those as slow as the last one share what is left.
    """
    weights = np.zeros(len(latency), dtype=np.longdouble)
    own = np.flatnonzero(admitted)
    if len(own) == 0:
        return weights
    last = min(count, len(own)) - 1
    bound = latency[own[last]]
    slower, equal = own[latency[own] > bound], own[latency[own] == bound]
    weights[slower] = 1
    weights[equal] = np.longdouble(last + 1 - len(slower)) / len(equal)
    return weights / np.longdouble(last + 1)


class TailShares:
    """Tail shares of places."""

    def __init__(self, sums: Sums) -> None:
        self.n = sums.n
        self.excess = np.longdouble(0)  #: of the latency, ns; 0: not known
        self.slowest: Slowest | None = None
        #: By place, ns.
        self.tail_mean: Long = np.zeros(len(sums.places), dtype=np.longdouble)
        self.mean: Long = np.array(sums.x / sums.n, dtype=np.longdouble)
        count = tail_count(self.n)
        if sums.slowest is not None and len(sums.slowest.latency) >= count:
            self._from_intervals(sums.slowest, count)
        elif sums.bins is not None:
            self._from_bins(sums)

    @property
    def known(self) -> bool:
        return bool(self.excess > 0)

    def shares(self) -> list[float | None]:
        """By place; None: not known."""
        if not self.known:
            return [None] * len(self.mean)
        return [float(one) for one in (self.tail_mean - self.mean) / self.excess]

    def _from_intervals(self, slowest: Slowest, count: int) -> None:
        self.slowest = slowest
        weights = tail_weights(slowest.latency, count, np.ones(len(slowest.latency), dtype=bool))
        times = weights[slowest.interval] * slowest.ns.astype(np.longdouble)
        np.add.at(self.tail_mean, slowest.place, times)
        self.excess = self.tail_mean[0] - self.mean[0]

    def _from_bins(self, sums: Sums) -> None:
        assert sums.bins is not None
        tail = sums.latencies.tail(_QUANTILE)
        x = np.array(sums.bins.x / 1 if len(sums.bins.x) else [], dtype=np.longdouble)
        whole = sums.bins.bin >= tail.first_whole
        partial = sums.bins.bin + 1 == tail.first_whole
        np.add.at(self.tail_mean, sums.bins.place[whole], x[whole])
        np.add.at(self.tail_mean, sums.bins.place[partial], x[partial] * tail.partial)
        self.tail_mean /= np.longdouble(tail.count)
        self.excess = self.tail_mean[0] - self.mean[0]
        from_bin = tail.partial * tail.in_bin / tail.count
        if tail.in_bin and from_bin * (tail.greatest - tail.least) > _MOST_ERROR * self.excess:
            self.excess = np.longdouble(0)


class TailJackknife:
    """Tail shares of the intervals outside one group of batches after the other."""

    def __init__(
        self, tail: TailShares, recordings: Ints, n: Ints, x: Exact, last_begin: Ints | None
    ) -> None:
        """Of groups, in order: the recording, the intervals, their times by place, and when the
        last of them began."""
        self._tail = tail
        self._n = n
        self._excess: Long | None = None
        slowest = tail.slowest
        enough = len(n) >= 2 and tail_count(tail.n) >= _FEWEST_SLOW
        if not (tail.known and enough) or slowest is None or last_begin is None:
            return
        group = _groups_of(slowest, recordings, last_begin)
        self._weights = np.array(
            [
                tail_weights(slowest.latency, tail_count(tail.n - int(n[b])), group != b)
                for b in range(len(n))
            ]
        )
        latency = slowest.latency.astype(np.longdouble)
        rest = np.array((x[:, 0].sum() - x[:, 0]) / (tail.n - n), dtype=np.longdouble)
        self._excess = self._weights @ latency - rest
        self._x = x
        order = np.argsort(slowest.place, kind="stable")
        self._order, self._places = order, slowest.place[order]

    def without_each(self, places: list[int]) -> Long | None:
        """By group: the tail share without it of places, none of which is within another."""
        slowest = self._tail.slowest
        if self._excess is None or slowest is None or (self._excess <= 0).any():
            return None
        times = np.zeros(len(slowest.latency), dtype=np.longdouble)
        for place in places:
            first, last = np.searchsorted(self._places, [place, place + 1])
            rows = self._order[first:last]
            np.add.at(times, slowest.interval[rows], slowest.ns[rows].astype(np.longdouble))
        own = self._x[:, places].sum(axis=1)
        rest = np.array((own.sum() - own) / (self._tail.n - self._n), dtype=np.longdouble)
        without: Long = (self._weights @ times - rest) / self._excess
        return without

    def least_error(self, residual_ns2: float, added: float) -> float:
        """The least standard error of a tail share s whose residual x - s T has this variance.

        It is at least as if ``added`` more intervals, chosen from all of them, were in the tail:
        the square of Student's quantile, after Agresti and Coull (1998).
        """
        count = tail_count(self._tail.n)
        squared = added * residual_ns2 / (count * (count + added - 1))
        return math.sqrt(squared) / float(self._tail.excess)


def _groups_of(slowest: Slowest, recordings: Ints, last_begin: Ints) -> Ints:
    """The group of each interval: of its recording the first that had not ended at its begin."""
    group = np.zeros(len(slowest.latency), dtype=np.int64)
    for recording in np.unique(slowest.recording):
        own = np.flatnonzero(recordings == recording)
        rows = np.flatnonzero(slowest.recording == recording)
        ends = np.maximum.accumulate(last_begin[own])
        at = np.minimum(np.searchsorted(ends, slowest.begin[rows]), len(own) - 1)
        group[rows] = own[at]
    return group
