"""Spark yields what DuckDB yields: sums to the last bit, figures to rounding. Run by soak.sh."""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import made
import pytest
from fleets import NOW
from pyspark.sql import SparkSession
from test_sums import PROGRAM

from vprof.errors import InputError
from vprof.fleet.duck import DuckEngine
from vprof.fleet.files import find
from vprof.fleet.json_text import to_json
from vprof.fleet.report import make_report
from vprof.fleet.slices import Condition, Selection
from vprof.fleet.spark import SparkEngine


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.master("local[2]")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("fleet")
    later = made.NOON + dt.timedelta(hours=1)
    for h in range(5):
        made.record(directory, str(h), PROGRAM.closed("lookup") if h == 4 else PROGRAM, seed=h + 1)
        made.record(directory, str(h), PROGRAM.moved(4), seed=h + 51, version="1.1", begin=later)
    return directory


def equal(a: Any, b: Any, where: str = "") -> None:
    """Spark adds floating-point numbers in another order; counts and sums are integers."""
    if isinstance(a, float) and isinstance(b, float):
        assert math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-9), where
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            equal(a[key], b[key], f"{where}/{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            equal(x, y, f"{where}/{i}")
    else:
        assert a == b, where


@pytest.mark.parametrize(
    "selection",
    [
        Selection(by="label"),
        Selection((Condition("label", "GET", True), Condition("host", "3", False)), by="hour"),
        Selection(slower_than_ns=300_000, since="2026-11-24T12:00:02"),
    ],
    ids=["roll-ups", "where", "single"],
)
def test_figures_are_equal(
    spark: SparkSession, fleet: Path, tmp_path: Path, selection: Selection
) -> None:
    duck = DuckEngine(find([fleet], now=NOW), threads=1)
    of_duck = make_report(duck, selection)
    engine = SparkEngine(spark, [str(fleet)], str(tmp_path / "scratch"))
    of_spark = make_report(engine, selection)
    sums = "SELECT host, version, slice, grp, function, count, x, xt, xx FROM parts"
    assert {tuple(map(str, row)) for row in duck.rows(sums)} == {
        tuple(map(str, row)) for row in engine.rows(sums)
    }
    # Shares, their intervals and means follow from integers alone.
    assert of_duck.fleet == of_spark.fleet
    assert [s.figures for s in of_duck.slices] == [s.figures for s in of_spark.slices]
    equal(json.loads(to_json(of_duck)), json.loads(to_json(of_spark)))


def test_bad_input(spark: SparkSession, tmp_path: Path) -> None:
    def engine(directory: Path) -> SparkEngine:
        return SparkEngine(spark, [str(directory)], str(directory / "scratch"))

    with pytest.raises(InputError, match="no recordings here"):
        engine(tmp_path / "none")
    made.record(tmp_path / "a", "x", PROGRAM, seed=1, n=100, schema=2)
    with pytest.raises(InputError, match="schema 2 is newer"):
        engine(tmp_path / "a").check(NOW)
    made.record(tmp_path / "b", "x", PROGRAM, seed=1, n=100)
    made.record(tmp_path / "b", "y", PROGRAM, seed=1, n=100, id="feedfeedfeedfeed")
    with pytest.raises(InputError, match="there twice, on hosts x and y"):
        engine(tmp_path / "b").check(NOW)
    made.record(tmp_path / "c", "x", PROGRAM, seed=1, n=100)
    engine(tmp_path / "c").check(NOW)
    with pytest.raises(InputError, match="clock of host x is ahead"):
        engine(tmp_path / "c").check(made.NOON - dt.timedelta(hours=3))


def test_an_overflow_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    made.record(tmp_path / "t", "x", PROGRAM, seed=1, n=100)
    engine = SparkEngine(spark, [str(tmp_path / "t")], str(tmp_path / "scratch"))
    with pytest.raises(InputError, match="more than 38 digits"):
        engine.rows("SELECT sum(CAST(repeat('9', 38) AS DECIMAL(38, 0))) FROM sums")
