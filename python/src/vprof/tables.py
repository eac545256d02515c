"""``vprof.read``: the tables of a directory as data frames."""

from __future__ import annotations

import datetime
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from .errors import InputError, InputWarning
from .files import File, Files, check_columns, damaged, find
from .schema import COLUMNS, ROLL_UPS, ROWS, with_partitions

_PARTITIONING = ds.partitioning(
    pa.schema([("day", pa.date32()), ("host", pa.string())]), flavor="hive"
)


def _listed(value: str | Iterable[object] | None) -> set[str] | None:
    if value is None:
        return None
    return {value} if isinstance(value, str) else {str(one) for one in value}


def _known(wanted: set[str] | None, known: Iterable[object], what: str) -> None:
    names = {str(one) for one in known}
    for one in sorted((wanted or set()) - names):
        raise InputError(
            f"no recording is of the {what} '{one}'; there are: {', '.join(sorted(names))}"
        )


class Tables:
    """The tables of a directory, or a part of them. Made by :func:`read`.

    Each table is an attribute, a data frame with the columns of docs/tables.md and ``day`` and
    ``host``. It is read when it is first used. Sums are exact decimals.

    Attributes:
        ignored: files that do not count, one line each: copies, and exports that were not completed
        warnings: what the reader should know, one line each
        sliced: whether only a part of the intervals of a recording is left; roll-ups say nothing
            about it
    """

    def __init__(
        self,
        files: Files,
        recordings: pa.Table,
        *,
        columns: Mapping[str, Sequence[str]] | None = None,
        days: set[str] | None = None,
    ) -> None:
        self._files = files
        self._recordings = recordings
        self._columns = dict(columns or {})
        self._days = days
        self._chosen: pd.DataFrame | None = None
        self._frames: dict[str, pd.DataFrame] = {}
        self._checked: set[Path] = set()
        self.ignored: list[str] = files.ignored
        self.warnings: list[str] = files.warnings
        self.sliced = False

    # ---- the tables

    @property
    def recordings(self) -> pd.DataFrame:
        """A row per recording and name of intervals."""
        return self._frame("recordings")

    @property
    def places(self) -> pd.DataFrame:
        """A row per place: a path of calls, waits and queues below the interval."""
        return self._frame("places")

    @property
    def intervals(self) -> pd.DataFrame:
        """A row per interval; empty if there are only roll-ups."""
        return self._frame("intervals")

    @property
    def times(self) -> pd.DataFrame:
        """A row per place and interval with time in it; empty if there are only roll-ups."""
        return self._frame("times")

    @property
    def sums(self) -> pd.DataFrame:
        """Sums by place, batch and label."""
        return self._frame("sums")

    @property
    def products(self) -> pd.DataFrame:
        """Sums of products of two places, by batch."""
        return self._frame("products")

    @property
    def bins(self) -> pd.DataFrame:
        """Times by place and bin of the latency."""
        return self._frame("bins")

    @property
    def latencies(self) -> pd.DataFrame:
        """Numbers of intervals by label and bucket of the latency."""
        return self._frame("latencies")

    @property
    def names(self) -> list[str]:
        """Names of the intervals, the most frequent first."""
        counts: dict[str, int] = {}
        for name, count in zip(
            self._recordings.column("name").to_pylist(),
            self._recordings.column("intervals").to_pylist(),
        ):
            counts[name] = counts.get(name, 0) + count
        return sorted(counts, key=lambda name: (-counts[name], name))

    @property
    def has_rows(self) -> bool:
        """Whether every recording has ``intervals`` and ``times``."""
        return self._all_have("intervals")

    @property
    def has_rollups(self) -> bool:
        """Whether every recording has ``sums``, and they are of the intervals that are left."""
        return not self.sliced and self._all_have("sums")

    def slice(self, intervals: pd.DataFrame) -> Tables:
        """The same tables with these rows of ``intervals`` only, and their times.

        >>> slow = tables.slice(tables.intervals.query("latency_ns > 1_000_000"))  # doctest: +SKIP
        """
        keys = ["recording", "name", "interval"]
        missing = [key for key in keys if key not in intervals.columns]
        if missing:
            raise InputError(
                f"slice() needs the columns {', '.join(keys)} of intervals; {missing[0]} is missing"
            )
        if intervals.duplicated(keys).any():
            raise InputError("slice(): an interval is in the data frame twice; drop duplicates")
        part = Tables(self._files, self._recordings, columns=self._columns, days=self._days)
        part._chosen = intervals[keys].reset_index(drop=True)
        part.sliced = True
        return part

    # ---- for the rest of the package

    def arrow(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Columns of a table, of the recordings that are left. Texts may be dictionaries."""
        if table == "recordings":
            whole = self._recordings
            return whole if columns is None else whole.select(list(columns))
        schema = with_partitions(table)
        wanted = list(columns) if columns is not None else schema.names
        if table in ROLL_UPS and self.sliced:
            return schema.empty_table().select(wanted)
        read = self._scan(table, wanted)
        if table in ROWS and self._chosen is not None:
            read = self._only_chosen(read)
        return read

    def scan_times(self, columns: Sequence[str]) -> pa.Table:
        """``times`` of all intervals, also of those that :meth:`slice` has left out."""
        return self._scan("times", columns)

    def _all_have(self, table: str) -> bool:
        have = {file.recording for file in self._files.by_table[table]}
        return all(one in have for one in self._recordings.column("recording").to_pylist())

    def _frame(self, table: str) -> pd.DataFrame:
        if table not in self._frames:
            read = self.arrow(table, self._columns.get(table))
            plain = [
                pc.cast(column, column.type.value_type)
                if pa.types.is_dictionary(column.type)
                else column
                for column in read.columns
            ]
            read = pa.table(plain, names=read.column_names)
            self._frames[table] = read.to_pandas(types_mapper=_exact_sums)
        return self._frames[table]

    def _paths(self, table: str) -> list[File]:
        wanted = set(self._recordings.column("recording").to_pylist())
        return [
            file
            for file in self._files.by_table[table]
            if file.recording in wanted
            and (table not in ROWS or self._days is None or file.day.isoformat() in self._days)
        ]

    def _scan(self, table: str, columns: Sequence[str]) -> pa.Table:
        files = self._paths(table)
        keys = [key for key in ("recording", "name") if key in COLUMNS[table].names]
        schema = with_partitions(table)
        for key in keys:
            at = schema.get_field_index(key)
            schema = schema.set(at, pa.field(key, pa.dictionary(pa.int32(), pa.string())))
        if not files:
            return schema.empty_table().select(list(columns))
        for file in files:
            if file.path not in self._checked:
                check_columns(file.path, table)
                self._checked.add(file.path)
        parts = []
        for root in sorted({file.root for file in files}):
            parts.append(
                ds.dataset(
                    [str(file.path) for file in files if file.root == root],
                    schema=schema,
                    format=ds.ParquetFileFormat(dictionary_columns=keys),
                    partitioning=_PARTITIONING,
                    partition_base_dir=str(root / table),
                )
            )
        only = None
        if "name" in keys:
            only = pc.field("name").isin(pa.array(self.names))
        try:
            whole = pa.concat_tables(
                [part.to_table(columns=list(columns), filter=only) for part in parts]
            )
        except (pa.ArrowException, OSError) as error:
            raise self._culprit(files, error) from None
        return whole.unify_dictionaries()

    @staticmethod
    def _culprit(files: Sequence[File], error: Exception) -> InputError:
        for file in files:
            try:
                pq.ParquetFile(file.path).read()
            except (pa.ArrowException, OSError) as own:
                return damaged(file.path, own)
        return InputError(f"{files[0].root}: {str(error).splitlines()[0]}; export again")

    def _only_chosen(self, read: pa.Table) -> pa.Table:
        assert self._chosen is not None
        keys = ["recording", "name", "interval"]
        index = pd.MultiIndex.from_frame(self._chosen)
        own = pd.MultiIndex.from_frame(read.select(keys).to_pandas())
        return read.filter(pa.array(own.isin(index)))


def _exact_sums(kind: pa.DataType) -> pd.ArrowDtype | None:
    return pd.ArrowDtype(kind) if pa.types.is_decimal(kind) else None


def read(
    directory: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    name: str | None = None,
    hosts: str | Iterable[str] | None = None,
    days: str | datetime.date | Iterable[str | datetime.date] | None = None,
    versions: str | Iterable[str] | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
    now: datetime.datetime | None = None,
) -> Tables:
    """The tables that ``vprof export --parquet`` has written to one or several directories.

    Args:
        directory: the DIR of the export
        name: of the intervals, as in ``vprof.json``; by default all names are read, and the
            functions that need one take the most frequent
        hosts, versions: only recordings of these
        days: UTC dates such as ``2026-11-24``. Of ``intervals`` and ``times`` those that began
            then, of roll-ups those of recordings that began then
        columns: by table, which columns the data frames have; by default all
        now: with which clock ``exported`` is compared; by default the one of this machine

    Raises:
        InputError: a file is damaged, of another schema or missing, or nothing is left
    """
    one = isinstance(directory, (str, os.PathLike))
    roots = [Path(directory)] if one else [Path(d) for d in directory]  # type: ignore[arg-type, union-attr]
    if not roots:
        raise InputError("read() needs a directory")
    for table, names in (columns or {}).items():
        known = with_partitions(table).names if table in COLUMNS else []
        unknown = [column for column in names if column not in known]
        if unknown or not known:
            raise InputError(f"columns: there is no {table}.{unknown[0] if unknown else '*'}")
    files = find(roots, now or datetime.datetime.now(datetime.timezone.utc))
    recordings = files.recordings
    day_set = _listed([days] if isinstance(days, datetime.date) else days)
    for column, wanted, what in (
        ("name", _listed(name), "interval"),
        ("host", _listed(hosts), "host"),
        ("version", _listed(versions), "version"),
    ):
        _known(wanted, recordings.column(column).to_pylist(), what)
        if wanted is not None:
            recordings = recordings.filter(pc.field(column).isin(pa.array(sorted(wanted))))
    if day_set is not None:
        recordings = _on_days(files, recordings, day_set)
    if recordings.num_rows == 0:
        raise InputError(f"{roots[0]}: no recording is of all of these hosts, days and versions")
    for line in files.warnings:
        warnings.warn(line, InputWarning, stacklevel=2)
    tables = Tables(files, recordings, columns=columns, days=day_set)
    tables.sliced = day_set is not None and any(
        file.day.isoformat() not in day_set
        for file in files.by_table["intervals"]
        if file.recording in set(recordings.column("recording").to_pylist())
    )
    return tables


def _on_days(files: Files, recordings: pa.Table, days: set[str]) -> pa.Table:
    """Those with intervals on these days, or, if they have only roll-ups, that began on them."""
    with_rows = {file.recording for file in files.by_table["intervals"]}
    on_days = {
        file.recording
        for table in ("intervals", "recordings")
        for file in files.by_table[table]
        if file.day.isoformat() in days
        and (table == "intervals" or file.recording not in with_rows)
    }
    return recordings.filter(pc.field("recording").isin(pa.array(sorted(on_days), pa.string())))
