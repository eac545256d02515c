"""Many hosts, versions and days: the tables of `vprof export --parquet`, added up by an engine.

The aggregation is SQL that DuckDB and Spark run alike (`sql/`); the statistics on what it yields
are Python. docs/fleet.md is the manual.
"""

from __future__ import annotations

from .duck import DuckEngine
from ..errors import InputError
from .report import FleetReport, make_report
from .slices import Selection

__all__ = ["DuckEngine", "InputError", "FleetReport", "Selection", "make_report"]
