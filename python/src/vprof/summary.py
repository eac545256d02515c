"""The latency of the intervals: ``interval`` in report.json.

``analyzer/src/factors/latency_summary.cpp``; docs/analysis.md, Moments and Confidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .exact import Floats, Ints, covariance, variance
from .explained import Explained
from .jackknife import Joined, jackknife, join
from .latency import Bins
from .significance import LEVEL, t_quantile
from .sums import Sums

# Intervals with one label, for a confidence interval.
_LEAST_OF_LABEL = 20

Range = tuple[float, float]


@dataclass
class LabelSummary:
    """Latency of the intervals with one label; percentiles to about 3 %, ns."""

    label: str  #: empty: intervals without one
    count: int
    mean_ns: float
    variance_ns2: float
    p50_ns: float
    p95_ns: float
    p99_ns: float
    mean_ci95: Range = (0.0, 0.0)  #: (0, 0): too few intervals for one
    p50_ci95: Range = (0.0, 0.0)
    p95_ci95: Range = (0.0, 0.0)
    p99_ci95: Range = (0.0, 0.0)


@dataclass
class WorkSummary:
    """The declared work; intervals without a declaration have 0 units."""

    declared: int | None = 0  #: intervals with an amount; None: roll-ups do not tell
    mean: float = 0.0  #: units per interval
    ns_per_unit: float = 0.0  #: slope of the least-squares line
    explained: float = 0.0  #: r²


@dataclass
class Summary:
    """Latency of the completed intervals of one name. The divisor of a variance is n."""

    name: str
    count: int
    incomplete: int
    mean_ns: float
    variance_ns2: float
    stddev_ns: float
    p50_ns: float  #: percentiles to less than 1/1024 of their value
    p95_ns: float
    p99_ns: float
    p999_ns: float
    max_ns: float
    #: Most frequent first, 64 at most.
    labels: list[LabelSummary] = field(repr=False)
    between_labels: float | None  #: part of the variance; None: there are too many labels
    work: WorkSummary
    mean_ci95: Range = (0.0, 0.0)  #: (0, 0): too few intervals for one
    variance_ci95: Range = (0.0, 0.0)
    p99_ci95: Range = (0.0, 0.0)
    degrees: float = field(default=0.0, repr=False)  #: of freedom of these

    def to_dict(self) -> dict[str, Any]:
        """As ``interval`` in report.json, without ``loop_queue``, which no table has."""
        own: dict[str, Any] = {k: _plain(v) for k, v in self.__dict__.items() if k != "degrees"}
        own["labels"] = [
            {k: _plain(v) for k, v in label.__dict__.items()} for label in self.labels
        ]
        own["work"] = dict(self.work.__dict__)
        return own

    def to_frame(self) -> pd.DataFrame:
        """A row for all intervals, and one per label."""
        columns = ("count", "mean_ns", "variance_ns2", "p50_ns", "p95_ns", "p99_ns", "mean_ci95")
        rows: list[Summary | LabelSummary] = [self, *self.labels]
        index = ["all", *(label.label or "(none)" for label in self.labels)]
        return pd.DataFrame([{c: getattr(row, c) for c in columns} for row in rows], index=index)

    def _repr_html_(self) -> str:
        return str(self.to_frame()._repr_html_())


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _labels(sums: Sums) -> list[LabelSummary]:
    labels = []
    for label, own in sums.labels.items():
        bins = sums.label_latencies[label].bins()
        p50, p95, p99 = (bins.quantile(p) for p in (0.50, 0.95, 0.99))
        of_label = float(variance(own.n, own.x, own.xx))
        labels.append(LabelSummary(label, own.n, own.x / own.n, of_label, p50, p95, p99))
    return sorted(labels, key=lambda one: -one.count)


def _between_labels(sums: Sums) -> float | None:
    """The variance of the labels' means, as a part of that of all (law of total variance)."""
    if not sums.labels_known:
        return None
    n, x, xx = sums.n, int(sums.x[0]), int(sums.xx[0])
    if len(sums.labels) < 2 or n * xx - x * x <= 0:
        return 0.0
    # n_l (x_l / n_l - x / n)² = (x_l n - x n_l)² / (n_l n²)
    between = sum((o.x * n - x * o.n) ** 2 / (o.n * n * n * n) for o in sums.labels.values())
    return float(between / variance(n, x, xx))


