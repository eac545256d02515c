"""Tables of fleets that never were: schema and keys as docs/tables.md has them.

A `Program` is a tree of places. `record` draws the times of its places for one recording of one
host and writes all tables of it, the roll-ups from the same times in plain integers.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DECIMAL = pa.decimal128(38, 0)
STAMP = pa.timestamp("us", tz="UTC")
NOON = dt.datetime(2026, 11, 24, 12, 0, tzinfo=dt.timezone.utc)

SCHEMAS = {
    "recordings": pa.schema(
        [("recording", pa.string()), ("schema", pa.int32()), ("name", pa.string()),
         ("program", pa.string()), ("version", pa.string()), ("vprof", pa.string()),
         ("run_ns", pa.int64()), ("begin", STAMP), ("end", STAMP), ("exported", STAMP),
         ("intervals", pa.int64()), ("incomplete", pa.int64()), ("left_out", pa.int64()),
         ("batch_shift", pa.int32()), ("root_height", pa.int32()), ("dropped", pa.int64()),
         ("torn", pa.int64()), ("unreadable_bytes", pa.int64()), ("unknown_waits", pa.int64()),
         ("outside_waits", pa.int64()), ("inferred_edges", pa.int64()),
         ("exact_edges", pa.int64()), ("records", pa.int64())]),
    "places": pa.schema(
        [("recording", pa.string()), ("place", pa.int32()), ("parent", pa.int32()),
         ("kind", pa.string()), ("blamed", pa.bool_()), ("function", pa.string()),
         ("key", pa.string()), ("file", pa.string()), ("line", pa.int32()),
         ("site", pa.string()), ("position", pa.string()), ("path", pa.string()),
         ("height", pa.int32()), ("expandable", pa.bool_()), ("expanded", pa.bool_())]),
    "intervals": pa.schema(
        [("recording", pa.string()), ("interval", pa.int64()), ("name", pa.string()),
         ("program", pa.string()), ("version", pa.string()), ("process", pa.int32()),
         ("label", pa.string()), ("key", pa.int64()), ("id", pa.int64()), ("begin", STAMP),
         ("latency_ns", pa.int64()), ("work", pa.int64()), ("trace_id", pa.string()),
         ("span_id", pa.string()), ("weight", pa.int64())]),
    "times": pa.schema(
        [("recording", pa.string()), ("name", pa.string()), ("interval", pa.int64()),
         ("place", pa.int32()), ("total_ns", pa.int64()), ("self_ns", pa.int64()),
         ("wait_ns", pa.int64()), ("blame_ns", pa.int64())]),
    "sums": pa.schema(
        [("recording", pa.string()), ("name", pa.string()), ("batch", pa.int64()),
         ("place", pa.int32()), ("label", pa.string()), ("begin", STAMP), ("end", STAMP),
         ("n", pa.int64()), ("count", pa.int64())]
        + [(column, DECIMAL) for column in ("x", "xx", "xt", "w", "ww", "xw")]),
    "products": pa.schema(
        [("recording", pa.string()), ("name", pa.string()), ("batch", pa.int64()),
         ("a", pa.int32()), ("b", pa.int32()), ("xy", DECIMAL)]),
    "latencies": pa.schema(
        [("recording", pa.string()), ("name", pa.string()), ("label", pa.string()),
         ("bucket", pa.int32()), ("n", pa.int64()), ("least_ns", pa.int64()),
         ("greatest_ns", pa.int64())]),
}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A place and its own time in an interval: log-normal, in `part` of the intervals."""

    function: str
    parent: int | None = None
    mean_us: float = 0.0
    spread: float = 0.0
    part: float = 1.0
    kind: str = "function"
    file: str = ""
    line: int = 0
    site: str = ""
    expandable: bool = False
    expanded: bool = False


@dataclass(frozen=True)
class Program:
    places: tuple[Place, ...]

    def with_place(self, function: str, /, **changes: object) -> Program:
        return Program(
            tuple(
                replace(place, **changes) if place.function == function else place  # type: ignore[arg-type]
                for place in self.places
            )
        )

    def moved(self, lines: int) -> Program:
        """Another build of it: the same functions, some lines further down."""
        return Program(
            tuple(
                replace(place, line=place.line + lines, site=_moved(place.site, lines))
                if place.file
                else place
                for place in self.places
            )
        )

    def closed(self, function: str) -> Program:
        """The same program in which `function` is not broken down: what is below is its own."""
        at = next(i for i, place in enumerate(self.places) if place.function == function)
        below = {at}
        for i, place in enumerate(self.places):
            if place.parent in below:
                below.add(i)
        kept = [i for i in range(len(self.places)) if i not in below or i == at]
        renumbered = {old: new for new, old in enumerate(kept)}
        return Program(
            tuple(
                replace(
                    self.places[i],
                    parent=None if i == 0 else renumbered[self.places[i].parent or 0],
                    expanded=self.places[i].expanded and i != at,
                )
                for i in kept
            )
        )


