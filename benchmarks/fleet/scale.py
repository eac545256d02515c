"""How the aggregation over single intervals grows: rows a second, memory, and exactness.

    vprof export --parquet TABLES                       # a real recording
    scale.py TABLES --rows 1e7 1e8 1e9 --work DIRECTORY [--engine duckdb|spark]

Generates fleets from the tables of a real recording: every made recording has intervals drawn from
the real ones with all their times, so distributions and the form of the tree stay real, under its
own id, on one of 50 hosts and one of 20 days. Then it makes a report over all intervals, and
compares the sums of every place with integers of Python: what each real interval has, times how
often it was drawn. Prints a line of Markdown for each size. Needs about 6 GB for 10^9 rows.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "src"))

ROWS_OF_A_RECORDING = 2_000_000
HOSTS, DAYS = 50, 20
FIRST = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)


class Real:
    """The recording that others are drawn from."""

    def __init__(self, directory: Path) -> None:
        def read(table: str) -> pa.Table:
            paths = sorted((directory / table).rglob("*.parquet"))
            if len(paths) != 1:
                sys.exit(f"scale.py: {directory}/{table}: expected the tables of one recording")
            return pq.ParquetFile(paths[0]).read()

        self.recordings, self.places = read("recordings"), read("places")
        self.intervals = read("intervals").sort_by("interval")
        self.times = read("times").sort_by("interval")
        self.count = len(self.intervals)
        of = self.times["interval"].to_numpy()
        self.first = np.searchsorted(of, np.arange(self.count))
        self.length = np.bincount(of, minlength=self.count)
        #: How often each interval was drawn, over all made recordings.
        self.drawn = np.zeros(self.count, np.int64)

    def truth(self) -> dict[int, tuple[int, int, int]]:
        """Σx, ΣxT and Σx² of each place that has a row in `times`."""
        latency = self.intervals["latency_ns"].to_pylist()
        found: dict[int, list[int]] = {}
        for interval, place, x in zip(
            self.times["interval"].to_pylist(), self.times["place"].to_pylist(),
            self.times["total_ns"].to_pylist(), strict=True,
        ):  # fmt: skip
            times = int(self.drawn[interval])
            total = found.setdefault(place, [0, 0, 0])
            total[0] += times * x
            total[1] += times * x * latency[interval]
            total[2] += times * x * x
        return {place: (x, xt, xx) for place, (x, xt, xx) in found.items()}


def generate(real: Real, rows: int, directory: Path) -> int:
    """Writes a fleet of at least `rows` rows in `times`; how many there are."""
    random = np.random.default_rng(1)
    made, number = 0, 0
    intervals_of_a_recording = max(64, int(ROWS_OF_A_RECORDING / real.length.mean()))
    while made < rows:
        wanted = min(intervals_of_a_recording, int((rows - made) / real.length.mean()) + 1)
        made += _recording(real, random, wanted, number, directory)
        number += 1
    return made


def _set(table: pa.Table, **columns: Any) -> pa.Table:
    for name, values in columns.items():
        at = table.schema.get_field_index(name)
        kind = table.schema.field(at).type
        if not isinstance(values, (pa.Array, pa.ChunkedArray)):
            values = pa.array(values, kind)
        table = table.set_column(at, name, values)
    return table


def _recording(
    real: Real, random: np.random.Generator, wanted: int, number: int, directory: Path
) -> int:
    drawn = random.integers(0, real.count, wanted)
    real.drawn += np.bincount(drawn, minlength=real.count)
    begin = FIRST + dt.timedelta(days=number % DAYS, hours=number // DAYS % 20)
    step = 3600_000_000 // wanted
    id, host = f"{number:016x}", f"h{number % HOSTS}"

    def repeated(value: Any, n: int) -> pa.Array:
        return pa.array([value], pa.string()).dictionary_encode().take(pa.array(np.zeros(n, np.int8)))

    def write(table: str, rows: pa.Table) -> None:
        folder = directory / table / f"day={begin:%Y-%m-%d}" / f"host={host}"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(
            rows, folder / f"{id}.parquet", compression="zstd",
            use_dictionary=["recording", "name"],
        )  # fmt: skip

    begins = np.datetime64(begin.replace(tzinfo=None), "us") + step * np.arange(wanted)[::-1]
    stamps = pa.array(begins).cast(pa.timestamp("us", tz="UTC"))
    # `interval` counts from the latest one.
    intervals = _set(
        real.intervals.take(pa.array(drawn)),
        recording=repeated(id, wanted), interval=np.arange(wanted), begin=stamps,
    )  # fmt: skip
    length = real.length[drawn]
    at = np.repeat(real.first[drawn] - np.cumsum(length) + length, length) + np.arange(length.sum())
    times = _set(
        real.times.take(pa.array(at)),
        recording=repeated(id, len(at)), interval=np.repeat(np.arange(wanted), length),
    )  # fmt: skip
    write("places", _set(real.places, recording=pa.array([id] * len(real.places))))
    write("intervals", intervals)
    write("times", times)
    write(
        "recordings",
        _set(
            real.recordings.slice(0, 1), recording=[id], begin=stamps[-1:], end=stamps[:1],
            run_ns=[int(begin.timestamp()) * 10**9 + number], intervals=[wanted],
            batch_shift=[max(0, wanted.bit_length() - 6)], version=["1.0" if number % 3 else "1.1"],
        ),
    )  # fmt: skip
    return len(at)


def run_duckdb(directory: Path, memory: str) -> tuple[float, Any]:
    from vprof.fleet.duck import DuckEngine
    from vprof.fleet.files import find
    from vprof.fleet.report import make_report
    from vprof.fleet.slices import Selection

    begin = time.monotonic()
    engine = DuckEngine(find([directory]), memory=memory, threads=2, temporary=directory / "spill")
    made = make_report(engine, Selection(slower_than_ns=0))
    seconds = time.monotonic() - begin
    assert made.fleet.intervals > 0
    return seconds, engine


def run_spark(directory: Path, memory: str) -> tuple[float, Any]:
    from pyspark.sql import SparkSession

    from vprof.fleet.report import make_report
    from vprof.fleet.slices import Selection
    from vprof.fleet.spark import SparkEngine

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    begin = time.monotonic()
    builder: Any = SparkSession.builder.master("local[2]").config("spark.driver.memory", memory)
    for key, value in {
        "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "16",
        "spark.ui.showConsoleProgress": "false", "spark.local.dir": str(directory / "spill"),
    }.items():  # fmt: skip
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    engine = SparkEngine(spark, [str(directory)], str(directory / "scratch"))
    made = make_report(engine, Selection(slower_than_ns=0))
    seconds = time.monotonic() - begin
    assert made.fleet.intervals > 0
    return seconds, engine


def check(real: Real, engine: Any) -> None:
    """Every place that has rows in `times`, to the last bit."""
    rows = engine.rows("SELECT place, sum(x), sum(xt), sum(xx) FROM sums GROUP BY place")
    found = {int(row[0]): tuple(int(v) for v in row[1:]) for row in rows}
    for place, expected in real.truth().items():
        if found.get(place) != expected:
            sys.exit(f"scale.py: place {place}: {found.get(place)} where {expected} is true")


def size_of(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*.parquet"))


def peak_gb(engine: Any = None) -> float:
    """Of this process, and of Spark's."""
    peaks = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]
    spark = getattr(engine, "_spark", None)
    if spark is not None:
        status = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/status").read_text()
        peaks += [int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line]
    return max(peaks) / 1024**2