def _work(sums: Sums) -> WorkSummary:
    if sums.work.declared == 0:
        return WorkSummary()
    explained = Explained(sums)
    mean = sums.work.w / sums.n
    return WorkSummary(
        sums.work.declared, mean, explained.ns_per_unit, float(explained.by_work[0])
    )


def _log_jackknife(value: float, without: Floats, n: Ints) -> tuple[Range, float]:
    """Of a positive figure by its logarithm, which is closer to normal; and the relative error."""
    logs = np.log(np.maximum(without, 1e-9))
    estimate = jackknife(math.log(value), logs, n)
    return (math.exp(estimate.ci95[0]), math.exp(estimate.ci95[1])), estimate.error


def _between_ranks(p: float, t: float, independent: float, quantile: Callable[[float], float]) -> Range:
    """A quantile lies between two ranks, as for that number of independent intervals. (0, 0): there
    are too few intervals for the upper one."""
    reach = t * math.sqrt(p * (1 - p) / max(independent, 1.0))
    return (0.0, 0.0) if p + reach >= 1 else (quantile(max(p - reach, 0.0)), quantile(p + reach))


def _label_confidence(sums: Sums, label: LabelSummary, part: float, t: float) -> None:
    """There are no batches by label: as large a part of its intervals counts as independent as of
    all intervals."""
    if label.count < _LEAST_OF_LABEL or label.mean_ns <= 0:
        return
    n = max(part * label.count, 1.0)
    error = math.sqrt(label.variance_ns2 / n) / label.mean_ns
    label.mean_ci95 = (label.mean_ns * math.exp(-t * error), label.mean_ns * math.exp(t * error))
    bins: Bins = sums.label_latencies[label.label].bins()

    def around(p: float) -> Range:
        return _between_ranks(p, t, n, bins.quantile)

    label.p50_ci95, label.p95_ci95, label.p99_ci95 = around(0.50), around(0.95), around(0.99)


def _confidence(sums: Sums, summary: Summary) -> None:
    joined = Joined(sums, join(sums))
    if len(joined) < 2 or summary.variance_ns2 <= 0:
        return
    x, xx = joined.without(joined.x[:, 0]), joined.without(joined.xx[:, 0])
    rest = joined.rest_n.tolist()
    means = np.array([a / n for n, a in zip(rest, x)], dtype=np.float64)
    variances = np.array([covariance(n, a, a, b) for n, a, b in zip(rest, x, xx)])
    summary.mean_ci95, error = _log_jackknife(summary.mean_ns, means, joined.n)
    summary.variance_ci95, _ = _log_jackknife(summary.variance_ns2, variances, joined.n)
    summary.degrees = float(len(joined) - 1)
    n = float(sums.n)
    variation = summary.stddev_ns / summary.mean_ns
    independent = min(n, (variation / error) ** 2) if error > 0 else n
    t = t_quantile(LEVEL, summary.degrees)
    summary.p99_ci95 = _between_ranks(0.99, t, independent, sums.latencies.quantile)
    for label in summary.labels:
        _label_confidence(sums, label, independent / n, t)


def summarize(sums: Sums) -> Summary:
    """The figures of the latency."""
    n, x, xx = sums.n, int(sums.x[0]), int(sums.xx[0])
    of_latency = float(variance(n, x, xx))
    latencies = sums.latencies
    p50, p95, p99, p999 = (latencies.quantile(p) for p in (0.5, 0.95, 0.99, 0.999))
    summary = Summary(
        sums.interval,
        n,
        sums.incomplete,
        x / n,
        of_latency,
        math.sqrt(of_latency),
        p50,
        p95,
        p99,
        p999,
        latencies.max,
        _labels(sums),
        _between_labels(sums),
        _work(sums),
    )
    _confidence(sums, summary)
    return summary
