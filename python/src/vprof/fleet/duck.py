"""The engine for one machine: DuckDB, on files that may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from .engine import ROLL_UPS, SINGLE, Row
from ..errors import InputError
from .files import Files

#: Rows of `times` that are added up at once: what is grouped by interval then fits into memory.
_ROWS_AT_ONCE = 30_000_000
_INSTANTS = {
    "recordings": ('"begin"', '"end"', '"exported"'),
    "intervals": ('"begin"',),
    "sums": ('"begin"', '"end"'),
}


class DuckEngine:
    """Tables in local directories. Needs no more memory than `memory`, and spills beyond it."""

    stamp = "TIMESTAMP"

    def __init__(
        self, files: Files, *, memory: str = "", threads: int = 0, temporary: Path | None = None
    ) -> None:
        self._files = files
        config: dict[str, Any] = {}
        if memory:
            config["memory_limit"] = memory
        if threads:
            config["threads"] = threads
        if temporary is not None:
            config["temp_directory"] = str(temporary)
        try:
            self._connection = duckdb.connect(config=config)
        except duckdb.Error as error:
            options = " ".join(f"--{name} {value}" for name, value in
                               (("memory", memory), ("threads", threads)) if value)  # fmt: skip
            raise InputError(f"{options}: {_line(error)}") from None
        self._connection.execute("SET preserve_insertion_order = false")
        for name in ROLL_UPS + SINGLE:
            if self.has(name):
                self._view(name, files.of(name))

    def _view(self, name: str, paths: Sequence[Path]) -> None:
        listed = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
        # Instants as plain UTC: what has a zone needs an extension that the wheel does not have.
        instants = ", ".join(f"make_timestamp(epoch_us({c})) AS {c}" for c in _INSTANTS.get(name, ()))
        replaced = f"REPLACE ({instants})" if instants else ""
        self._run(
            f"CREATE OR REPLACE VIEW {name} AS SELECT * {replaced} FROM read_parquet([{listed}], "
            "hive_partitioning = true, union_by_name = true, hive_types_autocast = false)"
        )

    def has(self, table: str) -> bool:
        return bool(self._files.of(table))

    def table(self, name: str, sql: str) -> None:
        self._run(f"CREATE OR REPLACE TABLE {name} AS {sql}")

    def recursive(self, name: str, first: str, then: str) -> None:
        self.table(name, f"WITH RECURSIVE {name} AS ({first} UNION ALL {then}) SELECT * FROM {name}")

    def rows(self, sql: str) -> Sequence[Row]:
        return list(self._run(sql).fetchall())

    def _run(self, sql: str) -> Any:
        try:
            return self._connection.execute(sql)
        except duckdb.OutOfRangeException as error:
            raise InputError(
                f"a sum has more than 38 digits: choose fewer intervals with --where ({_line(error)})"
            ) from None
        except duckdb.Error as error:
            raise InputError(f"DuckDB: {_line(error)}") from None

    def sums_of_times(self, query: str) -> None:
        """Recordings a few at a time, since what belongs to an interval is in one recording."""
        made = False
        for recordings in self._portions():
            self._view("times", self._files.of("times", recordings))
            self._view("intervals", self._files.of("intervals", recordings))
            if made:
                self._run(f"INSERT INTO sums_of_times {query}")
            else:
                self.table("sums_of_times", query)
                made = True
        self._run("CREATE OR REPLACE VIEW sums AS SELECT * FROM sums_of_times")

    def _portions(self) -> Iterator[set[str]]:
        portion: set[str] = set()
        rows = 0
        for recording, count in self._files.rows_by_recording("times").items():
            if portion and rows + count > _ROWS_AT_ONCE:
                yield portion
                portion, rows = set(), 0
            portion.add(recording)
            rows += count
        if portion:
            yield portion


def _line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
