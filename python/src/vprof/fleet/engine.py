"""What an engine must do, and the steps that make the sums of a fleet on any of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Protocol

from .slices import GROUPS, Selection, quoted

Row = tuple[Any, ...]

#: Of `sums` and the like: `decimal(38, 0)`, exact. An overflow is an error of the engine.
ROLL_UPS = ("recordings", "places", "sums", "products", "latencies")
SINGLE = ("intervals", "times")
#: Queries of `sql/` in their order. Those of `RECURSIVE` walk trees.
STEPS = (
    "batches", "named", "down", "placed", "pairs", "inside", "hidden", "roots", "parts", "unseen",
)  # fmt: skip
RECURSIVE = ("down", "pairs")


class Engine(Protocol):
    """Tables of `vprof export --parquet` as views `recordings`, `places`, ...; `host` is a column."""

    #: The type of an instant in UTC.
    stamp: str

    def table(self, name: str, sql: str) -> None:
        """Makes a table of the rows of a query."""

    def recursive(self, name: str, first: str, then: str) -> None:
        """Makes a table of the rows of `first` and, again and again, of what `then` finds for the
        rows that came last, which it calls `name`."""

    def rows(self, sql: str) -> Sequence[Row]:
        """The rows of a query. Decimals and large integers are exact."""

    def has(self, table: str) -> bool:
        """Whether there are files of this table."""

    def sums_of_times(self, query: str) -> None:
        """Makes `sums` of single intervals."""


def text(query: str, /, **values: str) -> str:
    """A query of `sql/`, with its places filled in."""
    sql = (files(__package__) / "sql" / f"{query}.sql").read_text("utf-8")
    # At once: a label may be called {groups}.
    return re.sub(r"\{([a-z_]+)\}", lambda found: values[found[1]], sql)


def values_for(selection: Selection) -> dict[str, str]:
    labels = selection.needs_labels
    return {
        "name": quoted(selection.name),
        "groups": str(GROUPS),
        "slice": selection.slice(),
        "day": selection.day,
        "hour": selection.hour,
        "label": "s.label" if labels else "CAST(NULL AS STRING)",
        "of_recording": selection.of_recording(),
        "of_batch": selection.of_batch(),
        "of_sums": selection.of_sums(),
        "with_products": "FALSE" if labels or selection.needs_intervals else "TRUE",
    }


def add_up(engine: Engine, selection: Selection) -> None:
    """Makes the tables `batches`, `placed`, `inside`, `hidden`, `roots`, `parts` and `unseen`."""
    values = values_for(selection)
    if selection.needs_intervals:
        engine.sums_of_times(
            text(
                "sums_of_times",
                of_recording_r=selection.of_recording("r."),
                of_interval=selection.of_interval(engine.stamp),
            )
        )
    if not engine.has("products"):
        engine.table(
            "products",
            "SELECT recording, name, batch, place AS a, place AS b, x AS xy FROM sums WHERE FALSE",
        )
    for step in STEPS:
        if step in RECURSIVE:
            first, then = text(step).split("UNION ALL")
            engine.recursive(step, first, then)
        else:
            engine.table(step, text(step, **values))
