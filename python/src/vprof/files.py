"""Which files of a directory count: complete recordings, each once."""

from __future__ import annotations

import datetime
import urllib.parse
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import InputError
from .schema import COLUMNS, ROWS, SCHEMA

#: How far a clock may be ahead of ours without a warning.
_AHEAD = datetime.timedelta(minutes=10)


@dataclass(frozen=True)
class File:
    """A file of a table; ``day`` and ``host`` are from its path, ``recording`` from its name.

    A recording of very many days has several files of one table and day: ``ID-1.parquet``.
    """

    root: Path
    path: Path
    table: str
    day: datetime.date
    host: str

    @property
    def recording(self) -> str:
        return self.path.stem.partition("-")[0]


@dataclass
class Files:
    """The files that count, by table, and what was said about the others."""

    by_table: dict[str, list[File]]
    #: Rows of ``recordings``, with day and host.
    recordings: pa.Table
    #: Files that do not count: of exports that were not completed, and copies.
    ignored: list[str] = field(default_factory=list)
    #: One line each, for people.
    warnings: list[str] = field(default_factory=list)


def _partition(root: Path, path: Path, table: str) -> File | None:
    """The file at ``TABLE/day=…/host=…/ID.parquet``; None if it is elsewhere."""
    parts = path.relative_to(root / table).parts
    if len(parts) != 3 or not parts[0].startswith("day=") or not parts[1].startswith("host="):
        return None
    try:
        day = datetime.date.fromisoformat(parts[0].removeprefix("day="))
    except ValueError:
        return None
    return File(root, path, table, day, urllib.parse.unquote(parts[1].removeprefix("host=")))


def _found(root: Path, ignored: list[str]) -> Iterable[File]:
    for table in COLUMNS:
        for path in sorted((root / table).glob("**/*.parquet")):
            file = _partition(root, path, table)
            if file is None:
                ignored.append(f"{path}: not below day=YYYY-MM-DD/host=NAME")
            else:
                yield file


def footer(path: Path) -> pq.FileMetaData:
    """What the end of a Parquet file says about it."""
    try:
        return pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, error) from None


def damaged(path: Path, error: Exception) -> InputError:
    """The error for a file that cannot be read."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(
        f"{path}: it is not a complete Parquet file ({reason}); copy it again, or delete the files "
        "of this recording and export it again"
    )


def check_columns(path: Path, table: str) -> None:
    """Refuses a file whose columns are not those of the table. Further columns are welcome."""
    own = footer(path).schema.to_arrow_schema()
    for wanted in COLUMNS[table]:
        at = own.get_field_index(wanted.name)
        if at < 0:
            raise InputError(
                f"{path}: it has no column '{wanted.name}', so it is no table '{table}' of vprof; "
                "remove it, or export the recording again"
            )
        found = own.field(at).type
        found = found.value_type if pa.types.is_dictionary(found) else found
        if found != wanted.type and not _is_alike(found, wanted.type):
            raise InputError(
                f"{path}: the column '{wanted.name}' is {found} where the table '{table}' of vprof "
                f"has {wanted.type}; remove it, or export the recording again"
            )


def _is_alike(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether an engine that has copied a table may have written this type instead."""
    if pa.types.is_string(wanted):
        return bool(pa.types.is_large_string(found))
    if pa.types.is_timestamp(wanted):
        return bool(pa.types.is_timestamp(found) and found.tz is not None)
    return False


def _read_recordings(files: Sequence[File]) -> list[tuple[File, pa.Table]]:
    read = []
    for file in files:
        check_columns(file.path, "recordings")
        try:
            table = pq.ParquetFile(file.path).read(columns=COLUMNS["recordings"].names)
        except (pa.ArrowException, OSError) as error:
            raise damaged(file.path, error) from None
        newest = max((n for n in table.column("schema").to_pylist() if n), default=SCHEMA)
        if newest > SCHEMA:
            raise InputError(
                f"{file.path}: its tables have schema {newest}, but this version of the package "
                f"reads up to {SCHEMA}; install a newer one"
            )
        others = set(table.column("recording").to_pylist()) - {file.recording}
        if others:
            raise InputError(
                f"{file.path}: it holds the recording {others.pop()}, which its name does not say; "
                "give the file its old name again"
            )
        read.append((file, table.cast(COLUMNS["recordings"])))
    return read


def _chosen(read: Sequence[tuple[File, pa.Table]], files: Files) -> dict[str, File]:
    """By recording: the file in ``recordings`` that counts, of several the one on its own day."""
    by_recording: dict[str, list[tuple[File, pa.Table]]] = defaultdict(list)
    for file, table in read:
        if table.num_rows:
            by_recording[file.recording].append((file, table))
    chosen = {}
    for recording, copies in by_recording.items():

        def misplaced(copy: tuple[File, pa.Table]) -> tuple[bool, str]:
            begin = min((b for b in copy[1].column("begin").to_pylist() if b), default=None)
            return begin is not None and begin.date() != copy[0].day, str(copy[0].path)

        copies.sort(key=misplaced)
        chosen[recording] = copies[0][0]
        for file, _ in copies[1:]:
            files.ignored.append(f"{file.path}: a copy of {copies[0][0].path}")
            files.warnings.append(
                f"{file.path}: the recording is also in {copies[0][0].path}, and counts once, "
                f"there; delete this copy"
            )
    return chosen


