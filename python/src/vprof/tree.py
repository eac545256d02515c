"""The variance tree (dissertation 2.3.2.1; docs/analysis.md, The tree and its figures).

For a node with children i, j, ... (equation 2.2): Var(node) = Σ Var(i) + Σ 2 Cov(i, j).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .exact import Exact, Floats, variance
from .explained import Explained
from .places import UNKNOWN_WAKER, Place, body_name
from .sums import Sums
from .tails import TailShares


@dataclass
class Covariance:
    """Of two children of one node."""

    a: int  #: indices into ``Node.children``
    b: int
    covariance_ns2: float
    contribution: float  #: 2 Cov / Var(T); may be negative


@dataclass
class Node:
    """A node of the variance tree. Its figures are those of its time X; T is the latency."""

    function: str
    key: str
    kind: str
    site: str  #: ``file:line`` of the call, or of the function
    mean_ns: float
    variance_ns2: float
    contribution: float  #: Var(X) / Var(T)
    share: float  #: Cov(X, T) / Var(T); shares of children add up to that of their parent
    tail_share: float | None  #: part of what the slowest 1 % take longer; None: not known
    work_share: float  #: part of the share that goes with the declared work
    label_share: float | None  #: with the label; None: there are too many labels to tell
    count: int  #: intervals in which it had time
    covariances: list[Covariance] = field(default_factory=list, repr=False)
    children: list[Node] = field(default_factory=list, repr=False)  #: by falling variance

    def walk(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
        """This node and all below it, parents first, each with the names that lead to it."""
        stack = [(path, self)]
        while stack:
            above, node = stack.pop()
            own = (*above, node.function)
            yield own, node
            stack += [(own, child) for child in reversed(node.children)]

    def to_frame(self) -> pd.DataFrame:
        """A row per node, parents before their children; ``path`` joins the names from the root."""
        columns = ["mean_ns", "variance_ns2", "contribution", "share", "tail_share"]
        columns += ["work_share", "label_share", "count", "kind", "site", "key"]
        rows = [
            {"path": " > ".join(path), "function": node.function, "depth": len(path) - 1}
            | {column: getattr(node, column) for column in columns}
            for path, node in self.walk()
        ]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """As ``tree`` in report.json."""
        own = {k: v for k, v in self.__dict__.items() if k not in ("covariances", "children")}
        own["covariances"] = [
            {
                "children": [pair.a, pair.b],
                "functions": [self.children[pair.a].function, self.children[pair.b].function],
                "covariance_ns2": pair.covariance_ns2,
                "contribution": pair.contribution,
            }
            for pair in self.covariances
        ]
        own["children"] = [child.to_dict() for child in self.children]
        return own

    def _repr_html_(self) -> str:
        return str(self.to_frame()._repr_html_())


@dataclass
class TreeNode:
    """A node with what the selection of factors needs to know."""

    parent: int
    place: int
    node: Node
    factor: str  #: nodes with the same value are instances of one factor
    definition: str
    height: int
    expandable: bool
    expanded: bool
    children: list[int] = field(default_factory=list)
    #: Whether no ancestor is an instance of the same factor.
    outermost: bool = True
    #: Cov with the other outermost instances of its factor, as a fraction of Var(T).
    with_others: float = 0.0


@dataclass
class Pair:
    """Two siblings."""

    parent: int
    a: int
    b: int
    covariance_ns2: float
    contribution: float


@dataclass
class Repeated:
    """A place that is all of its parent, and so is no node."""

    place: int
    node: int
    factor: str
    name: str


class Tree:
    """Nodes by number, parents before their children; node 0 is the interval."""

    def __init__(self, sums: Sums, tail: TailShares) -> None:
        self.sums = sums
        self.nodes: list[TreeNode] = []
        self.pairs: list[Pair] = []
        self.repeated: list[Repeated] = []
        self._n = sums.n
        self._figures(tail)
        self._build()
        self._add_others()
        self._add_pairs()
        self._raise_heights()

    def _figures(self, tail: TailShares) -> None:
        sums = self.sums
        n, x, latency = self._n, sums.x, int(sums.x[0])
        variances: Exact = n * sums.xx - x * x  # times n²
        covariances: Exact = n * sums.xt - x * latency
        self._all = int(variances[0])
        self._mean = sums.mean()
        self._variance = np.asarray(variances / (n * n), dtype=np.float64)
        self._contribution = self._fraction(variances)
        self._share = self._fraction(covariances)
        self._tail = tail.shares()
        self._explained = Explained(sums)

    def _fraction(self, values: Exact) -> Floats:
        """Of the variance of the latency; ``values`` are times n²."""
        if self._all <= 0:
            return np.zeros(len(values))
        return np.asarray(values / self._all, dtype=np.float64)

    def _children(self) -> tuple[list[list[int]], list[int]]:
        """By place: those that are nodes. And the places that are all of their parents."""
        places = self.sums.places
        children: list[list[int]] = [[] for _ in places]
        repeated = []
        for number, place in enumerate(places):
            if place.parent >= 0 and self.sums.count[number]:
                children[place.parent].append(number)
        for number, own in enumerate(children):
            if len(own) == 1 and _repeats_parent(places[own[0]]):
                repeated.append(own[0])
                children[number] = []
        return children, repeated

    def _build(self) -> None:
        children, repeated = self._children()
        self._add(0, -1)
        for number, tree_node in enumerate(self.nodes):  # grows on the way: breadth first
            own = [self._described(place, number) for place in children[tree_node.place]]
            own.sort(key=lambda o: (-o.node.variance_ns2, o.node.function, o.node.site, o.place))
            tree_node.children = list(range(len(self.nodes), len(self.nodes) + len(own)))
            tree_node.node.children = [one.node for one in own]
            self.nodes += own
        node_of = {node.place: number for number, node in enumerate(self.nodes)}
        for place in repeated:
            owner = node_of.get(self.sums.places[place].parent)
            if owner is None:
                continue
            above, own_place = self.nodes[owner], self.sums.places[place]
            names = (own_place.function, own_place.function)
            if own_place.kind == "body":
                kind = above.node.kind
                names = (body_name(kind, above.factor), body_name(kind, above.node.function))
            self.repeated.append(Repeated(place, owner, *names))

    def _add(self, place: int, parent: int) -> None:
        self.nodes.append(self._described(place, parent))

    def _described(self, number: int, parent: int) -> TreeNode:
        place = self.sums.places[number]
        label = self._explained.by_label[number] if self._explained.by_label is not None else None
        node = Node(
            function=place.function,
            key="",
            kind=place.kind,
            site="",
            mean_ns=float(self._mean[number]),
            variance_ns2=float(self._variance[number]),
            contribution=float(self._contribution[number]),
            share=float(self._share[number]),
            tail_share=self._tail[number],
            work_share=float(self._explained.by_work[number]),
            label_share=None if label is None else float(label),
            count=int(self.sums.count[number]),
        )
        tree_node = TreeNode(parent, number, node, place.function, "", 0, False, False)
        if number == 0:
            node.function = tree_node.factor = self.sums.interval
            tree_node.height = self.sums.root_height
        elif place.kind in ("function", "blame"):
            node.key = tree_node.factor = place.key
            node.site = place.site
            tree_node.height, tree_node.definition = place.height, place.definition
            tree_node.expandable, tree_node.expanded = place.expandable, place.expanded
        elif place.kind == "body":
            self._describe_body(tree_node)
        return tree_node

    def _describe_body(self, tree_node: TreeNode) -> None:
        owner = self.nodes[tree_node.parent]
        tree_node.node.function = body_name(owner.node.kind, owner.node.function)
        tree_node.factor = body_name(owner.node.kind, owner.factor)
        tree_node.definition = owner.definition
        # A library function has no other place than its call.
        has_text = not owner.node.key.endswith("@")
        tree_node.node.site = owner.definition if has_text else owner.node.site

    def _add_others(self) -> None:
        """The time of a function is one variable: the covariances of its instances are part of
        its variance."""
        x, others = self.sums.x, self.sums.others()
        whole: dict[str, int] = {}  # Σx by factor, over its outermost instances
        for tree_node in self.nodes:
            above = tree_node.parent
            while above >= 0 and self.nodes[above].factor != tree_node.factor:
                above = self.nodes[above].parent
            tree_node.outermost = above < 0
            if tree_node.outermost:
                whole[tree_node.factor] = whole.get(tree_node.factor, 0) + x[tree_node.place]
        for repeated in self.repeated:
            if repeated.factor in whole:
                whole[repeated.factor] += x[repeated.place]
        for tree_node in self.nodes:
            own = x[tree_node.place]
            if tree_node.outermost and self._all > 0:
                rest = whole[tree_node.factor] - own
                centred = self._n * others[tree_node.place] - own * rest
                tree_node.with_others = centred / self._all

    def _add_pairs(self) -> None:
        size = len(self.sums.places)
        products = self.sums.products
        different = products.a != products.b
        keys = products.a[different] * size + products.b[different]
        known: dict[int, int] = {}
        for key, xy in zip(keys.tolist(), products.xy[different].tolist()):
            known[key] = known.get(key, 0) + xy
        for parent, tree_node in enumerate(self.nodes):
            places = [self.nodes[child].place for child in tree_node.children]
            x = [self.sums.x[place] for place in places]
            for i, a in enumerate(places):
                for j in range(i + 1, len(places)):
                    b = places[j]
                    xy = known.get(min(a, b) * size + max(a, b), 0)
                    centred = self._n * xy - x[i] * x[j]  # times n²
                    if centred:
                        self._add_pair(parent, i, j, centred)

    def _add_pair(self, parent: int, i: int, j: int, centred: int) -> None:
        """Siblings that never had time in the same interval have a covariance, too."""
        cov = centred / (self._n * self._n)
        contribution = 2 * centred / self._all if self._all > 0 else 0.0
        children = self.nodes[parent].children
        self.pairs.append(Pair(parent, children[i], children[j], cov, contribution))
        self.nodes[parent].node.covariances.append(Covariance(i, j, cov, contribution))

    def _raise_heights(self) -> None:
        """A function is at least 1 higher than what was seen below it, except across a wait."""
        functions = ("function", "blame")
        for tree_node in reversed(self.nodes[1:]):  # children before their parents
            parent = self.nodes[tree_node.parent]
            if tree_node.node.kind in functions and parent.node.kind in functions:
                parent.height = max(parent.height, tree_node.height + 1)

    @property
    def root(self) -> Node:
        return self.nodes[0].node

    @property
    def latency_variance(self) -> float:
        """Var(T), ns²."""
        return float(variance(self._n, int(self.sums.x[0]), int(self.sums.xx[0])))

    def path_to(self, number: int) -> list[str]:
        """Names from the root to a node."""
        path = []
        while number >= 0:
            path.append(self.nodes[number].node.function)
            number = self.nodes[number].parent
        return path[::-1]


def _repeats_parent(place: Place) -> bool:
    """Whether the place, as an only child, is the same as its parent."""
    return place.kind == "body" or place.function == UNKNOWN_WAKER
