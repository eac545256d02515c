"""The distribution of the latency by label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import api
from ..latency import Histogram
from ..sums import Sums
from ..tables import Tables
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def latency_by_label(
    tables: Tables | Sums,
    *,
    name: str | None = None,
    source: str = "auto",
    most: int = 6,
    ax: Axes | None = None,
) -> Axes:
    """How many of the intervals with each label are slower than any latency.

    Both scales are logarithmic, so that the slowest 1 % takes as much room as the rest.

    Args:
        tables, name, source: as of :func:`vprof.sums`, whose result may be given instead
        most: labels that get a line of their own, the most frequent ones
    """
    own = tables if isinstance(tables, Sums) else api.sums(tables, name=name, source=source)
    ax = style.axes(ax, 8, 4.2)
    labels = sorted(own.label_latencies, key=lambda one: -own.label_latencies[one].count)
    shown = labels[:most]
    lines = [(label or "(no label)", own.label_latencies[label]) for label in shown]
    if len(labels) != 1:
        lines.insert(0, ("all", own.latencies))
    for number, (label, histogram) in enumerate(lines):
        is_all = label == "all" and len(lines) > 1
        color = "#9ca3af" if is_all else style.PALETTE[(number - (len(lines) > 1)) % 7]
        latency, slower = _slower(histogram)
        p99 = style.human_time(histogram.quantile(0.99))
        text = f"{style.shortened(label, 32)}   {histogram.count:,} intervals, p99 {p99}"
        width = 4.5 if is_all else 1.8
        ax.step(latency, slower, where="post", color=color, linewidth=width, label=text)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(min(0.5 / own.n, 0.009), 1.15)
    style.clean(ax)
    style.time_axis(ax.xaxis)
    style.percent_axis(ax.yaxis)
    ax.set_xlabel("latency")
    ax.set_ylabel("slower than that")
    left = len(labels) - len(shown)
    below = f"{left} rarer labels are only in “all”" if left else ""
    style.title(ax, f"Latency of {own.interval}", below)
    ax.legend(frameon=False, fontsize=8.5, loc="lower left")
    return ax


def _slower(histogram: Histogram) -> tuple[np.ndarray, np.ndarray]:
    """Latencies, and the part of the intervals that is slower than each."""
    latency = np.concatenate([histogram.least[:1], histogram.greatest])
    faster = np.concatenate([[0], np.cumsum(histogram.counts)])
    slower = (histogram.count - faster) / max(histogram.count, 1)
    slower[-1] = np.nan  # nothing is slower than the slowest
    return latency.astype(np.float64), slower
