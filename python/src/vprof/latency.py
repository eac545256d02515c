"""Latencies in buckets and bins (``analyzer/src/statistics/histogram.h``): quantiles and tails."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .exact import Ints

_LINEAR = 1024
_BINS = 5  # a bin is 2^5 buckets


def bucket_of(ns: Ints) -> Ints:
    """The bucket of each latency, ns. At most 1/1024 of its least latency wide."""
    # Exact up to 2^53, and latencies are below 2^47.
    width = np.frexp(ns.astype(np.float64))[1].astype(np.int64)
    shift = np.maximum(width - 11, 0)
    return np.where(ns < _LINEAR, ns, shift * _LINEAR + (ns >> shift))


def bin_of(ns: Ints) -> Ints:
    """The bin of each latency, ns. At most 1/32 of its least latency wide."""
    return bucket_of(ns) >> _BINS


def least_of_bin(number: int) -> int:
    """The least latency of a bin, ns."""
    if number < 32:
        return number * 32
    shift, within = divmod(number - 32, 32)
    return ((32 + within) * 32) << shift


@dataclass(frozen=True)
class Tail:
    """The latencies from a quantile on, in bins: all from ``first_whole`` on, and the fraction
    ``partial`` of the one below."""

    count: int
    first_whole: int
    partial: float
    #: Of the partial bin: how many latencies, and the least and the greatest of them, ns.
    in_bin: int
    least: int
    greatest: int


@dataclass(frozen=True)
class Histogram:
    """Numbers of latencies by bucket, with the least and the greatest in each, ns."""

    buckets: Ints  #: rising
    counts: Ints
    least: Ints
    greatest: Ints

    @staticmethod
    def of(buckets: Ints, counts: Ints, least: Ints, greatest: Ints) -> Histogram:
        """From any number of parts."""
        known, at = np.unique(buckets, return_inverse=True)
        sums = np.zeros(len(known), dtype=np.int64)
        np.add.at(sums, at, counts)
        low = np.full(len(known), np.iinfo(np.int64).max)
        high = np.zeros(len(known), dtype=np.int64)
        np.minimum.at(low, at, least)
        np.maximum.at(high, at, greatest)
        return Histogram(known, sums, low, high)

    @property
    def count(self) -> int:
        return int(self.counts.sum())

    @property
    def max(self) -> float:
        """The greatest latency, ns: exact."""
        return float(self.greatest[-1]) if len(self.greatest) else 0.0

    def quantile(self, p: float) -> float:
        """The p-quantile by nearest rank, ns. Its error is below 1/1024 of its value; it is exact
        below 2048 ns, and in buckets of one or two latencies."""
        if self.count == 0:
            return 0.0
        rank = rank_of(p, self.count)
        at = int(np.searchsorted(np.cumsum(self.counts), rank))
        rank -= int(self.counts[:at].sum())
        least, own = float(self.least[at]), int(self.counts[at])
        if own == 1:
            return least
        return least + float(self.greatest[at] - self.least[at]) * (rank - 1) / (own - 1)

    def tail(self, p: float) -> Tail:
        """The latencies from the p-quantile on."""
        count = self.count - rank_of(p, self.count) + 1
        bins = self.buckets >> _BINS
        left = count
        first = int(bins[-1]) + 1
        for one in np.unique(bins)[::-1]:
            own = bins == one
            in_bin = int(self.counts[own].sum())
            if left == 0:
                break
            if in_bin > left:
                least, greatest = int(self.least[own].min()), int(self.greatest[own].max())
                return Tail(count, int(one) + 1, left / in_bin, in_bin, least, greatest)
            left -= in_bin
            first = int(one)
        return Tail(count, first, 0.0, 0, 0, 0)

    def bins(self) -> Bins:
        """The same in bins."""
        known, at = np.unique(self.buckets >> _BINS, return_inverse=True)
        counts = np.zeros(len(known), dtype=np.int64)
        np.add.at(counts, at, self.counts)
        return Bins(known, counts)


@dataclass(frozen=True)
class Bins:
    """Numbers of latencies by bin."""

    bins: Ints
    counts: Ints

    def quantile(self, p: float) -> float:
        """The p-quantile, ns, as if latencies were spread evenly within a bin."""
        rank = p * float(self.counts.sum())
        before = 0.0
        for number, own in zip(self.bins.tolist(), self.counts.tolist()):
            if before + own >= rank:
                part = min(max((rank - before) / own, 0.0), 1.0)
                low, high = least_of_bin(number), least_of_bin(number + 1)
                return float(low + part * (high - low))
            before += own
        return 0.0


def rank_of(p: float, count: int) -> int:
    """The rank of the p-quantile among that number of values, from 1."""
    # 0.95 is not a binary fraction: without the small subtrahend, 0.95 * 20 rounds up to 20.
    return min(max(math.ceil(p * count - 1e-9), 1), count)
