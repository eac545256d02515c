"""What the plots have in common: colours, units, and names that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colours that people with any colour vision tell apart (Okabe and Ito 2008), without the yellow,
#: which is too pale for lines.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MUTED = "#6b7280"
GRID = "#e5e7eb"

#: Of the kinds of places: fill colours that carry dark text.
KINDS = {
    "function": ("function", "#a9cfe8"),
    "body": ("own time: body(f)", "#dbe9f4"),
    "wait": ("wait", "#f4b183"),
    "blame": ("work that was waited for", "#a8d8c5"),
    "queue": ("queue", "#f7d78a"),
    "parked": ("parked", "#f7d78a"),
    "preempted": ("without a processor", "#d9d2c5"),
    "untracked": ("not tracked", "#e5e7eb"),
}

#: So that lines which lie on each other can be seen.
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))


def human_time(ns: float) -> str:
    """Three digits and a unit: ``1.25 ms``."""
    for size, unit in _UNITS:
        if abs(ns) >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def _cuts(name: str) -> list[int]:
    """Where each ``::`` is that is in no template arguments or parentheses."""
    depth, cuts = 0, []
    for at, char in enumerate(name):
        depth += (char in "<(") - (char in ">)")
        if depth == 0 and name[at : at + 2] == "::":
            cuts.append(at)
    return cuts


def shortened(name: str, most: int) -> str:
    """A name, shortened to a number of characters: namespaces go first, then what is near the end.

    >>> [shortened("orders::Stock::reserve_stock", most) for most in (28, 22, 14, 11)]
    ['orders::Stock::reserve_stock', '…::reserve_stock', 'reserve_stock', 'reserve_st…']
    """
    if len(name) <= most:
        return name
    cuts = _cuts(name)
    for at in cuts:
        if len(name) - at + 1 <= most:
            return "…" + name[at:]
    if cuts:
        name = name[cuts[-1] + 2 :]
    if len(name) <= most:
        return name
    if most < 5:
        return name[: most - 1] + "…" if most >= 2 else ""
    tail = 1 if name.endswith(")") else (most - 1) // 3 if most >= 14 else 0
    return name[: most - 1 - tail] + "…" + name[len(name) - tail :]


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes to draw into."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    own: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return own


def clean(ax: Axes, *, grid: str = "both") -> None:
    """No frame, a quiet grid behind the data."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#9ca3af")
    ax.grid(True, axis=grid, color=GRID, linewidth=0.8)  # type: ignore[arg-type]
    ax.set_axisbelow(True)
    ax.tick_params(colors="#374151", labelsize=9)


def title(ax: Axes, text: str, below: str = "") -> None:
    """A title at the left, and a smaller line below it."""
    ax.set_title(text, loc="left", fontsize=11, fontweight="bold", pad=20 if below else 8)
    if below:
        ax.annotate(
            below,
            (0, 1),
            (0, 5),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=8.5,
            color=MUTED,
        )


def time_axis(axis: Any) -> None:
    """Ticks of an axis in ns with units."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: human_time(value)))
    axis.set_minor_formatter(NullFormatter())


def percent_axis(axis: Any) -> None:
    """Ticks of an axis of fractions in per cent."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.4g} %"))
    axis.set_minor_formatter(NullFormatter())
