"""The files of the tables, and whether they can be added up."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from .engine import ROLL_UPS, SINGLE
from ..errors import InputError

SCHEMA = 1
#: A clock that is further ahead than this is wrong: shipping takes time, but never a negative one.
AHEAD = dt.timedelta(minutes=5)

_COLUMNS = [
    "recording", "schema", "name", "program", "version", "run_ns", "begin", "end", "intervals",
    "exported",
]  # fmt: skip


@dataclass
class Recording:
    """A file of `recordings`."""

    id: str
    host: str
    path: Path
    rows: list[dict[str, Any]]


@dataclass
class Files:
    """What counts, by table and recording."""

    paths: dict[str, dict[str, list[Path]]]
    recordings: list[Recording]
    #: A line each: what was left out because of `skip_bad`.
    skipped: list[str] = field(default_factory=list)
    #: Recordings whose export never ended.
    incomplete: int = 0

    def of(self, table: str, recordings: Iterable[str] | None = None) -> list[Path]:
        by_recording = self.paths.get(table, {})
        chosen = by_recording if recordings is None else recordings
        return [path for id in sorted(chosen) for path in by_recording.get(id, [])]

    def rows_by_recording(self, table: str) -> dict[str, int]:
        return {
            id: sum(pq.read_metadata(path).num_rows for path in paths)
            for id, paths in sorted(self.paths.get(table, {}).items())
        }

    def names(self) -> list[str]:
        return sorted({row["name"] for recording in self.recordings for row in recording.rows})


class _Check:
    """Errors, or with `skip_bad` the recordings that they concern."""

    def __init__(self, skip_bad: bool) -> None:
        self._skip_bad = skip_bad
        self.bad: set[str] = set()
        self.lines: list[str] = []

    def wrong(self, message: str, recording: str) -> None:
        if not self._skip_bad:
            raise InputError(message + "; --skip-bad goes on without it")
        self.bad.add(recording)
        self.lines.append(message)


def host_of(path: Path) -> str:
    for part in path.parts:
        if part.startswith("host="):
            return unquote(part[len("host=") :])
    return ""


def find(
    directories: Sequence[Path],
    *,
    skip_bad: bool = False,
    from_intervals: bool = False,
    now: dt.datetime | None = None,
) -> Files:
    """Finds and checks the tables below `directories`.

    With `from_intervals`, single intervals are added up, so recordings that have these need no sums.
    """
    paths: dict[str, dict[str, list[Path]]] = {table: {} for table in ROLL_UPS + SINGLE}
    for directory in directories:
        if not directory.is_dir():
            raise InputError(f"{directory}: no such directory")
        for table, found in paths.items():
            for path in sorted((directory / table).rglob("*.parquet")):
                found.setdefault(path.stem, []).append(path)
    if not paths["recordings"]:
        raise InputError(
            f"{', '.join(map(str, directories))}: no recordings here; expected the directory that "
            "`vprof export --parquet` wrote, with recordings/day=.../host=.../*.parquet"
        )
    check = _Check(skip_bad)
    _check_copies(paths, check)
    recordings = _read_recordings(paths["recordings"], check)
    _check_footers(paths, check)
    _check_tables(paths, check, from_intervals)
    _check_runs(recordings, check)
    _check_clocks(recordings, check, now or dt.datetime.now(dt.timezone.utc))
    complete = {recording.id for recording in recordings} - check.bad
    begun = {id for found in paths.values() for id in found} - check.bad
    if not complete:
        raise InputError("no recording is left: " + check.lines[0])
    for table, found in paths.items():
        paths[table] = {id: list(of) for id, of in found.items() if id in complete}
    return Files(
        paths,
        [recording for recording in recordings if recording.id in complete],
        check.lines,
        len(begun - complete),
    )


def _check_copies(paths: dict[str, dict[str, list[Path]]], check: _Check) -> None:
    """In roll-ups, a recording has one file for each table."""
    for table in ROLL_UPS:
        for id, found in paths[table].items():
            if len(found) > 1 and id not in check.bad:
                check.wrong(
                    f"{found[1]}: the recording {id} is also in {found[0]}; delete one of them",
                    id,
                )
    for table in SINGLE:
        for id, found in paths[table].items():
            days = [str(path.parent.parent.name) for path in found]
            if len(set(days)) < len(days) and id not in check.bad:
                check.wrong(
                    f"{found[1]}: the recording {id} is also in {found[0]}; delete one of them",
                    id,
                )


def _unreadable(path: Path, error: Exception) -> str:
    reason = str(error).strip().splitlines()[0]
    return f"{path}: no complete Parquet file ({reason}); copy it again"


def _read_recordings(found: dict[str, list[Path]], check: _Check) -> list[Recording]:
    recordings = []
    for id, paths in sorted(found.items()):
        path = paths[0]
        if id in check.bad:
            continue
        try:
            rows = pq.ParquetFile(path).read(columns=_COLUMNS).to_pylist()
        except (pa.ArrowException, OSError) as error:
            check.wrong(_unreadable(path, error), id)
            continue
        newest = max((row.get("schema") or 0 for row in rows), default=0)
        if newest > SCHEMA:
            check.wrong(
                f"{path}: schema {newest} is newer than this vprof, which reads up to {SCHEMA}; "
                "install the vprof that wrote it",
                id,
            )
            continue
        missing = [column for column in _COLUMNS if rows and column not in rows[0]]
        if missing or any(row["recording"] != id for row in rows):
            check.wrong(
                f"{path}: not a table of recordings as vprof writes it"
                + (f" (no column {missing[0]})" if missing else " (another id than its name)"),
                id,
            )
            continue
        if rows:
            recordings.append(Recording(id, host_of(path), path, rows))
    return recordings


def _check_footers(paths: dict[str, dict[str, list[Path]]], check: _Check) -> None:
    for table in paths:
        for id, found in paths[table].items():
            for path in found:
                if id in check.bad or table == "recordings" or id not in paths["recordings"]:
                    continue
                try:
                    pq.read_metadata(path)
                except (pa.ArrowException, OSError) as error:
                    check.wrong(_unreadable(path, error), id)


def _check_tables(
    paths: dict[str, dict[str, list[Path]]], check: _Check, from_intervals: bool
) -> None:
    for id in sorted(set(paths["recordings"]) - check.bad):
        single = from_intervals and all(id in paths[table] for table in SINGLE)
        needed = ("places",) if single else ("places", "sums")
        missing = [table for table in needed if id not in paths[table]]
        if missing:
            check.wrong(
                f"{paths['recordings'][id][0]}: the recording has no file in {missing[0]}; copy "
                "that as well, and `recordings` last",
                id,
            )


def _check_runs(recordings: Sequence[Recording], check: _Check) -> None:
    """The same intervals under two ids: exported twice, with other options or other names."""
    seen: dict[tuple[Any, ...], Recording] = {}
    for recording in recordings:
        if recording.id in check.bad:
            continue
        for row in recording.rows:
            key = tuple(
                row[column] for column in ("name", "program", "run_ns", "begin", "end", "intervals")
            )
            other = seen.setdefault(key, recording)
            if other is not recording:
                check.wrong(
                    f"{recording.path}: has the same intervals as {other.path} (run and times are "
                    "equal); delete one of them",
                    recording.id,
                )
                break


def _check_clocks(recordings: Sequence[Recording], check: _Check, now: dt.datetime) -> None:
    ahead: dict[str, list[tuple[dt.timedelta, Recording]]] = defaultdict(list)
    for recording in recordings:
        latest = max((row["end"] or row["begin"] for row in recording.rows), default=None)
        if latest is not None and latest - now > AHEAD and recording.id not in check.bad:
            ahead[recording.host].append((latest - now, recording))
    for host, found in sorted(ahead.items()):
        for by, recording in found:
            check.wrong(
                f"{recording.path}: the clock of host {host} is ahead: an interval begins "
                f"{_span(by)} from now; set that clock, and export the recording again",
                recording.id,
            )


def _span(time: dt.timedelta) -> str:
    minutes = time.total_seconds() / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
