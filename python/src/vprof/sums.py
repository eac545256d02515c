"""What the intervals of one name are reduced to: exact sums, as a profile file holds them.

``rows.py`` adds up single intervals, ``rollups.py`` rows of the roll-ups. Everything else is
computed from here, so that both give the same figures.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .exact import Exact, Floats, Ints, sums_of_exact
from .latency import Histogram
from .places import Place


@dataclass
class Rows:
    """Sums of places by batch; places without time in a batch have no row."""

    batch: Ints
    place: Ints
    x: Exact
    xx: Exact
    xt: Exact
    count: Ints


@dataclass
class Products:
    """Σxy by batch of two places, a < b; of a = b: Σ x (X - x), where X is the time of the function
    over all its outermost places."""

    batch: Ints
    a: Ints
    b: Ints
    xy: Exact


@dataclass
class Batches:
    """Consecutive intervals of one recording, ordered by recording and time."""

    recording: Ints  #: number of the recording
    n: Ints  #: intervals
    begin: Ints  #: of the first one, µs since 1970, UTC
    #: When the last one began, ns of CLOCK_MONOTONIC; None: not known exactly.
    last_begin: Ints | None = None

    def __len__(self) -> int:
        return len(self.n)


@dataclass
class LabelSums:
    """Of the intervals with one label."""

    n: int
    x: int
    xx: int
    #: Σx by place.
    by_place: Exact


@dataclass
class Work:
    """Sums with the declared amount of work w."""

    #: Intervals that declared any; None: roll-ups do not tell.
    declared: int | None
    w: int
    ww: int
    #: Σxw by place.
    xw: Exact


@dataclass
class Slowest:
    """The slowest intervals with the times of their places, slowest first."""

    latency: Ints
    recording: Ints
    begin: Ints  #: ns of CLOCK_MONOTONIC
    #: Of each time: index of the interval, place, and ns.
    interval: Ints
    place: Ints
    ns: Ints


@dataclass
class Bins:
    """Σx of places by bin of the latency."""

    place: Ints
    bin: Ints
    x: Exact


@dataclass
class Sums:
    """Exact sums over the intervals of one name."""

    interval: str
    incomplete: int
    root_height: int
    places: list[Place]
    batches: Batches
    rows: Rows
    products: Products
    latencies: Histogram
    #: By label; "" of intervals without one.
    labels: dict[str, LabelSums]
    #: False if some labels are beyond the first 64, which have sums of their own.
    labels_known: bool
    label_latencies: dict[str, Histogram]
    work: Work
    #: None: only known from single intervals.
    slowest: Slowest | None
    bins: Bins | None

    x: Exact = field(init=False)  #: Σx by place, over all batches
    xx: Exact = field(init=False)
    xt: Exact = field(init=False)
    count: Ints = field(init=False)

    def __post_init__(self) -> None:
        size = len(self.places)
        self.x = sums_of_exact(self.rows.place, size, self.rows.x)
        self.xx = sums_of_exact(self.rows.place, size, self.rows.xx)
        self.xt = sums_of_exact(self.rows.place, size, self.rows.xt)
        self.count = np.zeros(size, dtype=np.int64)
        np.add.at(self.count, self.rows.place, self.rows.count)

    @property
    def n(self) -> int:
        """Number of intervals."""
        return int(self.batches.n.sum())

    def mean(self) -> Floats:
        """By place, ns."""
        return np.asarray(self.x / self.n, dtype=np.float64)

    def others(self) -> Exact:
        """By place: Σ x (X - x)."""
        same = self.products.a == self.products.b
        return sums_of_exact(self.products.a[same], len(self.places), self.products.xy[same])