def _moved(site: str, lines: int) -> str:
    file, _, line = site.rpartition(":")
    return f"{file}:{int(line) + lines}"


def server() -> Program:
    """A request parses, looks up (with I/O now and then) and logs below a lock."""
    return Program(
        (
            Place("request"),
            Place("handle", 0, 0, 0, 1, "function", "s.cpp", 10, "s.cpp:5", True, True),
            Place("body(handle)", 1, 40, 0.1, 1, "body"),
            Place("parse", 1, 60, 0.3, 1, "function", "p.cpp", 20, "s.cpp:12"),
            Place("lookup", 1, 0, 0, 1, "function", "l.cpp", 30, "s.cpp:14", True, True),
            Place("body(lookup)", 4, 80, 0.2, 1, "body"),
            Place("read_page", 4, 700, 0.8, 0.1, "function", "l.cpp", 90, "l.cpp:44", True, False),
            Place("log", 1, 0, 0, 1, "function", "g.cpp", 7, "s.cpp:19", True, True),
            Place("body(log)", 7, 40, 0.4, 1, "body"),
            Place("wait(pthread_mutex_lock)", 7, 90, 1.0, 0.3, "wait", "", 0, "g.cpp:9"),
        )
    )


@dataclass
class Made:
    """What one recording has, in integers: the truth for tests."""

    id: str
    totals: np.ndarray  # intervals × places, ns
    labels: np.ndarray
    begins: list[dt.datetime] = field(default_factory=list)


def partition(directory: Path, table: str, day: str, host: str) -> Path:
    return directory / table / f"day={day}" / f"host={host}"


def _write(directory: Path, table: str, day: str, host: str, id: str, rows: dict[str, object]) -> None:
    folder = partition(directory, table, day, host)
    folder.mkdir(parents=True, exist_ok=True)
    schema = SCHEMAS[table]
    arrays = []
    for column in schema:
        values = rows[column.name]
        if column.type == DECIMAL:
            values = pa.array([int(v) for v in values], pa.int64()).cast(DECIMAL)  # type: ignore[attr-defined]
        arrays.append(pa.array(values, column.type) if not isinstance(values, pa.Array) else values)
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), folder / f"{id}.parquet", compression="zstd")


