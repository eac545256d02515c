"""Reports on made tables."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import made

from vprof.fleet.duck import DuckEngine
from vprof.fleet.files import find
from vprof.fleet.report import FleetReport, make_report
from vprof.fleet.slices import Condition, Selection

#: Of the machine that makes the report.
NOW = made.NOON + dt.timedelta(days=1)


def report(*directories: Path, where: tuple[str, ...] = (), **selection: object) -> FleetReport:
    engine = DuckEngine(find(directories, now=NOW), threads=1)
    conditions = tuple(Condition.parse(text) for text in where)
    return make_report(engine, Selection(conditions, **selection))  # type: ignore[arg-type]


def share(report: FleetReport, function: str) -> float:
    return report.fleet.functions[function].share.value
