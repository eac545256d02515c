"""Sums of a fleet are those of its intervals, to the last bit, from roll-ups and from intervals."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path

import made
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fleets import NOW, report, share

from vprof.errors import InputError
from vprof.fleet.duck import DuckEngine
from vprof.fleet.engine import add_up
from vprof.fleet.files import find
from vprof.fleet.slices import Condition, Selection

PROGRAM = made.Program(
    made.server().places
    # `log` and the wait in it are at a second place, so their times are sums.
    + (
        made.Place("log", 4, 0, 0, 1, "function", "g.cpp", 7, "l.cpp:50", True, True),
        made.Place("body(log)", 10, 20, 0.4, 0.5, "body"),
        made.Place("wait(pthread_mutex_lock)", 10, 60, 1.1, 0.4, "wait", "", 0, "g.cpp:9"),
    )
)


def fleet(directory: Path, hosts: int = 3, n: int = 700) -> list[made.Made]:
    return [
        made.record(directory, f"db{h}", PROGRAM, seed=h + 1, n=n, version="1.0" if h else "0.9")
        for h in range(hosts)
    ]


def sums_of(directory: Path, selection: Selection) -> dict[str, tuple[int, ...]]:
    engine = DuckEngine(find([directory], now=NOW), threads=2)
    add_up(engine, selection)
    rows = engine.rows("SELECT function, sum(x), sum(xt), sum(xx) FROM parts GROUP BY function")
    found = {str(row[0]): tuple(int(v) for v in row[1:]) for row in rows}
    rows = engine.rows("SELECT sum(n), sum(t), sum(tt) FROM roots")
    return found | {"": tuple(int(v) for v in rows[0])}


def truth(recordings: list[made.Made], rows: list[np.ndarray] | None = None) -> dict[str, tuple[int, ...]]:
    """With integers of Python, interval by interval."""
    found: dict[str, list[int]] = {}
    places = PROGRAM.places
    names = [p.function + "@" + (places[p.parent or 0] if p.kind == "body" else p).file for p in places]
    outermost = {
        name: [i for i in range(1, len(names)) if names[i] == name] for name in set(names[1:])
    }
    for at, recording in enumerate(recordings):
        for i in range(len(recording.totals)) if rows is None else rows[at]:
            times = [int(v) for v in recording.totals[i]]
            for name, of in outermost.items():
                x = sum(times[place] for place in of)
                total = found.setdefault(name, [0, 0, 0])
                for k, value in enumerate((x, x * times[0], x * x)):
                    total[k] += value
            total = found.setdefault("", [0, 0, 0])
            for k, value in enumerate((1, times[0], times[0] ** 2)):
                total[k] += value
    return {name: tuple(total) for name, total in found.items()}


def test_roll_ups_have_the_sums_of_all_intervals(tmp_path: Path) -> None:
    recordings = fleet(tmp_path)
    assert sums_of(tmp_path, Selection(name="request")) == truth(recordings)


def test_single_intervals_have_the_same_sums(tmp_path: Path) -> None:
    recordings = fleet(tmp_path)
    found = sums_of(tmp_path, Selection(name="request", since="2026-11-24"))
    expected = truth(recordings)
    assert {name: total[:2] for name, total in found.items()} == {
        name: total[:2] for name, total in expected.items()
    }


def test_single_intervals_in_several_portions_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings = fleet(tmp_path)
    monkeypatch.setattr("vprof.fleet.duck._ROWS_AT_ONCE", 1)
    found = sums_of(tmp_path, Selection(name="request", slower_than_ns=0))
    assert found[""] == truth(recordings)[""]
    assert found["parse@p.cpp"][:2] == truth(recordings)["parse@p.cpp"][:2]


def test_slices_finer_than_roll_ups(tmp_path: Path) -> None:
    recordings = fleet(tmp_path)
    slow = [np.flatnonzero(r.totals[:, 0] > 1_000_000) for r in recordings]
    found = sums_of(tmp_path, Selection(name="request", slower_than_ns=1_000_000))
    expected = truth(recordings, slow)
    assert found[""] == expected[""]
    assert found["read_page@l.cpp"][:2] == expected["read_page@l.cpp"][:2]
    edge = made.NOON + dt.timedelta(seconds=5)
    early = [np.array([i for i, b in enumerate(r.begins) if b < edge]) for r in recordings]
    found = sums_of(tmp_path, Selection(name="request", until="2026-11-24T12:00:05"))
    assert found[""] == truth(recordings, early)[""]


def test_an_interval_counts_as_often_as_its_weight(tmp_path: Path) -> None:
    recordings = fleet(tmp_path, hosts=1)
    path = next((tmp_path / "intervals").rglob("*.parquet"))
    table = pq.ParquetFile(path).read()
    at = table.schema.get_field_index("weight")
    pq.write_table(table.set_column(at, "weight", pa.array([5] * len(table), pa.int64())), path)
    found = sums_of(tmp_path, Selection(name="request", slower_than_ns=0))
    assert found[""] == tuple(5 * v for v in truth(recordings)[""])
    assert found["parse@p.cpp"][:2] == tuple(5 * v for v in truth(recordings)["parse@p.cpp"][:2])


def test_labels_and_hosts_add_up_to_the_whole(tmp_path: Path) -> None:
    recordings = fleet(tmp_path)
    whole = truth(recordings)
    for column, values in (("label", ("GET", "PUT")), ("host", ("db0", "db1", "db2"))):
        parts = [
            sums_of(tmp_path, Selection((Condition(column, v, True),), name="request"))
            for v in values
        ]
        for function in whole:
            for k in (0, 1):
                assert sum(part[function][k] for part in parts) == whole[function][k]


def test_shares_are_exact_and_those_of_leaves_add_up(tmp_path: Path) -> None:
    recordings = fleet(tmp_path)
    sums = truth(recordings)
    n, t, tt = sums[""]
    x, xt, xx = sums["log@g.cpp"]
    found = report(tmp_path)
    assert share(found, "log@g.cpp") == float(Fraction(n * xt - x * t, n * tt - t * t))
    of_log = found.fleet.functions["log@g.cpp"]
    assert of_log.contribution == float(Fraction(n * xx - x * x, n * tt - t * t))
    assert of_log.mean_ns == float(Fraction(x, n))
    leaves = ("body(handle)@s.cpp", "parse@p.cpp", "body(lookup)@l.cpp", "read_page@l.cpp",
              "body(log)@g.cpp", "wait(pthread_mutex_lock)@")  # fmt: skip
    total = sum(share(found, leaf) for leaf in leaves)
    assert total == pytest.approx(share(found, "handle@s.cpp"))
    assert share(found, "handle@s.cpp") == pytest.approx(1)


def test_slices_by_hour_and_version(tmp_path: Path) -> None:
    made.record(tmp_path, "a", PROGRAM, seed=1, n=400)
    made.record(tmp_path, "a", PROGRAM, seed=2, n=300, begin=made.NOON + dt.timedelta(hours=1), version="2")
    by_hour = report(tmp_path, by="hour").slices
    assert [(s.figures.slice, s.figures.intervals) for s in by_hour] == [
        ("2026-11-24 12", 400),
        ("2026-11-24 13", 300),
    ]
    by_version = report(tmp_path, by="version").slices
    assert [(s.figures.slice, s.figures.intervals) for s in by_version] == [("1.0", 400), ("2", 300)]
    assert report(tmp_path, where=("hour=2026-11-24 13",)).fleet.intervals == 300
    assert report(tmp_path, where=("version!=2",)).fleet.intervals == 400


def test_a_sum_that_overflows_is_an_error(tmp_path: Path) -> None:
    fleet(tmp_path, hosts=2, n=100)
    for path in (tmp_path / "sums").rglob("*.parquet"):
        table = pq.ParquetFile(path).read()
        at = table.schema.get_field_index("xx")
        huge = pa.array([10**38 - 1] * len(table), made.DECIMAL)
        pq.write_table(table.set_column(at, "xx", huge), path)
    with pytest.raises(InputError, match="more than 38 digits"):
        report(tmp_path)


def test_names_that_mean_something_to_sql_are_names(tmp_path: Path) -> None:
    odd = made.server().with_place("parse", function="it's {groups} \\ --")
    made.record(tmp_path, "o'brien's", odd, seed=1, n=200, labels=("{slice}", "a'b"), version="v'1")
    found = report(tmp_path, by="label", where=("label=a'b", "host=o'brien's", "version=v'1"))
    assert [s.figures.slice for s in found.slices] == ["a'b"]
    assert "it's {groups} \\ --@p.cpp" in found.fleet.functions
