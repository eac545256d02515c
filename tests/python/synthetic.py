"""Makes tables of random intervals: the schema of docs/tables.md, filled by a slow and obvious oracle.

An interval is a tree of random times; every row of every table follows from these trees with Python
integers, one at a time.
"""

import datetime
import random
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from vprof.schema import COLUMNS, MOST_LABELS

UTC = datetime.timezone.utc
BEGIN = datetime.datetime(2026, 11, 24, 10, tzinfo=UTC)

# (parent, kind, name): `handle` and `commit` are called in two places each, and `log` below a wait, so
# that one of its instances is within another.
PLACES = [
    (None, "function", "request"),
    (0, "function", "parse"),
    (0, "function", "handle"),
    (2, "function", "commit"),
    (3, "wait", "wait(fdatasync)"),
    (3, "function", "log"),
    (5, "wait", "wait(pthread_mutex_lock)"),
    (6, "blame", "log"),
    (6, "untracked", "unknown waker"),
    (0, "queue", "queue(pop)"),
    (9, "blame", "handle"),
    (0, "function", "commit"),
    (0, "preempted", "preempted"),
]
FUNCTIONS = ("function", "blame")


def body_name(kind, name):
    return "wake-up" + name[name.find("(") :] if kind == "wait" else f"body({name})"


def places(name="request"):
    """The places, with a body below each place that has children or is a function or a wait."""
    rows = []
    for number, (parent, kind, function) in enumerate(PLACES):
        is_function = kind in FUNCTIONS and number > 0
        rows.append(
            {
                "place": number,
                "parent": parent,
                "kind": kind,
                "blamed": kind == "blame",
                "function": name if number == 0 else function,
                "key": f"{function}@src/{function}.c:{10 + len(function)}" if is_function else "",
                "file": f"src/{function}.c" if is_function else "",
                "line": 10 + len(function) if is_function else None,
                "site": f"src/main.c:{100 + number}" if number else "",
                "position": f"src/main.c:{100 + number}:5" if number else "",
                "height": max(0, 4 - len(function) % 3) if is_function else 0,
                "expandable": is_function and function == "parse",
                "expanded": is_function and function != "parse",
            }
        )
    for number in (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11):
        owner = rows[number]
        body = dict(owner, place=len(rows), parent=number, kind="body", key="", position="", site="")
        body.update(function=body_name(owner["kind"], owner["function"]), height=0)
        body.update(expandable=False, expanded=False)
        rows.append(body)
    by_number = {row["place"]: row for row in rows}
    for row in rows:
        names, at = [], row["place"]
        while at is not None:
            names.append(by_number[at]["function"])
            at = by_number[at]["parent"]
        row["path"] = " > ".join(reversed(names))
    return rows


def random_interval(rng, rows, number, label, scale=1):
    """The own time of each leaf: of bodies, and of places without one."""
    parents = {row["parent"] for row in rows}
    leaves = [row["place"] for row in rows if row["place"] not in parents]
    load = rng.lognormvariate(0, 0.5) * (3 if label == "write" else 1) * scale
    own = {}
    for leaf in leaves:
        if rng.random() < 0.35:
            continue
        slow = rng.random() < 0.1
        own[leaf] = int(rng.expovariate(1) * 1000 * (leaf % 5 + 1) * load * (20 if slow else 1)) + 1
    if not own:
        own[leaves[0]] = 1
    return {"interval": number, "label": label, "own": own, "work": rng.choice((0, 0, 3, 7, 1000))}


def totals(interval, rows):
    """The time of each place, with all below it. Leaves add up to the latency."""
    parent = {row["place"]: row["parent"] for row in rows}
    result = defaultdict(int)
    for leaf, ns in interval["own"].items():
        at = leaf
        while at is not None:
            result[at] += ns
            at = parent[at]
    return dict(result)


def bucket_of(ns):
    """docs/tables.md, latencies: the bucket whose range holds the latency."""
    if ns < 2048:
        return ns
    e = ns.bit_length() - 11
    return ((e + 1) << 10) + (ns >> e) - 1024


