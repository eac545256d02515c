"""Sums from the roll-ups: the tables ``sums``, ``products``, ``bins`` and ``latencies``."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .collect import BatchNumbers, Subject, ints
from .errors import InputError
from .exact import Ints, sums_of_decimals
from .latency import Histogram
from .sums import Batches, Bins, LabelSums, Products, Rows, Sums, Work
from .tables import Tables


def _of(tables: Tables, table: str, columns: list[str], about: Subject) -> pa.Table:
    read = tables.arrow(table, ["recording", "name", *columns])
    return read.filter(pa.compute.equal(read.column("name").cast(pa.string()), about.name))


def _histogram(read: pa.Table) -> Histogram:
    return Histogram.of(*(ints(read.column(c)) for c in ("bucket", "n", "least_ns", "greatest_ns")))


def _bins(tables: Tables, about: Subject, size: int) -> Bins:
    read = _of(tables, "bins", ["place", "bin", "x"], about)
    place = about.places_here(about.codes(read.column("recording")), ints(read.column("place")))
    keys, at = np.unique(ints(read.column("bin")) * size + place, return_inverse=True)
    x = sums_of_decimals(at.astype(np.int64), len(keys), read.column("x"))
    return Bins(keys % size, keys // size, x)


class _ByLabel:
    """The rows of ``sums``, by label; null stands for all labels beyond the first 64."""

    def __init__(self, read: pa.Table, place: Ints, size: int) -> None:
        label = read.column("label").dictionary_encode().combine_chunks()
        self.names: list[str] = label.dictionary.to_pylist()
        count = len(self.names) + 1
        code = ints(pa.chunked_array([label.indices]), len(self.names))
        self.known = not bool((code == len(self.names)).any())
        root = place == 0
        n = np.zeros(count, dtype=np.int64)
        np.add.at(n, code[root], ints(read.column("n"))[root])
        by_place = sums_of_decimals(code * size + place, count * size, read.column("x"))
        by_place = by_place.reshape(count, size)
        # Rows of other places are added up where nobody looks.
        at = np.where(root, code, count)
        squares = sums_of_decimals(at, count + 1, read.column("xx"))
        self.sums = {
            name: LabelSums(int(n[i]), by_place[i, 0], squares[i], by_place[i])
            for i, name in enumerate(self.names)
        }


def _work(read: pa.Table, place: Ints, size: int) -> Work:
    root = np.where(place == 0, 0, 1)
    w, ww = (int(sums_of_decimals(root, 2, read.column(column))[0]) for column in ("w", "ww"))
    return Work(None if w else 0, w, ww, sums_of_decimals(place, size, read.column("xw")))


def _rows(read: pa.Table, batch: Ints, place: Ints, size: int) -> Rows:
    keys, at = np.unique(batch * size + place, return_inverse=True)
    at = at.astype(np.int64)
    count = np.zeros(len(keys), dtype=np.int64)
    np.add.at(count, at, ints(read.column("count")))
    x, xx, xt = (sums_of_decimals(at, len(keys), read.column(c)) for c in ("x", "xx", "xt"))
    return Rows(keys // size, keys % size, x, xx, xt, count)


def _products(tables: Tables, about: Subject, numbers: BatchNumbers) -> Products:
    read = _of(tables, "products", ["batch", "a", "b", "xy"], about)
    recording = about.codes(read.column("recording"))
    batch = numbers.of(recording, ints(read.column("batch")))
    a, b = (about.places_here(recording, ints(read.column(c))) for c in ("a", "b"))
    each = np.arange(len(a), dtype=np.int64)
    xy = sums_of_decimals(each, len(a), read.column("xy"))
    return Products(batch, np.minimum(a, b), np.maximum(a, b), xy)


def sums_from_rollups(tables: Tables, about: Subject) -> Sums:
    """The sums over all intervals of the recordings in ``tables``."""
    columns = ["batch", "place", "label", "begin", "n", "count", "x", "xx", "xt", "w", "ww", "xw"]
    read = _of(tables, "sums", columns, about)
    if read.num_rows == 0:
        raise InputError(f"no interval '{about.name}' is left; choose a larger part")
    size = len(about.places.all)
    recording = about.codes(read.column("recording"))
    place = about.places_here(recording, ints(read.column("place")))
    numbers = BatchNumbers(recording, ints(read.column("batch")))
    batch = numbers.of(recording, ints(read.column("batch")))
    n = np.zeros(len(numbers.recordings), dtype=np.int64)
    np.add.at(n, batch[place == 0], ints(read.column("n"))[place == 0])
    begin = np.full(len(n), np.iinfo(np.int64).max)
    np.minimum.at(begin, batch, ints(read.column("begin").cast(pa.int64())))
    labels = _ByLabel(read, place, size)
    latencies = _of(tables, "latencies", ["label", "bucket", "n", "least_ns", "greatest_ns"], about)
    own = latencies.column("label")
    return Sums(
        interval=about.name,
        incomplete=about.incomplete,
        root_height=about.root_height,
        places=about.places.all,
        batches=Batches(numbers.recordings, n, begin),
        rows=_rows(read, batch, place, size),
        products=_products(tables, about, numbers),
        latencies=_histogram(latencies),
        labels=dict(sorted(labels.sums.items())),
        labels_known=labels.known,
        label_latencies={
            name: _histogram(latencies.filter(pa.compute.equal(own, name)))
            for name in labels.names
        },
        work=_work(read, place, size),
        slowest=None,
        bins=_bins(tables, about, size),
    )
