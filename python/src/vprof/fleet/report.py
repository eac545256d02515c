"""A report on a fleet, from the sums of an engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..latency import Histogram
from .engine import Engine, add_up, text, values_for
from ..errors import InputError
from .figures import LEAST, FunctionFigures, SliceFigures, figures
from .hosts import HostFindings, compare_hosts
from .slices import Selection, quoted
from .units import Units, units_of
from .versions import VersionChange, compare_versions

SCHEMA = 1
#: Losses of `recordings`, which add up.
LOSSES = (
    "incomplete", "left_out", "dropped", "torn", "unreadable_bytes", "unknown_waits",
    "inferred_edges", "exact_edges", "records",
)  # fmt: skip
_HOW = ("path_everywhere", "path", "function", "alone", "not_broken_down")


@dataclass
class Factor:
    rank: int
    function: str
    location: str
    figures: FunctionFigures
    #: What counts of the share: without what a callee explains.
    counts: float
    score: float
    hosts: int


@dataclass
class Slice:
    figures: SliceFigures
    p99_ns: float | None
    top: list[FunctionFigures]


@dataclass
class FleetReport:
    name: str
    selection: Selection
    hosts: int
    versions: list[str]
    recordings: int
    begin: str
    end: str
    fleet: SliceFigures
    quantiles: dict[str, float]
    #: Part of the variance that is between the means of hosts, and of versions.
    between_hosts: float
    between_versions: float
    factors: list[Factor]
    slices: list[Slice]
    outliers: HostFindings
    versions_compared: list[VersionChange]
    #: Part of the variance by how well its places are matched.
    matched: dict[str, float]
    losses: dict[str, int]
    skipped: list[str] = field(default_factory=list)
    incomplete_exports: int = 0
    functions: dict[str, tuple[str, str, int]] = field(default_factory=dict)

    def name_of(self, function: str) -> str:
        return self.functions.get(function, (function.split("@")[0], "", 0))[0] or "the interval"


def make_report(
    engine: Engine,
    selection: Selection,
    *,
    skipped: Sequence[str] = (),
    incomplete_exports: int = 0,
) -> FleetReport:
    selection = replace(selection, name=_name(engine, selection.name))
    if selection.needs_intervals and not (engine.has("intervals") and engine.has("times")):
        raise InputError(
            "--since, --until and --slower-than need single intervals, and there are only roll-ups "
            "here; export without --rollups"
        )
    add_up(engine, replace(selection, by=""))
    counted = engine.rows(
        "SELECT count(DISTINCT recording), count(DISTINCT host), CAST(min(begin) AS STRING), "
        "CAST(max(begin) AS STRING), count(*) FROM batches"
    )[0]
    if not counted[0]:
        raise InputError("no interval meets the conditions of --where; see the columns with --by")
    with_products = values_for(selection)["with_products"] == "TRUE" and engine.has("products")
    totals = engine.rows(text("totals"))
    fleet = figures(totals, with_products)[""]
    values = values_for(replace(selection, by=""))
    functions = _functions(engine)
    units = _units(engine, fleet)
    report = FleetReport(
        selection.name,
        selection,
        int(counted[1]),
        _versions(engine),
        int(counted[0]),
        str(counted[2])[:16],
        str(counted[3])[:16],
        fleet,
        _quantiles(engine, selection, values),
        _between(fleet, engine, "host"),
        _between(fleet, engine, "version"),
        [],
        [],
        compare_hosts(units),
        [],
        _matched(engine, fleet, values),
        _losses(engine),
        list(skipped),
        incomplete_exports,
        {key: value[:3] for key, value in functions.items()},
    )
    report.factors = _factors(fleet, units, functions, _root_height(engine))
    report.versions_compared = [
        compare_versions(units, before, after)
        for before, after in zip(report.versions, report.versions[1:], strict=False)
    ]
    if selection.by:
        report.slices = _slices(engine, selection, with_products)
    return report


def _name(engine: Engine, wanted: str) -> str:
    names = [str(row[0]) for row in engine.rows("SELECT DISTINCT name FROM recordings ORDER BY 1")]
    if wanted and wanted not in names:
        raise InputError(f"--interval {wanted}: no such intervals; there are {', '.join(names)}")
    if not wanted and len(names) > 1:
        raise InputError(f"there are intervals of several names: {', '.join(names)}; "
                         "choose one with --interval")  # fmt: skip
    return wanted or names[0]


def _versions(engine: Engine) -> list[str]:
    rows = engine.rows("SELECT version, min(begin) AS first FROM batches GROUP BY version "
                       "ORDER BY first, version")  # fmt: skip
    return [str(row[0]) for row in rows]


def _functions(engine: Engine) -> dict[str, tuple[str, str, int, int]]:
    """By function: name, location, height, hosts on which it was seen."""
    rows = engine.rows(
        "SELECT p.function, max(p.name), max(p.file), max(p.line), max(p.site), max(p.height), "
        "count(DISTINCT b.host) FROM placed p JOIN (SELECT DISTINCT recording, host FROM batches) b "
        "ON b.recording = p.recording WHERE p.place > 0 GROUP BY p.function"
    )
    found = {}
    for function, name, file, line, site, height, hosts in rows:
        location = f"{file}:{line}" if file and line else str(file or site or "")
        found[str(function)] = (str(name), location, int(height), int(hosts))
    return found


def _units(engine: Engine, fleet: SliceFigures) -> Units:
    """Moments by host and version, around whole numbers near the means of the fleet."""
    about = {"": round(fleet.mean_ns)}
    # The body of a function that nobody breaks down would be a second test of the same time.
    twice = engine.rows(
        "SELECT function FROM placed WHERE kind = 'body' GROUP BY function "
        "HAVING min(CASE WHEN of_closed THEN 1 ELSE 0 END) = 1"
    )
    left_out = {str(row[0]) for row in twice}
    about |= {f: round(x.mean_ns) for f, x in fleet.functions.items() if f not in left_out}
    rows = [
        f"SELECT CAST({quoted(f)} AS STRING) AS function, CAST({value} AS BIGINT) AS about"
        for f, value in about.items()
    ]
    engine.table("centres", " UNION ALL ".join(rows))
    moments = engine.rows(text("moments", about=f"CAST({about['']} AS BIGINT)"))
    return units_of(moments, engine.rows("SELECT above, below, direct FROM inside"))


def _root_height(engine: Engine) -> int:
    rows = engine.rows("SELECT max(root_height) FROM recordings")
    return int(rows[0][0] or 0)


def _factors(
    fleet: SliceFigures,
    units: Units,
    functions: dict[str, tuple[str, str, int, int]],
    root_height: int,
) -> list[Factor]:
    """Ranked by what counts of the share times the specificity, as `vprof report` ranks."""
    factors = []
    for function, found in fleet.functions.items():
        share = found.share.value
        if abs(share) < LEAST and (found.contribution or 0) < LEAST:
            continue
        name, location, height, hosts = functions[function]
        whole = fleet.functions.get(name.removeprefix("body(")[:-1] + function[len(name) :])
        if name.startswith("body(") and whole and abs(whole.share.value - share) < LEAST:
            continue  # as in reports: it is all of its function
        counts = max(0.0, share - _explained(function, fleet, units)) if share > 0 else share
        score = counts * max(1, root_height - height) ** 2
        factors.append(Factor(0, name, location, found, counts, score, hosts))
    factors.sort(key=lambda f: (-f.score, -f.counts, f.function))
    for rank, factor in enumerate(factors, 1):
        factor.rank = rank
    return factors


def _explained(function: str, fleet: SliceFigures, units: Units) -> float:
    """What callees explain of a share: those seen directly in this function and in no other one.

    A callee of several functions counts for each only as far as the others leave it.
    """
    explained = 0.0
    for other, callers in units.callers.items():
        if function in callers and other in fleet.functions and not other.startswith("body("):
            explained += fleet.functions[other].share.value / len(callers)
    return explained


def _between(fleet: SliceFigures, engine: Engine, column: str) -> float:
    """The part of the variance that is between groups: the law of total variance, exactly."""
    total = fleet.total
    below = total.n * total.tt - total.t**2
    if not below:
        return 0.0
    rows = engine.rows(f"SELECT CAST(sum(n) AS BIGINT), sum(t) FROM roots GROUP BY {column}")
    within = sum(int(t) ** 2 / int(n) for n, t in rows if n)
    return max(0.0, (within - total.t**2 / total.n) * total.n / below)


def _matched(engine: Engine, fleet: SliceFigures, values: dict[str, str]) -> dict[str, float]:
    total = fleet.total
    below = total.n * total.tt - total.t**2
    parts = dict.fromkeys(_HOW, 0.0)
    for how, x, xt in engine.rows(text("matched", **values)):
        parts[str(how)] = (total.n * int(xt) - int(x) * total.t) / below if below else 0.0
    return parts


def _losses(engine: Engine) -> dict[str, int]:
    columns = ", ".join(f"CAST(sum(r.{column}) AS BIGINT)" for column in LOSSES)
    row = engine.rows(
        f"SELECT {columns} FROM recordings r JOIN (SELECT DISTINCT recording, name FROM batches) b "
        "ON b.recording = r.recording AND b.name = r.name"
    )[0]
    return {column: int(value or 0) for column, value in zip(LOSSES, row, strict=True)}


def _quantiles(engine: Engine, selection: Selection, values: dict[str, str]) -> dict[str, float]:
    return _all_quantiles(engine, replace(selection, by=""), values).get("", {})


def _all_quantiles(
    engine: Engine, selection: Selection, values: dict[str, str]
) -> dict[str, dict[str, float]]:
    """By slice. `latencies` knows no hour and no single interval, so some slices have none."""
    hours = any(c.column in ("day", "hour") for c in selection.where)
    known = engine.has("latencies") and not selection.needs_intervals and not hours
    if not known or selection.by in ("day", "hour"):
        return {}
    slice = {"host": "r.host", "version": "r.version", "label": "coalesce(s.label, '(others)')"}
    label = values["of_sums"]
    rows = engine.rows(
        f"SELECT {slice.get(selection.by, chr(39) * 2)} AS slice, s.bucket, CAST(sum(s.n) AS BIGINT),"
        " min(s.least_ns), max(s.greatest_ns) FROM latencies s JOIN (SELECT DISTINCT recording, "
        "name, host, version FROM batches) r ON r.recording = s.recording AND r.name = s.name "
        f"WHERE {label} GROUP BY 1, 2 ORDER BY 1, 2"
    )
    by_slice: dict[str, list[tuple[int, int, int, int]]] = defaultdict(list)
    for found, *bucket in rows:
        by_slice[str(found)].append((int(bucket[0]), int(bucket[1]), int(bucket[2]), int(bucket[3])))
    return {found: _quantiles_of(buckets) for found, buckets in by_slice.items()}


def _quantiles_of(buckets: Sequence[tuple[int, int, int, int]]) -> dict[str, float]:
    histogram = Histogram.of(*np.array(buckets, np.int64).T)
    found = {
        name: histogram.quantile(p)
        for name, p in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999))
    }
    return found | {"max": histogram.max}


def _slices(engine: Engine, selection: Selection, with_products: bool) -> list[Slice]:
    add_up_again(engine, selection)
    quantiles = _all_quantiles(engine, selection, values_for(selection))
    found = []
    labelled = values_for(selection)["with_products"] == "TRUE"
    for slice, one in sorted(figures(engine.rows(text("totals")), with_products and labelled).items()):
        top = sorted(one.functions.values(), key=lambda f: -f.share.value)
        found.append(Slice(one, quantiles.get(slice, {}).get("p99"), top))
    return found


def add_up_again(engine: Engine, selection: Selection) -> None:
    """The same for slices; what places are does not change."""
    values: dict[str, Any] = values_for(selection)
    for step in ("batches", "roots", "parts", "unseen"):
        engine.table(step, text(step, **values))