class Recording:
    """A recording with random intervals of one name."""

    def __init__(self, seed, n=300, labels=("", "read", "write"), host="db1", version="1.0", scale=1, weights=(1,)):
        self.id = f"{seed:016x}"
        self.rng = random.Random(seed)
        self.host, self.version, self.weights = host, version, weights
        self.places = places()
        self.run_ns = int(BEGIN.timestamp() * 1e9) + seed * 10**9
        self.batch_shift = 0
        while (n - 1) >> self.batch_shift >= 64:
            self.batch_shift += 1
        self.intervals = []
        for number in range(n):
            one = random_interval(self.rng, self.places, number, self.rng.choice(labels), scale)
            one["totals"] = totals(one, self.places)
            one["weight"] = self.rng.choice(weights)
            # Interval 0 is the latest.
            one["id"] = 10**12 + (n - number) * 1_000_000 + self.rng.randrange(1000)
            one["begin"] = BEGIN + datetime.timedelta(seconds=seed, milliseconds=n - number)
            self.intervals.append(one)

    @property
    def day(self):
        return min(one["begin"] for one in self.intervals).date()

    # ---- the tables

    def recordings(self):
        begins = [one["begin"] for one in self.intervals]
        row = dict.fromkeys(COLUMNS["recordings"].names, 0)
        row |= {"recording": self.id, "schema": 1, "name": "request", "program": "server"}
        row |= {"version": self.version, "vprof": "0.1.0", "run_ns": self.run_ns}
        row |= {"begin": min(begins), "end": max(begins), "exported": BEGIN + datetime.timedelta(hours=1)}
        row |= {"intervals": len(begins), "incomplete": 2, "batch_shift": self.batch_shift, "root_height": 5}
        return [row]

    def interval_rows(self):
        for one in self.intervals:
            yield {
                "recording": self.id,
                "interval": one["interval"],
                "name": "request",
                "program": "server",
                "version": self.version,
                "process": 7,
                "label": one["label"],
                "key": one["interval"] % 5,
                "id": one["id"],
                "begin": one["begin"],
                "latency_ns": one["totals"][0],
                "work": one["work"] or None,
                "trace_id": None,
                "span_id": None,
                "weight": one["weight"],
            }

    def times(self):
        kinds = {row["place"]: row["kind"] for row in self.places}
        body_of = {row["parent"]: row["place"] for row in self.places if row["kind"] == "body"}
        has_children = {row["parent"] for row in self.places}
        for one in self.intervals:
            for place, total in sorted(one["totals"].items()):
                if kinds[place] == "body":
                    continue
                leaf = total if place not in has_children else 0
                yield {
                    "recording": self.id,
                    "name": "request",
                    "interval": one["interval"],
                    "place": place,
                    "total_ns": total,
                    "self_ns": one["own"].get(body_of.get(place), leaf),
                    "wait_ns": total if kinds[place] in ("wait", "queue", "parked") else 0,
                    "blame_ns": 0,
                }

    def told_apart(self):
        labels = sorted({one["label"] for one in self.intervals})
        return set(labels[:MOST_LABELS])

    def sums(self):
        known = self.told_apart()
        groups = defaultdict(list)
        for one in self.intervals:
            label = one["label"] if one["label"] in known else None
            groups[one["interval"] >> self.batch_shift, label].append(one)
        for (batch, label), own in groups.items():
            of_batch = [o["begin"] for (b, _), g in groups.items() if b == batch for o in g]
            for place in range(len(self.places)):
                with_time = [one for one in own if place in one["totals"]]
                if not with_time:
                    continue
                row = {"recording": self.id, "name": "request", "batch": batch, "place": place}
                row |= {"label": label, "begin": min(of_batch), "end": max(of_batch)}
                row |= {"n": sum(one["weight"] for one in own)}
                row |= {"count": sum(one["weight"] for one in with_time)}
                x = [(one["weight"], one["totals"][place], one["totals"][0], one["work"]) for one in with_time]
                row |= {"x": sum(w * a for w, a, _, _ in x), "xx": sum(w * a * a for w, a, _, _ in x)}
                row |= {"xt": sum(w * a * t for w, a, t, _ in x), "xw": sum(w * a * k for w, a, _, k in x)}
                row |= {"w": sum(one["weight"] * one["work"] for one in own)}
                row |= {"ww": sum(one["weight"] * one["work"] ** 2 for one in own)}
                yield row

    def outermost(self):
        """By function: its places that are in no other place of it."""
        rows = {row["place"]: row for row in self.places}

        def identity(place):
            row = rows[place]
            if row["kind"] == "body":
                above = rows[row["parent"]]
                return "body", above["key"] or above["function"]
            return "", row["key"] or row["function"]

        result = defaultdict(list)
        for place in rows:
            above, nested = rows[place]["parent"], False
            while above:
                nested = nested or identity(above) == identity(place)
                above = rows[above]["parent"]
            if place and not nested:
                result[identity(place)].append(place)
        return result

    def products(self):
        sums = defaultdict(int)
        siblings = defaultdict(list)
        for row in self.places:
            siblings[row["parent"]].append(row["place"])
        functions = [own for own in self.outermost().values() if len(own) > 1]
        for one in self.intervals:
            batch, x = one["interval"] >> self.batch_shift, one["totals"]
            for own in siblings.values():
                for a in own:
                    for b in own:
                        if a < b and a in x and b in x:
                            sums[batch, a, b] += one["weight"] * x[a] * x[b]
            for own in functions:
                whole = sum(x.get(place, 0) for place in own)
                for place in own:
                    sums[batch, place, place] += one["weight"] * x.get(place, 0) * (whole - x.get(place, 0))
        for (batch, a, b), xy in sums.items():
            if xy:
                yield {"recording": self.id, "name": "request", "batch": batch, "a": a, "b": b, "xy": xy}

    def bins(self):
        sums = defaultdict(int)
        for one in self.intervals:
            for place, ns in one["totals"].items():
                sums[place, bucket_of(one["totals"][0]) >> 5] += one["weight"] * ns
        for (place, number), x in sums.items():
            yield {"recording": self.id, "name": "request", "place": place, "bin": number, "x": x}

    def latencies(self):
        known = self.told_apart()
        found = defaultdict(list)
        for one in self.intervals:
            label = one["label"] if one["label"] in known else None
            found[label, bucket_of(one["totals"][0])].append((one["totals"][0], one["weight"]))
        for (label, bucket), own in found.items():
            row = {"recording": self.id, "name": "request", "label": label, "bucket": bucket}
            latencies = [latency for latency, _ in own]
            row |= {"n": sum(weight for _, weight in own)}
            yield row | {"least_ns": min(latencies), "greatest_ns": max(latencies)}

    def tables(self, rollups_only=False):
        """Rows by table."""
        result = {
            "recordings": self.recordings(),
            "places": [{"recording": self.id, **row} for row in self.places],
            "sums": self.sums(),
            "products": self.products(),
            "bins": self.bins(),
            "latencies": self.latencies(),
        }
        if not rollups_only:
            result |= {"intervals": self.interval_rows(), "times": self.times()}
        return result

    def write(self, root, *, rollups_only=False, day=None, host=None, shuffle=False):
        """Writes the tables below a directory."""
        for table, rows in self.tables(rollups_only).items():
            rows = list(rows)
            if shuffle:
                self.rng.shuffle(rows)
            folder = Path(root) / table / f"day={day or self.day}" / f"host={quote(host or self.host, safe=' ')}"
            folder.mkdir(parents=True, exist_ok=True)
            pq.write_table(as_table(table, rows), folder / f"{self.id}.parquet", compression="zstd")
        return Path(root)


def as_table(table, rows):
    """Rows as an Arrow table; sums as decimals."""
    columns = {}
    for field in COLUMNS[table]:
        values = [row[field.name] for row in rows]
        if pa.types.is_decimal(field.type):
            values = [Decimal(value) for value in values]
        columns[field.name] = pa.array(values, field.type)
    return pa.table(columns)


def decimals(values):
    """An Arrow array of sums."""
    return pa.array([None if value is None else Decimal(value) for value in values], pa.decimal128(38, 0))
