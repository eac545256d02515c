"""Which factors to look at first, and how much they explain together.

``analyzer/src/factors/marks.cpp``.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from .instances import Factor
from .places import WAITS
from .tree import Node

if TYPE_CHECKING:
    from .factors import Options

_ALL = 0.01  # a share that differs less from 1 is all of it

_ByPath = dict[tuple[str, ...], list[Node]]


def _nodes_of(factor: Factor, by_path: _ByPath) -> list[Node]:
    """The nodes that are the outermost instances of a factor; two calls of one function are two
    nodes with one path."""
    nodes: list[Node] = []
    for instance in factor.instances:
        if instance.nested:
            continue
        for node in by_path[tuple(instance.path)]:
            if factor.kind == "covariance":
                nodes += [child for child in node.children if child.function in factor.functions]
            elif node.kind not in WAITS or node.site == instance.site:
                nodes.append(node)
    return nodes


def may_be_zero(factor: Factor, ranking: str) -> bool:
    """Whether what the ranking shows of a factor may be chance."""
    by_share = ranking == "share" and factor.kind == "variance"
    low, high = factor.share_ci95 if by_share else factor.ci95
    known = low != 0 or high != 0
    return known and (not factor.significant or low <= 0 <= high)


def _is_whole_interval(factor: Factor, by_path: _ByPath) -> bool:
    """Whether a factor takes the whole of every interval and is made of measured others."""
    if factor.kind != "variance" or factor.status != "expanded" or abs(factor.share - 1) > _ALL:
        return False
    return any(node.children and node.kind not in WAITS for node in _nodes_of(factor, by_path))


def mark(factors: list[Factor], options: Options, root: Node) -> tuple[float, bool]:
    """Marks factors. Returns the share of the marked ones, and whether k cut others off."""
    by_path: _ByPath = defaultdict(list)
    for path, node in root.walk():
        by_path[path].append(node)
    marked: set[int] = set()
    left, more = options.k, False
    for factor in factors:
        worth = (
            factor.weight >= options.threshold
            and not may_be_zero(factor, options.ranking)
            and not _is_whole_interval(factor, by_path)
        )
        factor.marked = worth and left > 0
        more = more or (worth and not factor.marked)
        if factor.marked:
            left -= 1
            marked |= {id(node) for node in _nodes_of(factor, by_path)}
    share, stack = 0.0, [root]
    while stack:  # what is within another one counts once
        node = stack.pop()
        if id(node) in marked:
            share += node.share
        else:
            stack += node.children
    return share, more