def _begin_days(file: File) -> set[datetime.date]:
    """The days on which the intervals of a file began, as far as its footer tells."""
    days: set[datetime.date] = set()
    meta = footer(file.path)
    at = meta.schema.to_arrow_schema().get_field_index("begin")
    for group in range(meta.num_row_groups):
        statistics = meta.row_group(group).column(at).statistics
        if statistics is None or not statistics.has_min_max:
            continue
        days |= {statistics.min.date(), statistics.max.date()}
    return days


def _count(found: Sequence[File], chosen: dict[str, File], files: Files) -> None:
    """Sorts files into those that count and those that do not."""
    days_of: dict[tuple[Path, str, str], set[datetime.date]] = defaultdict(set)
    for file in found:
        if file.table == "intervals":
            days_of[file.root, file.host, file.recording].add(file.day)
    copied_days: set[tuple[Path, str, str, datetime.date]] = set()
    for file in found:
        where = (file.root, file.host, file.recording)
        several = len(days_of[where]) > 1
        if file.table == "intervals" and several and _begin_days(file) - {file.day}:
            copied_days.add((*where, file.day))
    for file in found:
        own = chosen.get(file.recording)
        if own is None:
            files.ignored.append(f"{file.path}: its recording is not complete")
        elif (file.root, file.host) != (own.root, own.host) or (
            file.day != own.day
            if file.table not in ROWS
            else (file.root, file.host, file.recording, file.day) in copied_days
        ):
            if file.table != "recordings":
                files.ignored.append(f"{file.path}: a copy")
        else:
            files.by_table[file.table].append(file)


def _check_clocks(recordings: pa.Table, now: datetime.datetime, files: Files) -> None:
    ahead: dict[str, datetime.timedelta] = {}
    for host, exported in zip(
        recordings.column("host").to_pylist(), recordings.column("exported").to_pylist()
    ):
        if exported is not None and exported > now + _AHEAD:
            ahead[host] = max(exported - now, ahead.get(host, _AHEAD))
    for host, much in sorted(ahead.items()):
        hours = much.total_seconds() / 3600
        files.warnings.append(
            f"host {host}: its recordings were exported {hours:.1f} h from now, so its clock or "
            "the one here is wrong, and its days and hours do not match those of other hosts; "
            "set the clock"
        )


def _check_complete(files: Files) -> None:
    """Each recording that counts has its places, and intervals with their times or roll-ups."""
    have = {
        table: {(file.recording, file.day) for file in found}
        for table, found in files.by_table.items()
    }
    place_of = {recording for recording, _ in have["places"]}
    for file in files.by_table["recordings"]:
        at = f"{file.root}: the recording {file.recording} of host {file.host}"
        again = "copy the directory again, or export the recording again"
        if file.recording not in place_of:
            raise InputError(f"{at} has no file in places/; {again}")
        days = {table: {d for r, d in have[table] if r == file.recording} for table in have}
        if days["intervals"] != days["times"]:
            lacking = "times" if days["intervals"] - days["times"] else "intervals"
            raise InputError(f"{at} has no file in {lacking}/ for one of its days; {again}")
        summed = [table for table in ("sums", "bins", "latencies") if days[table]]
        if not days["intervals"] and len(summed) < 3:
            raise InputError(
                f"{at} has neither intervals and times nor all of sums, bins and latencies; {again}"
            )


def find(roots: Sequence[Path], now: datetime.datetime) -> Files:
    """The files of these directories that count, and the recordings that they are of."""
    files = Files({table: [] for table in COLUMNS}, pa.table({}))
    found: list[File] = []
    for root in roots:
        if not root.is_dir():
            raise InputError(f"{root}: there is no such directory; vprof export --parquet makes it")
        own = list(_found(root, files.ignored))
        if not any(file.table == "recordings" for file in own):
            raise InputError(
                f"{root}: no table 'recordings', so nothing there counts; give the DIR of "
                "vprof export --parquet DIR, or wait until the export is complete"
            )
        found += own
    read = _read_recordings([file for file in found if file.table == "recordings"])
    chosen = _chosen(read, files)
    _count(found, chosen, files)
    tables = []
    for file, table in read:
        if chosen.get(file.recording) == file:
            size = table.num_rows
            table = table.append_column("day", pa.array([file.day] * size, pa.date32()))
            tables.append(table.append_column("host", pa.array([file.host] * size, pa.string())))
    if not tables:
        raise InputError(f"{roots[0]}: no recording is complete; wait until the export is")
    files.recordings = pa.concat_tables(tables)
    _check_clocks(files.recordings, now, files)
    _check_complete(files)
    return files