def draw(program: Program, n: int, random: np.random.Generator, labels: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Own and total times, ns, and labels."""
    count = len(program.places)
    own = np.zeros((n, count), np.int64)
    for i, place in enumerate(program.places):
        if place.mean_us > 0:
            sigma = place.spread
            times = random.lognormal(np.log(place.mean_us * 1000) - sigma * sigma / 2, sigma, n)
            own[:, i] = np.where(random.random(n) < place.part, times, 0).astype(np.int64)
    total = own.copy()
    for i in range(count - 1, 0, -1):
        total[:, program.places[i].parent or 0] += total[:, i]
    return own, total, np.array(labels)[random.integers(0, len(labels), n)]


def record(
    directory: Path,
    host: str,
    program: Program,
    *,
    seed: int,
    n: int = 1200,
    version: str = "1.0",
    begin: dt.datetime = NOON,
    exported: dt.datetime | None = None,
    id: str | None = None,
    labels: Sequence[str] = ("GET", "PUT"),
    name: str = "request",
    schema: int = 1,
    dropped: int = 0,
    batch_shift: int = 5,
    raw: bool = True,
    gap_us: int = 20000,
) -> Made:
    """Writes one recording of `n` intervals, one each `gap_us`."""
    random = np.random.default_rng(seed)
    id = id or f"{seed:016x}"
    own, total, label = draw(program, n, random, labels)
    latency = total[:, 0]
    numbers = np.arange(n)  # from the latest
    begins = [begin + dt.timedelta(microseconds=int(gap_us * (n - 1 - i))) for i in numbers]
    day = begins[-1].strftime("%Y-%m-%d")
    bodies = {p.parent: i for i, p in enumerate(program.places) if p.kind == "body"}
    _write(
        directory, "recordings", day, host, id,
        {"recording": [id], "schema": [schema], "name": [name], "program": ["server"],
         "version": [version], "vprof": ["0.2.0"],
         "run_ns": [int(begin.timestamp()) * 10**9 + seed], "begin": [begins[-1]],
         "end": [begins[0]], "exported": [exported or begins[0] + dt.timedelta(seconds=9)],
         "intervals": [n], "incomplete": [0], "left_out": [0], "batch_shift": [batch_shift],
         "root_height": [5], "dropped": [dropped], "torn": [0], "unreadable_bytes": [0],
         "unknown_waits": [0], "outside_waits": [0], "inferred_edges": [1],
         "exact_edges": [n // 3], "records": [10 * n]},
    )  # fmt: skip
    paths: list[str] = []
    for place in program.places:
        above = "" if place.parent is None else paths[place.parent] + " > "
        paths.append(above + place.function)
    _write(
        directory, "places", day, host, id,
        {"recording": [id] * len(paths), "place": list(range(len(paths))),
         "parent": [p.parent for p in program.places], "kind": [p.kind for p in program.places],
         "blamed": [False] * len(paths), "function": [p.function for p in program.places],
         "key": [f"{p.function}@{p.file}:{p.line}" if p.file else "" for p in program.places],
         "file": [p.file for p in program.places],
         "line": [p.line if p.file else None for p in program.places],
         "site": [p.site for p in program.places],
         "position": [p.site + ":3" if p.site else "" for p in program.places], "path": paths,
         "height": [1 if p.kind == "function" else 0 for p in program.places],
         "expandable": [p.expandable for p in program.places],
         "expanded": [p.expanded for p in program.places]},
    )  # fmt: skip
    batches = numbers >> batch_shift
    sums: dict[str, list[object]] = {c.name: [] for c in SCHEMAS["sums"]}
    products: dict[str, list[object]] = {c.name: [] for c in SCHEMAS["products"]}
    functions = _outermost(program)
    for batch in np.unique(batches):
        in_batch = batches == batch
        first, last = begins[int(numbers[in_batch].max())], begins[int(numbers[in_batch].min())]
        for one in np.unique(label[in_batch]):
            rows = in_batch & (label == one)
            t = latency[rows]
            for place in range(len(paths)):
                x = total[rows, place]
                if place and not x.any():
                    continue
                values = (id, name, int(batch), place, str(one), first, last, int(rows.sum()),
                          int(rows.sum()) if place == 0 else int((x > 0).sum()), int(x.sum()),
                          int((x * x).sum()), int((x * t).sum()), 0, 0, 0)  # fmt: skip
                for column, value in zip(sums, values):
                    sums[column].append(value)
        for places in functions.values():
            whole = total[in_batch][:, places].sum(axis=1)
            for place in places:
                xy = int((total[in_batch, place] * (whole - total[in_batch, place])).sum())
                if xy:
                    for column, value in zip(products, (id, name, int(batch), place, place, xy)):
                        products[column].append(value)
    _write(directory, "sums", day, host, id, sums)  # type: ignore[arg-type]
    _write(directory, "products", day, host, id, products)  # type: ignore[arg-type]
    buckets: dict[tuple[str, int], list[int]] = {}
    for one, t in zip(label, latency):
        buckets.setdefault((str(one), bucket_of(int(t))), []).append(int(t))
    _write(
        directory, "latencies", day, host, id,
        {"recording": [id] * len(buckets), "name": [name] * len(buckets),
         "label": [k[0] for k in buckets], "bucket": [k[1] for k in buckets],
         "n": [len(v) for v in buckets.values()], "least_ns": [min(v) for v in buckets.values()],
         "greatest_ns": [max(v) for v in buckets.values()]},
    )  # fmt: skip
    if raw:
        _write(
            directory, "intervals", day, host, id,
            {"recording": [id] * n, "interval": numbers, "name": [name] * n,
             "program": ["server"] * n, "version": [version] * n, "process": [1] * n,
             "label": [str(v) for v in label], "key": [0] * n, "id": (n - numbers) * 1000,
             "begin": begins, "latency_ns": latency, "work": [None] * n, "trace_id": [None] * n,
             "span_id": [None] * n, "weight": [1] * n},
        )  # fmt: skip
        shown = [i for i, p in enumerate(program.places) if p.kind != "body"]
        which, column = np.nonzero(total[:, shown] > 0)
        places = np.array(shown)[column]
        own_time = own.copy()
        for parent, body in bodies.items():
            own_time[:, parent or 0] += own[:, body]
        _write(
            directory, "times", day, host, id,
            {"recording": [id] * len(which), "name": [name] * len(which), "interval": which,
             "place": places.astype(np.int32), "total_ns": total[which, places],
             "self_ns": own_time[which, places], "wait_ns": np.zeros(len(which), np.int64),
             "blame_ns": np.zeros(len(which), np.int64)},
        )  # fmt: skip
    return Made(id, total, label, begins)


def _outermost(program: Program) -> dict[tuple[str, str], list[int]]:
    """Functions of several places that are not within each other."""
    found: dict[tuple[str, str], list[int]] = {}
    for i, place in enumerate(program.places):
        above, same = place.parent, (place.function, place.file)
        while above is not None:
            if (program.places[above].function, program.places[above].file) == same:
                break
            above = program.places[above].parent
        else:
            found.setdefault(same, []).append(i)
    return {key: places for key, places in found.items() if len(places) > 1}


def bucket_of(ns: int) -> int:
    """docs/tables.md, latencies."""
    if ns < 2048:
        return ns
    e = ns.bit_length() - 11
    return ((e + 1) << 10) + (ns >> e) - 1024
