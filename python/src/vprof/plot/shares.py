"""How the shares of functions change over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .. import api
from ..exact import Floats, Ints
from ..factors import Factors, Options, rank_factors
from ..instances import Factor
from ..jackknife import Joined
from ..sums import Sums
from ..tables import Tables
from ..tree import Tree
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WINDOWS = 16
_FEWEST = 20  # intervals of a window, for a share


def shares_over_time(
    tables: Tables | Sums,
    *,
    name: str | None = None,
    source: str = "auto",
    window: str | pd.Timedelta | None = None,
    k: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """The shares of the first factors in the variance of each window of time.

    The resolution is that of the batches, of which a recording has 33 to 64. A window with fewer
    than 20 intervals is left out.

    Args:
        tables, name, source: as of :func:`vprof.sums`, whose result may be given instead
        window: such as ``"1min"`` or ``"1h"``; by default about 16 windows
        k: how many factors
    """
    own = tables if isinstance(tables, Sums) else api.sums(tables, name=name, source=source)
    factors, tree = rank_factors(own, Options(k=k), with_tail=False)
    begin, groups = _windows(own.batches.begin, window)
    joined = Joined(own, groups)
    enough = joined.n >= _FEWEST
    ax = style.axes(ax, 8, 4.2)
    chosen = _first(factors, k)
    at, present = _with_gaps(begin)
    times = pd.to_datetime(at, unit="us", utc=True)
    for number, factor in enumerate(chosen):
        shares = np.where(enough, _shares(joined, _places_of(factor, tree)), np.nan)
        shares = np.where(present >= 0, shares[present], np.nan)
        dashes = style.DASHES[number % len(style.DASHES)]
        color = style.PALETTE[number % len(style.PALETTE)]
        text = f"{style.shortened(factor.functions[0], 44)}   {100 * factor.share:.1f} % over all"
        marker = "o" if len(times) <= 60 else None
        ax.plot(
            times, shares, color=color, ls=dashes, lw=1.8, marker=marker, ms=3.5, label=text
        )
    style.clean(ax)
    style.percent_axis(ax.yaxis)
    ax.axhline(0, color="#9ca3af", linewidth=0.8)
    ax.set_xlabel("begin, UTC")
    ax.set_ylabel("share of the window's variance")
    _date_axis(ax)
    style.title(
        ax,
        f"What the variance of {own.interval} goes with, over time",
        _told(int(enough.sum()), len(chosen)),
    )
    if chosen:
        columns = 2 if len(chosen) > 2 else 1
        below = (0, -0.16)
        ax.legend(
            frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=below, ncols=columns
        )
    return ax


def _told(windows: int, factors: int) -> str:
    """What a reader should know about the lines."""
    if not factors:
        return "no function has a share of 1 %"
    if not windows:
        return f"no window has {_FEWEST} intervals; choose longer ones"
    return f"{windows} windows; the shares of a function and of what it calls overlap"


def _first(factors: Factors, k: int) -> list[Factor]:
    """The marked factors and, if they are fewer than k, those with the largest weight."""
    functions = [one for one in factors if one.kind == "variance" and one.instances]
    functions.sort(key=lambda one: (not one.marked, -one.weight))
    return functions[:k]


def _places_of(factor: Factor, tree: Tree) -> list[int]:
    """The outermost places of a factor."""
    wanted = (factor.functions[0], factor.keys[0])
    places = [
        node.place
        for node in tree.nodes[1:]
        if node.outermost and (node.node.function, node.node.key) == wanted
    ]
    return places + [one.place for one in tree.repeated if one.name == wanted[0]]


def _shares(joined: Joined, places: list[int]) -> Floats:
    """By group: Cov(X, T) / Var(T) of its own intervals."""
    n = joined.n.astype(object)
    x, xt = joined.x[:, places].sum(axis=1), joined.xt[:, places].sum(axis=1)
    latency, squares = joined.x[:, 0], joined.xx[:, 0]
    covariances, variances = n * xt - x * latency, n * squares - latency * latency
    return np.array(
        [c / v if v > 0 else np.nan for c, v in zip(covariances, variances)], dtype=np.float64
    )


def _windows(begin: Ints, window: str | pd.Timedelta | None) -> tuple[Ints, Ints]:
    """The begin of each window, and the window of each batch; times are µs."""
    first, last = int(begin.min()), int(begin.max())
    if window is None:
        size = max((last - first) // _WINDOWS, 1)
    else:
        size = max(int(pd.Timedelta(window).total_seconds() * 1e6), 1)
        first -= first % size
    known, groups = np.unique((begin - first) // size, return_inverse=True)
    return first + known * size, groups.astype(np.int64)


def _with_gaps(begin: Ints) -> tuple[Ints, Ints]:
    """Times to draw, and the window of each; -1 where there are no windows for long, so that no
    line leads over a time without intervals. (A batch may begin in one window and end in the
    next, which then has none.)"""
    steps = np.diff(begin)
    usual = np.median(steps) if len(steps) else 0
    gaps = np.flatnonzero(steps > 2.5 * usual)
    numbers = np.arange(len(begin), dtype=np.int64)
    return np.insert(begin, gaps + 1, begin[gaps] + 1), np.insert(numbers, gaps + 1, -1)


def _date_axis(ax: Axes) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator, tz="UTC")  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_formatter(formatter)
