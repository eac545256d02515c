"""Sums of single intervals on Spark: a task for each recording, with DuckDB in it.

What belongs to an interval is in one recording, and so in one or two files. A join of all `times`
with all `intervals` would send every row through the network; this sends sums only.
"""

from __future__ import annotations

import json
import posixpath
import re
import urllib.parse
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

#: Of the query sql/sums_of_times.sql.
SCHEMA = (
    "recording string, name string, batch bigint, place int, label string, begin timestamp, "
    "until timestamp, n bigint, count bigint, x decimal(38, 0), xx decimal(38, 0), "
    "xt decimal(38, 0)"
)
_TABLES = ("times", "intervals", "places", "recordings")
#: `ID.parquet`, and `ID-1.parquet` of very long recordings (docs/tables.md).
_NAME = re.compile(r"([0-9a-f]{16})(-\d+)?\.parquet")


def files_by_recording(spark: SparkSession) -> dict[str, dict[str, list[str]]] | None:
    """The files of each recording, by table; None: files do not have the names that they were
    exported under, as after a copy by another engine."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: {table: [] for table in _TABLES})
    for table in _TABLES:
        for uri in spark.table(table).inputFiles():
            name = _NAME.fullmatch(posixpath.basename(uri))
            if name is None:
                return None
            found[name[1]][table].append(uri)
    return {id: files for id, files in found.items() if files["recordings"]}


def sums_of_files(
    spark: SparkSession, files: dict[str, dict[str, list[str]]], query: str
) -> DataFrame:
    """The rows of the query, recording by recording."""
    rows = [(json.dumps(of_one),) for of_one in files.values() if of_one["times"]]
    work = spark.createDataFrame(rows, "files string").repartition(max(1, len(rows)))

    def add_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Within the function, which goes to executors as it is.
        import duckdb
        import pyarrow as pa
        import pyarrow.dataset
        import pyarrow.fs

        instants = {"recordings": ("begin", "end", "exported"), "intervals": ("begin",)}

        def view(connection: Any, table: str, uris: list[str]) -> None:
            paths = []
            for uri in uris:
                parts = urllib.parse.urlparse(re.sub("^s3[an]:", "s3:", uri))
                root = urllib.parse.urlunparse((parts.scheme, parts.netloc, "/", "", "", ""))
                system, top = pyarrow.fs.FileSystem.from_uri(root)
                paths.append(posixpath.join(top, urllib.parse.unquote(parts.path).lstrip("/")))
            data = pyarrow.dataset.dataset(
                paths, filesystem=system, format="parquet", partitioning="hive",
                partition_base_dir="/",
            )  # fmt: skip
            connection.register(f"{table}_files", data)
            # Instants as plain UTC: what has a zone needs an extension that the wheel does not have.
            replaced = ", ".join(
                f'make_timestamp(epoch_us("{column}")) AS "{column}"'
                for column in instants.get(table, ())
            )
            connection.execute(
                f"CREATE VIEW {table} AS SELECT * {f'REPLACE ({replaced})' if replaced else ''} "
                f"FROM {table}_files"
            )

        for batch in batches:
            for text in batch.column(0).to_pylist():
                connection = duckdb.connect(config={"threads": 1})
                for table, uris in json.loads(text).items():
                    view(connection, table, uris)
                found = connection.sql(
                    "SELECT recording, name, CAST(batch AS BIGINT) AS batch, "
                    "CAST(place AS INT) AS place, label, begin, until, n, count, "
                    "CAST(x AS DECIMAL(38, 0)) AS x, CAST(xx AS DECIMAL(38, 0)) AS xx, "
                    f"CAST(xt AS DECIMAL(38, 0)) AS xt FROM ({query})"
                ).to_arrow_table()
                zone = pa.timestamp("us", tz="UTC")
                for name in ("begin", "until"):
                    at = found.schema.get_field_index(name)
                    found = found.set_column(at, name, found.column(at).cast(zone))
                yield from found.to_batches()
                connection.close()

    return work.mapInArrow(add_up, SCHEMA)
