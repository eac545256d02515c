"""Sums from single intervals: the tables ``intervals`` and ``times``, or any part of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from .collect import BatchNumbers, Subject, ints
from .errors import InputError
from .exact import Exact, Ints, sums_of, sums_of_products, zeros
from .latency import Histogram, bin_of, bucket_of
from .places import Places, body_name
from .schema import MOST_LABELS
from .sums import Batches, Bins, LabelSums, Products, Rows, Slowest, Sums, Work
from .tables import Tables

# As many intervals, and times of leaves, as a profile keeps of the slowest ones: of up to 200,000
# intervals all of the slowest 1 % (analyzer/src/statistics/interval_sample.h).
_KEPT = 2000
_KEPT_LEAVES = 400_000
# Pairs of siblings that are multiplied at a time.
_PAIRS_AT_ONCE = 1 << 22


class _Intervals:
    """The columns of ``intervals``, one entry per interval."""

    def __init__(self, tables: Tables, about: Subject) -> None:
        columns = ["recording", "interval", "name", "label", "key", "id", "begin"]
        read = tables.arrow("intervals", [*columns, "latency_ns", "work", "weight"])
        read = read.filter(pa.compute.equal(read.column("name").cast(pa.string()), about.name))
        if read.num_rows == 0:
            raise InputError(f"no interval '{about.name}' is left; choose a larger part")
        self.recording = about.codes(read.column("recording"))
        self.number = ints(read.column("interval"))
        label = read.column("label").fill_null("").dictionary_encode().combine_chunks()
        self.labels: list[str] = label.dictionary.to_pylist()
        self.label = np.asarray(label.indices, dtype=np.int64)
        self.key = ints(read.column("key"))
        self.id = ints(read.column("id"))
        self.begin = ints(read.column("begin").cast(pa.int64()))
        self.latency = ints(read.column("latency_ns"))
        self.work = ints(read.column("work"))
        self.weight = ints(read.column("weight"), 1)
        if (self.latency < 0).any() or (self.weight < 1).any() or (self.work < 0).any():
            raise InputError(
                "the table 'intervals' has a negative latency, weight or work; export again"
            )
        batch = self.number >> about.batch_shift[self.recording]
        numbers = BatchNumbers(self.recording, batch)
        self.recordings = numbers.recordings
        self.batch = numbers.of(self.recording, batch)
        # Of a recording and a number; sorted to find the interval of a time.
        self.bits = max(int(self.number.max()).bit_length(), 1)
        self.keys = (self.recording << self.bits) | self.number
        self.order = np.argsort(self.keys, kind="stable")
        self.sorted_keys = self.keys[self.order]
        if (np.diff(self.sorted_keys) == 0).any():
            twice = int(self.order[np.flatnonzero(np.diff(self.sorted_keys) == 0)[0]])
            raise InputError(
                f"recording {about.recordings[int(self.recording[twice])]}: interval "
                f"{int(self.number[twice])} is there twice; delete the copy of the file"
            )

    def find(self, recording: Ints, number: Ints) -> Ints:
        """The index of each interval; -1 if it is not there."""
        keys = np.where(
            (recording >= 0) & (number >> self.bits == 0), (recording << self.bits) | number, -1
        )
        at = np.minimum(np.searchsorted(self.sorted_keys, keys), len(self.sorted_keys) - 1)
        return np.where(self.sorted_keys[at] == keys, self.order[at], -1)


class _Times:
    """The times of all places, bodies among them, in the intervals that are left."""

    def __init__(self, tables: Tables, about: Subject, intervals: _Intervals) -> None:
        read = tables.scan_times(["recording", "name", "interval", "place", "total_ns", "self_ns"])
        read = read.filter(pa.compute.equal(read.column("name").cast(pa.string()), about.name))
        recording = about.codes(read.column("recording"))
        interval = intervals.find(recording, ints(read.column("interval")))
        own = np.flatnonzero(interval >= 0)
        interval = interval[own]
        place = about.places_here(recording[own], ints(read.column("place"))[own])
        total = ints(read.column("total_ns"))[own]
        self_ns = ints(read.column("self_ns"))[own]
        in_itself = np.bincount(interval, weights=self_ns, minlength=len(intervals.latency))
        wrong = np.flatnonzero(in_itself.astype(np.int64) != intervals.latency)
        if len(wrong):
            first = int(wrong[0])
            raise InputError(
                f"recording {about.recordings[int(intervals.recording[first])]}: the times of "
                f"{len(wrong)} intervals, such as {int(intervals.number[first])}, do not add up to "
                "their latencies; rows of 'times' are missing or there twice, export again"
            )
        bodies = about.places.body_of()[place]
        has_body = np.flatnonzero((bodies >= 0) & (self_ns > 0))
        self.leaves = np.bincount(interval[self_ns > 0], minlength=len(intervals.latency))
        self.interval = np.concatenate([interval, interval[has_body]])
        self.place = np.concatenate([place, bodies[has_body]])
        self.ns = np.concatenate([total, self_ns[has_body]])


def _weighted(
    weight: Ints, keys: Ints, size: int, add: Callable[[Ints, Ints, np.ndarray], Exact]
) -> Exact:
    """Σ weight × what ``add(keys, size, rows)`` sums; mostly all weights are 1."""
    known = np.unique(weight)
    result = zeros(size)
    for one in known.tolist():
        rows = np.flatnonzero(weight == one) if len(known) > 1 else np.arange(len(weight))
        result += add(keys[rows], size, rows) * one  # type: ignore[arg-type]
    return result


def _sum(keys: Ints, size: int, weight: Ints, x: Ints, y: Ints | None = None) -> Exact:
    """Σ weight·x, or Σ weight·x·y, by key."""
    if y is None:
        return _weighted(weight, keys, size, lambda k, n, rows: sums_of(k, int(n), x[rows]))
    other = y
    return _weighted(
        weight, keys, size, lambda k, n, rows: sums_of_products(k, int(n), x[rows], other[rows])
    )


def _factor_names(places: Places, name: str) -> list[str]:
    """By place: places with the same value are instances of one factor."""
    names: list[str] = []
    for place in places.all:
        if place.parent < 0:
            names.append(name)
        elif place.kind == "body":
            above = places.all[place.parent]
            names.append(body_name(above.kind, names[place.parent]))
        else:
            names.append(place.key or place.function)
    return names


def _shared_functions(places: Places, name: str) -> Ints:
    """By place: the number of its function if it is one of several outermost places, else -1."""
    names = _factor_names(places, name)
    outermost: dict[str, list[int]] = {}
    for number, place in enumerate(places.all):
        above = place.parent
        while above > 0 and names[above] != names[number]:
            above = places.all[above].parent
        if number > 0 and above <= 0:
            outermost.setdefault(names[number], []).append(number)
    shared = np.full(len(places.all), -1, dtype=np.int64)
    for function, own in enumerate(outermost.values()):
        if len(own) > 1:
            shared[own] = function
    return shared


def _others(
    times: _Times, batch: Ints, weight: Ints, places: Places, name: str
) -> tuple[Ints, Ints, Exact]:
    """Σ x (X - x) by batch and place, of functions with several outermost places."""
    function = _shared_functions(places, name)[times.place]
    rows = np.flatnonzero(function >= 0)
    _, at = np.unique(times.interval[rows] * len(places.all) + function[rows], return_inverse=True)
    # Sums of at most one latency are exact in double precision.
    whole = np.bincount(at, weights=times.ns[rows]).astype(np.int64)
    x = times.ns[rows]
    others = whole[at] - x if len(rows) else x
    keys, at = np.unique(batch[rows] * len(places.all) + times.place[rows], return_inverse=True)
    sums = _sum(at.astype(np.int64), len(keys), weight[rows], x, others)
    return keys // len(places.all), keys % len(places.all), sums


def _siblings(
    times: _Times, batch: Ints, weight: Ints, parents: Ints
) -> tuple[Ints, Ints, Ints, Exact]:
    """Σxy by batch and pair of siblings."""
    size = len(parents)
    rows = np.flatnonzero(parents[times.place] >= 0)
    group = times.interval[rows] * size + parents[times.place[rows]]
    order = np.lexsort((times.place[rows], group))
    rows, group = rows[order], group[order]
    place, ns, batch, weight = times.place[rows], times.ns[rows], batch[rows], weight[rows]
    known: dict[tuple[int, int], int] = {}
    found: list[tuple[Ints, Exact]] = []
    for distance in range(1, len(rows)):
        first = np.flatnonzero(group[distance:] == group[:-distance])
        if len(first) == 0:
            break
        for start in range(0, len(first), _PAIRS_AT_ONCE):
            i = first[start : start + _PAIRS_AT_ONCE]
            pair = place[i] * size + place[i + distance]
            pairs, at = np.unique(pair, return_inverse=True)
            numbers = np.array(
                [known.setdefault(divmod(one, size), len(known)) for one in pairs.tolist()]
            )
            keys, at = np.unique((batch[i] << 32) | numbers[at], return_inverse=True)
            sums = _sum(at.astype(np.int64), len(keys), weight[i], ns[i], ns[i + distance])
            found.append((keys, sums))
    if not found:
        none = np.zeros(0, dtype=np.int64)
        return none, none, none, zeros(0)
    keys, at = np.unique(np.concatenate([one[0] for one in found]), return_inverse=True)
    sums = zeros(len(keys))
    np.add.at(sums, at, np.concatenate([one[1] for one in found]))
    ends = np.array(list(known), dtype=np.int64)[keys & 0xFFFFFFFF]
    return keys >> 32, ends[:, 0], ends[:, 1], sums


def _slowest(intervals: _Intervals, times: _Times) -> Slowest:
    """The slowest intervals, as many as a profile would keep."""
    order = np.lexsort((intervals.id, intervals.key.astype(np.uint64), -intervals.latency))
    order = order[:_KEPT]
    order = np.repeat(order, intervals.weight[order])[:_KEPT]
    leaves = np.cumsum(times.leaves[order])
    keep = max(int(np.searchsorted(leaves, _KEPT_LEAVES, side="right")), 1)
    order = order[:keep]
    kept, first = np.unique(order, return_index=True)
    index = np.full(len(intervals.latency), -1, dtype=np.int64)
    index[kept] = np.arange(len(kept))
    rows = np.flatnonzero(index[times.interval] >= 0)
    at, place, ns = index[times.interval[rows]], times.place[rows], times.ns[rows]
    # An interval of weight w is there w times.
    positions = [np.flatnonzero(order == one) for one in kept] if len(kept) < len(order) else None
    if positions is None:
        at = first[at]
    else:
        copies = np.array([len(one) for one in positions])
        place, ns = np.repeat(place, copies[at]), np.repeat(ns, copies[at])
        at = np.concatenate([positions[one] for one in at]) if len(at) else at
    return Slowest(
        intervals.latency[order],
        intervals.recording[order],
        intervals.id[order],
        at.astype(np.int64),
        place,
        ns,
    )


def _labels(
    intervals: _Intervals, times: _Times, weight: Ints, size: int
) -> tuple[dict[str, LabelSums], dict[str, Histogram], bool]:
    count = len(intervals.labels)
    n = np.zeros(count, dtype=np.int64)
    np.add.at(n, intervals.label, intervals.weight)
    x = _sum(intervals.label, count, intervals.weight, intervals.latency)
    xx = _sum(intervals.label, count, intervals.weight, intervals.latency, intervals.latency)
    known = count <= MOST_LABELS
    by_place = zeros(count * size)
    if known:
        keys = intervals.label[times.interval] * size + times.place
        by_place = _sum(keys, count * size, weight, times.ns)
    by_place = by_place.reshape(count, size)
    sums, latencies = {}, {}
    for number, label in enumerate(intervals.labels):
        sums[label] = LabelSums(int(n[number]), x[number], xx[number], by_place[number])
        own = intervals.label == number
        latencies[label] = _histogram(intervals.latency[own], intervals.weight[own])
    return dict(sorted(sums.items())), latencies, known


def _histogram(latency: Ints, weight: Ints) -> Histogram:
    return Histogram.of(bucket_of(latency), weight, latency, latency)


def _work(intervals: _Intervals, times: _Times, weight: Ints, size: int) -> Work:
    one = np.zeros(len(intervals.work), dtype=np.int64)
    declared = int(intervals.weight[intervals.work != 0].sum())
    if declared == 0:
        return Work(0, 0, 0, zeros(size))
    w = _sum(one, 1, intervals.weight, intervals.work)
    ww = _sum(one, 1, intervals.weight, intervals.work, intervals.work)
    xw = _sum(times.place, size, weight, times.ns, intervals.work[times.interval])
    return Work(declared, int(w[0]), int(ww[0]), xw)


def _bins(times: _Times, bins: Ints, weight: Ints, size: int) -> Bins:
    keys, at = np.unique(bins[times.interval] * size + times.place, return_inverse=True)
    x = _sum(at.astype(np.int64), len(keys), weight, times.ns)
    return Bins(keys % size, keys // size, x)


def sums_from_rows(tables: Tables, about: Subject) -> Sums:
    """The sums over the intervals that are left in ``tables``."""
    intervals = _Intervals(tables, about)
    times = _Times(tables, about, intervals)
    size = len(about.places.all)
    batch, weight = intervals.batch[times.interval], intervals.weight[times.interval]
    latency = intervals.latency[times.interval]
    n = np.zeros(len(intervals.recordings), dtype=np.int64)
    np.add.at(n, intervals.batch, intervals.weight)
    last = np.full(len(n), np.iinfo(np.int64).min)
    np.maximum.at(last, intervals.batch, intervals.id)
    begin = np.full(len(n), np.iinfo(np.int64).max)
    np.minimum.at(begin, intervals.batch, intervals.begin)
    batches = Batches(intervals.recordings, n, begin, last)

    keys, at = np.unique(batch * size + times.place, return_inverse=True)
    at = at.astype(np.int64)
    count = np.zeros(len(keys), dtype=np.int64)
    np.add.at(count, at, weight)
    root = keys % size == 0
    count[root] = n[keys[root] // size]  # an interval without time is one, too
    rows = Rows(
        keys // size,
        keys % size,
        _sum(at, len(keys), weight, times.ns),
        _sum(at, len(keys), weight, times.ns, times.ns),
        _sum(at, len(keys), weight, times.ns, latency),
        count,
    )
    pairs = _siblings(times, batch, weight, about.places.parents())
    others = _others(times, batch, weight, about.places, about.name)
    products = Products(
        np.concatenate([pairs[0], others[0]]),
        np.concatenate([pairs[1], others[1]]),
        np.concatenate([pairs[2], others[1]]),
        np.concatenate([pairs[3], others[2]]),
    )
    labels, label_latencies, known = _labels(intervals, times, weight, size)
    return Sums(
        interval=about.name,
        incomplete=0 if tables.sliced else about.incomplete,
        root_height=about.root_height,
        places=about.places.all,
        batches=batches,
        rows=rows,
        products=products,
        latencies=_histogram(intervals.latency, intervals.weight),
        labels=labels,
        labels_known=known,
        label_latencies=label_latencies,
        work=_work(intervals, times, weight, size),
        slowest=_slowest(intervals, times),
        bins=_bins(times, bin_of(intervals.latency), weight, size),
    )
