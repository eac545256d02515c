"""The variance flame graph: which path holds how much of the variance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import api
from ..sums import Sums
from ..tables import Tables
from ..tree import Node
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT = 0.3  # of a level, inches
_CHARACTER = 0.075  # about the width of one, inches


@dataclass
class _Frame:
    """Nodes with the same path: call sites of one function share a frame."""

    name: str
    kind: str
    share: float = 0.0
    #: Σ of the positive shares of the leaves below.
    width: float = 0.0
    children: dict[str, _Frame] = field(default_factory=dict)

    def add(self, node: Node) -> float:
        """Adds a node and all below it. Returns its negative shares, which have no width."""
        self.share += node.share
        if not node.children:
            self.width += max(node.share, 0.0)
            return min(node.share, 0.0)
        negative = 0.0
        for child in node.children:
            frame = self.children.setdefault(child.function, _Frame(child.function, child.kind))
            before = frame.width
            negative += frame.add(child)
            self.width += frame.width - before
        return negative

    def depth(self, least: float) -> int:
        below = [child.depth(least) for child in self.children.values() if child.width >= least]
        return 1 + max(below, default=0)


def flame(
    tables: Tables | Sums | Node,
    *,
    name: str | None = None,
    source: str = "auto",
    least: float = 0.005,
    ax: Axes | None = None,
) -> Axes:
    """The variance tree as a flame graph, the interval on top.

    A frame is as wide as the positive shares of the leaves below it, as in ``vprof export
    --folded``. Negative shares have no width; the line below the title says how much they are.

    Args:
        tables, name, source: as of :func:`vprof.sums`, whose result may be given instead, or the
            result of :func:`vprof.tree`
        least: frames with a smaller part of the width are not drawn
    """
    root = tables if isinstance(tables, Node) else api.tree(tables, name=name, source=source)
    frame = _Frame(root.function, root.kind)
    negative = frame.add(root)
    least *= frame.width
    levels = frame.depth(least)
    own = ax is None
    ax = style.axes(ax, 9, 1.3 + _HEIGHT * levels)
    ax.set_xlim(0, max(frame.width, 1e-12))
    ax.set_ylim(levels, 0)
    ax.axis("off")
    figure_width = 9.0 if own else float(ax.get_window_extent().width) / float(ax.figure.dpi)
    kinds = _draw(ax, frame, least, figure_width / max(frame.width, 1e-12))
    below = f"mean {style.human_time(root.mean_ns)}, standard deviation "
    below += style.human_time(root.variance_ns2**0.5)
    if negative < -0.0005:
        below += f"; negative shares of {100 * negative:.1f} % in all have no width"
    style.title(ax, f"Variance of {root.function}", below)
    _legend(ax, kinds)
    return ax


def _draw(ax: Axes, root: _Frame, least: float, inches: float) -> set[str]:
    """Draws frames; ``inches`` is the width of a share of 1. Returns their kinds."""
    from matplotlib.patches import Rectangle

    kinds = set()
    stack = [(root, 0.0, 0)]
    while stack:
        frame, left, level = stack.pop()
        kinds.add(frame.kind)
        color = style.KINDS.get(frame.kind, style.KINDS["function"])[1]
        ax.add_patch(
            Rectangle(
                (left, level), frame.width, 0.94, facecolor=color, edgecolor="white", linewidth=0.8
            )
        )
        room = int((frame.width * inches - 0.06) / _CHARACTER)
        share = f"  {100 * frame.share:.1f} %"
        text = style.shortened(frame.name, room - len(share)) if room > len(share) + 5 else ""
        text = text + share if text else style.shortened(frame.name, room) if room >= 4 else ""
        if text:
            ax.text(
                left + 0.04 / inches, level + 0.5, text, va="center", fontsize=8, color="#111827"
            )
        for child in sorted(frame.children.values(), key=lambda one: -one.width):
            if child.width >= least and child.width > 0:
                stack.append((child, left, level + 1))
            left += child.width
    return kinds


def _legend(ax: Axes, kinds: set[str]) -> None:
    from matplotlib.patches import Patch

    shown = {label: color for kind, (label, color) in style.KINDS.items() if kind in kinds}
    ax.legend(
        handles=[Patch(facecolor=color, label=label) for label, color in shown.items()],
        loc="upper left",
        bbox_to_anchor=(0, 0),
        ncols=min(len(shown), 4),
        frameon=False,
        fontsize=8.5,
        handlelength=1.2,
    )
