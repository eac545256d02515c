"""The engine for a cluster: a job for `spark-submit`, also with one machine's cores.

    spark-submit --py-files vprof.zip spark.py report s3a://bucket/vprof --by version

It runs the same queries as the report on DuckDB, so the sums are the same to the last bit.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import tempfile
import uuid
from collections.abc import Sequence
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from vprof.errors import InputError
from vprof.fleet import json_text, report, text
from vprof.fleet.__main__ import add_selection, selection_of
from vprof.fleet.engine import ROLL_UPS, SINGLE, Row
from vprof.fleet.files import AHEAD, SCHEMA
from vprof.fleet.slices import Selection
from vprof.fleet.spark_sums import files_by_recording, sums_of_files

_CONFIGURATION = {
    "spark.sql.session.timeZone": "UTC",
    # An overflow is an error, and a host named 7 is no number.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parser.escapedStringLiterals": "true",
}


class SparkEngine:
    """Tables in anything that Spark reads."""

    stamp = "TIMESTAMP"

    def __init__(self, spark: SparkSession, directories: Sequence[str], scratch: str) -> None:
        """What lies between two queries is written below `scratch`, which all executors see."""
        self._spark = spark
        self._scratch = scratch
        self._written = 0
        for key, value in _CONFIGURATION.items():
            spark.conf.set(key, value)
        self._found = {name for name in ROLL_UPS + SINGLE if self._open(name, directories)}
        single = self._found.issuperset(SINGLE)
        for name in ("recordings", "places", "sums"):
            if name not in self._found and not (name == "sums" and single):
                raise InputError(
                    f"{', '.join(directories)}: no {name} here; expected the directory that "
                    "`vprof export --parquet` wrote"
                )

    def _open(self, name: str, directories: Sequence[str]) -> bool:
        frame: DataFrame | None = None
        for directory in directories:
            try:
                one = self._spark.read.option("mergeSchema", "true").parquet(f"{directory}/{name}")
            except PySparkException as error:
                if error.getCondition() == "PATH_NOT_FOUND":
                    continue
                raise InputError(f"{directory}/{name}: {_line(error)}") from None
            frame = one if frame is None else frame.unionByName(one, allowMissingColumns=True)
        if frame is not None:
            frame.createOrReplaceTempView(name)
        return frame is not None

    def has(self, table: str) -> bool:
        return table in self._found

    def table(self, name: str, sql: str) -> None:
        self._keep(self._sql(sql)).createOrReplaceTempView(name)

    def _keep(self, frame: DataFrame) -> DataFrame:
        """Computed once and written, so that what follows does not carry the plan that led there."""
        self._written += 1
        path = f"{self._scratch}/{self._written}"
        try:
            frame.write.parquet(path)
            return self._spark.read.schema(frame.schema).parquet(path)
        except PySparkException as error:
            raise _explained(error) from None

    def recursive(self, name: str, first: str, then: str) -> None:
        """Level by level: Spark's own WITH RECURSIVE computes each level again for the next one."""
        level = whole = self._keep(self._sql(first))
        while not level.isEmpty():
            level.createOrReplaceTempView(name)
            level = self._keep(self._sql(then))
            whole = whole.union(level)
        whole.createOrReplaceTempView(name)

    def rows(self, sql: str) -> Sequence[Row]:
        try:
            return [tuple(row) for row in self._sql(sql).collect()]
        except PySparkException as error:
            raise _explained(error) from None

    def _sql(self, sql: str) -> DataFrame:
        try:
            return self._spark.sql(sql)
        except PySparkException as error:
            raise _explained(error) from None

    def sums_of_times(self, query: str) -> None:
        """File by file where files are those of an export, or else by a join of the tables."""
        files = files_by_recording(self._spark)
        if files is None:
            self.table("sums", query)
        else:
            self._keep(sums_of_files(self._spark, files, query)).createOrReplaceTempView("sums")

    def check(self, now: dt.datetime) -> None:
        """As files.py does for local files; nothing is counted twice."""
        newest = self.rows("SELECT max(schema) FROM recordings")[0][0]
        if newest is not None and newest > SCHEMA:
            raise InputError(
                f"recordings: schema {newest} is newer than this vprof, which reads up to {SCHEMA}"
            )
        copied = self.rows(
            "SELECT max(recording), min(host), max(host), count(DISTINCT recording) FROM recordings "
            "GROUP BY name, program, run_ns, begin, end, intervals HAVING count(*) > 1 LIMIT 1"
        )
        if copied:
            id, first, last, ids = copied[0]
            where = f"host {first}" if first == last else f"hosts {first} and {last}"
            raise InputError(
                f"recordings: recording {id} is there twice, on {where}, under {ids} "
                f"{'id' if ids == 1 else 'ids'} (run and times are equal); delete one of them"
            )
        limit = (now + AHEAD).strftime("%Y-%m-%d %H:%M:%S")
        ahead = self.rows(
            "SELECT host, CAST(max(end) AS STRING) FROM recordings "
            f"WHERE end > CAST('{limit}' AS TIMESTAMP) GROUP BY host ORDER BY host LIMIT 1"
        )
        if ahead:
            raise InputError(
                f"recordings: the clock of host {ahead[0][0]} is ahead: an interval begins at "
                f"{ahead[0][1]} UTC; set that clock, and export the recording again"
            )


def _line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _explained(error: PySparkException) -> InputError:
    # The last one is of DuckDB, in a task.
    signs = ("NUMERIC_VALUE_OUT_OF_RANGE", "ARITHMETIC_OVERFLOW", "OutOfRangeException")
    if any(sign in str(error) for sign in signs):
        return InputError("a sum has more than 38 digits: choose fewer intervals with --where")
    return InputError(f"Spark: {_line(error)}")


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="spark.py", description="vprof fleet report, on Spark")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("report", help="what the latency of a fleet varies with, and where")
    verb.add_argument("directory", nargs="+", help="what vprof export --parquet wrote")
    add_selection(verb)
    verb.add_argument("--json", action="store_true", help="print JSON")
    verb.add_argument(
        "--scratch", default="", metavar="DIR",
        help="what lies between queries, where all executors see it; default: a local directory",
    )  # fmt: skip
    return parser.parse_args(arguments)


def _made(
    spark: SparkSession, options: argparse.Namespace, selection: Selection
) -> report.FleetReport:
    with tempfile.TemporaryDirectory(prefix="vprof-fleet-") as temporary:
        scratch = options.scratch or temporary
        if not options.scratch and not spark.sparkContext.master.startswith("local"):
            raise InputError("--scratch DIR is missing: a directory that all executors see")
        engine = SparkEngine(spark, options.directory, f"{scratch}/{uuid.uuid4().hex}")
        engine.check(dt.datetime.now(dt.timezone.utc))
        return report.make_report(engine, selection)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _arguments(sys.argv[1:] if arguments is None else arguments)
    try:
        selection = selection_of(options)
        # Before the session starts: ANSI mode and others may not change later.
        builder: Any = SparkSession.builder.appName("vprof fleet")
        for key, value in _CONFIGURATION.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        try:
            made = _made(spark, options, selection)
        finally:
            spark.stop()
    except InputError as error:
        print(f"vprof fleet: {error}", file=sys.stderr)
        return 2
    print(json_text.to_json(made) if options.json else text.to_text(made, 80))
    return 0


if __name__ == "__main__":
    sys.exit(main())