def one_size(options: argparse.Namespace) -> None:
    real = Real(options.tables)
    directory = options.work / f"rows-{options.rows[0]:.0e}"
    shutil.rmtree(directory, ignore_errors=True)
    begin = time.monotonic()
    rows = generate(real, int(options.rows[0]), directory)
    generated = time.monotonic() - begin
    size = size_of(directory)
    base = peak_gb()
    run = run_spark if options.engine == "spark" else run_duckdb
    seconds, engine = run(directory, options.memory)
    check(real, engine)
    peak = peak_gb(engine)
    if options.engine == "spark":
        engine._spark.stop()
    print(
        f"| {options.engine} | {rows:,} | {size / 1e9:.2f} GB | {size / rows:.1f} | "
        f"{seconds:,.0f} s | {rows / seconds / 1e6:.2f} M | {peak:.1f} GB | "
        f"equal | (generated in {generated:,.0f} s, {base:.1f} GB)",
        flush=True,
    )
    if not options.keep:
        shutil.rmtree(directory)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", type=Path)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb")
    parser.add_argument("--memory", default="4g", help="of the engine (default: 4g)")
    parser.add_argument("--keep", action="store_true", help="keep the tables")
    options = parser.parse_args()
    if len(options.rows) == 1:
        one_size(options)
        return
    print("| engine | rows | on disk | bytes a row | time | rows/s | peak memory | sums |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    # Each in its own process, so that a peak is that of its size.
    for rows in options.rows:
        keep = ["--keep"] if options.keep else []
        subprocess.run(
            [sys.executable, __file__, str(options.tables), "--rows", str(rows), "--work",
             str(options.work), "--engine", options.engine, "--memory", options.memory, *keep],
            check=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
