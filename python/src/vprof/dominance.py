"""Which nodes of the variance tree their descendants explain (technical report, Algorithm 2).

docs/analysis.md, Instances; ``analyzer/src/factors/dominance.cpp``.
"""

from __future__ import annotations

from .places import WAITS
from .tree import Pair, Tree, TreeNode

_ROUNDING = 1e-12


def _is_unexplained(node: TreeNode) -> bool:
    """The part of a wait that no function is to blame for."""
    return node.node.kind in ("body", "untracked")


class _Finder:
    def __init__(self, tree: Tree, dominance: float, by_share: bool) -> None:
        self.tree = tree
        self.dominance = dominance
        self.by_share = by_share
        self.dominated = [False] * len(tree.nodes)
        self.blamed = [0.0] * len(tree.nodes)  # of waits: what goes with work below them

    def value(self, node: TreeNode) -> float:
        return node.node.share if self.by_share else node.node.contribution

    def find(self) -> list[bool]:
        for number in range(1, len(self.tree.nodes)):
            self.visit(number)
        for pair in self.tree.pairs:
            self.visit_pair(pair)
        # A wait yields to the work that explains it, even if several functions share that work.
        for number, node in enumerate(self.tree.nodes[1:], 1):
            value = self.value(node)
            if node.node.kind in WAITS and value > 0:
                if self.blamed[number] >= self.dominance * value:
                    self.dominated[number] = True
        return self.dominated

    def makes_up(self, child: TreeNode, parent: TreeNode) -> bool:
        """Whether a child stands for its parent: little is left of the parent without it."""
        whole = self.value(parent)
        if whole <= 0:
            return False
        if self.by_share:
            left = abs(whole - child.node.share)
            return left <= (1 - self.dominance) * whole + _ROUNDING
        return child.node.variance_ns2 >= self.dominance * parent.node.variance_ns2

    def is_whole_function(self, node: TreeNode) -> bool:
        """The body of a function that only computes and is preempted: it is the function."""
        siblings = self.tree.nodes[node.parent].children
        return (
            node.node.kind == "body"
            and node.parent != 0
            and all(self.tree.nodes[s].node.kind in ("body", "preempted") for s in siblings)
        )

    def visit(self, number: int) -> None:
        node = self.tree.nodes[number]
        parent = self.tree.nodes[node.parent]
        holds_parent = self.makes_up(node, parent)
        if parent.node.kind in WAITS and _is_unexplained(node):
            # Only one of the two may count, and the wait has the name that a user knows.
            self.dominated[number] = node.node.kind == "untracked" or holds_parent
            return
        if holds_parent and self.is_whole_function(node):
            self.dominated[number] = True
            return
        self.blamed[node.parent] += self.value(node)
        if holds_parent:
            self.dominated[node.parent] = True

    def visit_pair(self, pair: Pair) -> None:
        if self.by_share:  # covariances are within the shares already
            return
        nodes = self.tree.nodes
        parent = nodes[pair.parent]
        explained = sum(not _is_unexplained(nodes[one]) for one in (pair.a, pair.b))
        self.blamed[pair.parent] += explained * pair.contribution / 2
        counts = parent.node.kind not in WAITS or explained == 2
        whole = parent.node.variance_ns2
        if counts and whole > 0 and 2 * pair.covariance_ns2 >= self.dominance * whole:
            self.dominated[pair.parent] = True


def dominated_nodes(tree: Tree, dominance: float, by_share: bool) -> list[bool]:
    """By node: whether its descendants explain it, so that it adds nothing to its factor."""
    return _Finder(tree, dominance, by_share).find()
