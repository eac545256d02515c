"""A report as JSON. Numbers that are not known are null."""

from __future__ import annotations

import json
import math
from typing import Any

from .figures import Estimate, FunctionFigures, SliceFigures
from .report import SCHEMA, FleetReport, Slice
from .versions import VersionChange


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value, "ci95": [_number(estimate.low), _number(estimate.high)]}


def _function(report: FleetReport, found: FunctionFigures) -> dict[str, Any]:
    name, location, height = report.functions[found.function]
    return {
        "function": name,
        "location": location,
        "height": height,
        "mean_ns": found.mean_ns,
        "share": found.share.value,
        "share_ci95": [_number(found.share.low), _number(found.share.high)],
        "contribution": found.contribution,
        "significant": found.significant,
        "visible": found.visible,
    }


def _slice(report: FleetReport, found: Slice) -> dict[str, Any]:
    return {
        "slice": found.figures.slice,
        **_latency(found.figures),
        "p99_ns": found.p99_ns,
        "functions": [_function(report, f) for f in found.top],
    }


def _latency(figures: SliceFigures) -> dict[str, Any]:
    return {
        "intervals": figures.intervals,
        "mean_ns": figures.mean_ns,
        "mean_ci95": [_number(figures.mean.low), _number(figures.mean.high)],
        "stddev_ns": figures.stddev_ns,
    }


def _change(report: FleetReport, change: VersionChange) -> dict[str, Any]:
    return {
        "before": change.before,
        "after": change.after,
        "hosts": [change.hosts_before, change.hosts_after],
        "paired_hosts": change.paired,
        "intervals": [change.intervals_before, change.intervals_after],
        "mean_ns": [change.mean_before_ns, change.mean_after_ns],
        "variance_ns2": [change.variance_before, change.variance_after],
        "changes": [
            {
                "function": report.name_of(one.function),
                "of_the_variance": _estimate(one.variance),
                "variance_significant": one.variance_significant,
                "mean_ns": _estimate(one.mean_ns),
                "mean_significant": one.mean_significant,
            }
            for one in change.changes
        ],
        "not_comparable": [report.name_of(f) for f in change.not_comparable],
    }


def to_json(report: FleetReport) -> str:
    answer = {
        "schema": SCHEMA,
        "interval": report.name,
        "by": report.selection.by,
        "hosts": report.hosts,
        "versions": report.versions,
        "recordings": report.recordings,
        "begin": report.begin,
        "end": report.end,
        **_latency(report.fleet),
        "quantiles_ns": report.quantiles,
        "between_hosts": report.between_hosts,
        "between_versions": report.between_versions,
        "factors": [
            {
                "rank": factor.rank,
                **_function(report, factor.figures),
                "counts": factor.counts,
                "score": factor.score,
                "hosts": factor.hosts,
            }
            for factor in report.factors
        ],
        "slices": [_slice(report, found) for found in report.slices],
        "outliers": [
            {
                "host": o.host,
                "version": o.version,
                "function": report.name_of(o.function),
                "mostly": report.name_of(o.mostly) if o.mostly else None,
                "measure": o.measure,
                "value": o.value,
                "others": o.others,
                "spread": o.spread,
                "difference_ci95": [_number(o.low), _number(o.high)],
                "p": o.p,
            }
            for o in report.outliers.outliers
        ],
        "host_tests": report.outliers.tests,
        "too_few_hosts": report.outliers.too_few,
        "version_changes": [_change(report, change) for change in report.versions_compared],
        "matched": report.matched,
        "losses": report.losses,
        "skipped": report.skipped,
        "incomplete_exports": report.incomplete_exports,
    }
    return json.dumps(answer, indent=1, ensure_ascii=False, allow_nan=False)
