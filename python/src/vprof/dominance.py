"""Which nodes of the variance tree their descendants explain (technical report, Algorithm 2).

docs/analysis.md, Instances; ``analyzer/src/factors/dominance.cpp``.
"""

from __future__ import annotations

from typing import NamedTuple

from .places import WAITS
from .tree import Pair, Tree, TreeNode

_ROUNDING = 1e-12


def _is_unexplained(node: TreeNode) -> bool:
    """The part of a wait that no function is to blame for."""
    return node.node.kind in ("body", "untracked")


class NodeWeight(NamedTuple):
    dominated: bool  #: its descendants explain it, so that it adds nothing to its factor
    counted: float  #: of its share or contribution: what they do not explain


class _Finder:
    def __init__(self, tree: Tree, dominance: float, by_share: bool) -> None:
        self.tree = tree
        self.dominance = dominance
        self.by_share = by_share
        self.dominated = [False] * len(tree.nodes)
        #: By node that may yield: what goes with what it yields to.
        self.blamed = [0.0] * len(tree.nodes)

    def value(self, node: TreeNode) -> float:
        return node.node.share if self.by_share else node.node.contribution

    def find(self) -> list[NodeWeight]:
        for number in range(1, len(self.tree.nodes)):
            self.visit(number)
        for pair in self.tree.pairs:
            self.visit_pair(pair)
        weights = [self.weight(number) for number in range(1, len(self.tree.nodes))]
        return [NodeWeight(False, 0.0), *weights]

    def weight(self, number: int) -> NodeWeight:
        """A wait yields to the work that explains it, even if several functions share that work;
        and a function that only computes, to what took its processor."""
        node = self.tree.nodes[number]
        whole = self.value(node)
        yields = (node.node.kind in WAITS or self.only_computes(number)) and whole > 0
        explained = yields and self.blamed[number] >= self.dominance * whole
        if self.dominated[number] or explained or self.counts_with_function(node):
            return NodeWeight(True, 0.0)
        # Variances do not add up, so there is no rest.
        rest = max(self.blamed[number], 0.0) if yields and self.by_share else 0.0
        return NodeWeight(False, whole - rest)

    def counts_with_function(self, node: TreeNode) -> bool:
        """Whether it is a body, and the function counts what it takes."""
        return (
            self.by_share
            and node.node.kind == "body"
            and self.only_computes(node.parent)
            and not self.dominated[node.parent]
        )

    def makes_up(self, child: TreeNode, parent: TreeNode) -> bool:
        """Whether a child stands for its parent: little is left of the parent without it."""
        whole = self.value(parent)
        if whole <= 0:
            return False
        if self.by_share:
            left = abs(whole - child.node.share)
            return left <= (1 - self.dominance) * whole + _ROUNDING
        return child.node.variance_ns2 >= self.dominance * parent.node.variance_ns2

    def only_computes(self, number: int) -> bool:
        """A function that only computes and is preempted."""
        children = self.tree.nodes[number].children
        kinds = [self.tree.nodes[child].node.kind for child in children]
        return number != 0 and bool(kinds) and all(one in ("body", "preempted") for one in kinds)

    def visit(self, number: int) -> None:
        node = self.tree.nodes[number]
        parent = self.tree.nodes[node.parent]
        holds_parent = self.makes_up(node, parent)
        if parent.node.kind in WAITS and _is_unexplained(node):
            # Only one of the two may count, and the wait has the name that a user knows.
            untracked = node.node.kind == "untracked"
            self.dominated[number] = self.by_share or untracked or holds_parent
            return
        if node.node.kind == "body" and self.only_computes(node.parent):
            self.dominated[number] = holds_parent
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


def node_weights(tree: Tree, dominance: float, by_share: bool) -> list[NodeWeight]:
    """By node; that of the root means nothing."""
    return _Finder(tree, dominance, by_share).find()
