"""The columns of the tables, as docs/tables.md has them.

Units: columns that end in ``_ns`` are ns; ``xx``, ``xt`` and ``xy`` are ns².
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

#: The version of the tables that this package reads; a higher one is refused.
SCHEMA: Final = 1

#: Labels beyond these are added up as one, by the exporter as by the analyzer.
MOST_LABELS: Final = 64

_TEXT = pa.string()
_TIME = pa.timestamp("us", tz="UTC")
_SUM = pa.decimal128(38, 0)


def _columns(**types: pa.DataType) -> pa.Schema:
    return pa.schema(list(types.items()))


_PARTITIONS: Final = {"day": pa.date32(), "host": _TEXT}

#: By table: its columns in the files. ``day`` and ``host`` are in the paths.
COLUMNS: Final[dict[str, pa.Schema]] = {
    "recordings": _columns(
        recording=_TEXT,
        schema=pa.int32(),
        name=_TEXT,
        program=_TEXT,
        version=_TEXT,
        vprof=_TEXT,
        run_ns=pa.int64(),
        begin=_TIME,
        end=_TIME,
        exported=_TIME,
        intervals=pa.int64(),
        incomplete=pa.int64(),
        left_out=pa.int64(),
        batch_shift=pa.int32(),
        root_height=pa.int32(),
        dropped=pa.int64(),
        torn=pa.int64(),
        unreadable_bytes=pa.int64(),
        unknown_waits=pa.int64(),
        outside_waits=pa.int64(),
        inferred_edges=pa.int64(),
        exact_edges=pa.int64(),
        records=pa.int64(),
    ),
    "places": _columns(
        recording=_TEXT,
        place=pa.int32(),
        parent=pa.int32(),
        kind=_TEXT,
        blamed=pa.bool_(),
        function=_TEXT,
        key=_TEXT,
        file=_TEXT,
        line=pa.int32(),
        site=_TEXT,
        position=_TEXT,
        path=_TEXT,
        height=pa.int32(),
        expandable=pa.bool_(),
        expanded=pa.bool_(),
    ),
    "intervals": _columns(
        recording=_TEXT,
        interval=pa.int64(),
        name=_TEXT,
        program=_TEXT,
        version=_TEXT,
        process=pa.int32(),
        label=_TEXT,
        key=pa.int64(),
        id=pa.int64(),
        begin=_TIME,
        latency_ns=pa.int64(),
        work=pa.int64(),
        trace_id=_TEXT,
        span_id=_TEXT,
        weight=pa.int64(),
    ),
    "times": _columns(
        recording=_TEXT,
        name=_TEXT,
        interval=pa.int64(),
        place=pa.int32(),
        total_ns=pa.int64(),
        self_ns=pa.int64(),
        wait_ns=pa.int64(),
        blame_ns=pa.int64(),
    ),
    "sums": _columns(
        recording=_TEXT,
        name=_TEXT,
        batch=pa.int64(),
        place=pa.int32(),
        label=_TEXT,
        begin=_TIME,
        end=_TIME,
        n=pa.int64(),
        count=pa.int64(),
        x=_SUM,
        xx=_SUM,
        xt=_SUM,
        w=_SUM,
        ww=_SUM,
        xw=_SUM,
    ),
    "products": _columns(
        recording=_TEXT, name=_TEXT, batch=pa.int64(), a=pa.int32(), b=pa.int32(), xy=_SUM
    ),
    "bins": _columns(recording=_TEXT, name=_TEXT, place=pa.int32(), bin=pa.int32(), x=_SUM),
    "latencies": _columns(
        recording=_TEXT,
        name=_TEXT,
        label=_TEXT,
        bucket=pa.int32(),
        n=pa.int64(),
        least_ns=pa.int64(),
        greatest_ns=pa.int64(),
    ),
}

#: Single intervals; a directory of roll-ups has neither.
ROWS: Final = ("intervals", "times")
#: Sums over intervals.
ROLL_UPS: Final = ("sums", "products", "bins", "latencies")


def with_partitions(table: str) -> pa.Schema:
    """The columns of a table as an engine sees them, with those in the paths.

    >>> with_partitions("bins").names[-2:]
    ['day', 'host']
    """
    return pa.schema([*COLUMNS[table], *(pa.field(*one) for one in _PARTITIONS.items())])
