"""Factors with all places where they occur: the first loop of Algorithm 1 (dissertation 2.3.2.2).

``analyzer/src/factors/factor_instances.cpp``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from .dominance import node_weights
from .tree import Pair, Repeated, Tree, TreeNode

#: A covariance with a smaller contribution, in magnitude, is ignored.
_LEAST_COVARIANCE = 0.001


@dataclass
class Instance:
    """One occurrence of a factor in the variance tree."""

    path: list[str]  #: names from the root; of a covariance: to the common parent
    site: str
    contribution: float
    dominated: bool  #: explained by its descendants, so not part of the weight
    share: float
    nested: bool  #: within another instance, whose time holds its own
    call: str = ""  #: of a wait in a library function: ``file:line`` of the call of that function


@dataclass
class Factor:
    """The variance of a function, or the covariance of two. Fractions are of Var(T)."""

    rank: int = 0  #: from 1
    kind: str = "variance"  #: or ``covariance``
    functions: list[str] = field(default_factory=list)  #: one name, or two
    keys: list[str] = field(default_factory=list)
    definition: str = ""
    contribution: float = 0.0
    ci95: tuple[float, float] = (0.0, 0.0)  #: of the contribution
    variance_ns2: float = 0.0
    error_ns2: float = 0.0  #: standard error of it; 0: not known
    share: float = 0.0
    share_ci95: tuple[float, float] = (0.0, 0.0)
    significant: bool = False  #: not 0 by chance, among all that were tested (Holm)
    weight: float = 0.0  #: what the ranking counts
    tail_share: float | None = None  #: None: not known
    tail_share_ci95: tuple[float, float] | None = None  #: None: not known, as from roll-ups
    work_share: float = 0.0
    label_share: float | None = 0.0  #: None: there are too many labels to tell
    height: int = 0
    specificity: float = 0.0
    score: float = 0.0  #: specificity × weight
    variance_score: float = 0.0
    variance_rank: int = 0  #: 0: none
    marked: bool = False  #: look here first
    status: str = "leaf"  #: ``expandable``, ``expanded`` or ``leaf``
    instances: list[Instance] = field(default_factory=list, repr=False)
    #: Standard error of share × Var(T), ns², and degrees of freedom; 0: not known.
    share_error_ns2: float = field(default=0.0, repr=False)
    degrees: float = field(default=0.0, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As in report.json, without the exemplars."""
        own = {k: v for k, v in self.__dict__.items() if k not in ("share_error_ns2", "degrees")}
        own["instances"] = [dict(instance.__dict__) for instance in self.instances]
        for key in ("ci95", "share_ci95", "tail_share_ci95"):
            own[key] = list(own[key]) if own[key] is not None else None
        return own


@dataclass
class Collected:
    """A factor, where it is, and what it weighs by either ranking."""

    factor: Factor = field(default_factory=Factor)
    pairs: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)  #: of the outermost instances
    by_share: float = 0.0
    by_variance: float = 0.0
    #: The greatest magnitude that share or contribution could have, however the functions vary
    #: together.
    potential: float = 0.0


def _status(node: TreeNode) -> str:
    return "expanded" if node.expanded else "expandable" if node.expandable else "leaf"


def _add(to: float | None, more: float | None) -> float | None:
    return None if to is None or more is None else to + more


class Collector:
    """Collects the factors of a tree, by one or two values of ``TreeNode.factor``."""

    def __init__(self, tree: Tree, dominance: float, ranking: str, lists_all: bool) -> None:
        self._tree = tree
        self._ranks_shares = ranking == "share"
        self._lists_all = lists_all
        self._by_share = node_weights(tree, dominance, by_share=True)
        self._by_variance = node_weights(tree, dominance, by_share=False)
        self.factors: dict[tuple[str, str], Collected] = {}

    def collect(self) -> dict[tuple[str, str], Collected]:
        for number in range(1, len(self._tree.nodes)):
            self._add_node(number)
        for repeated in self._tree.repeated:
            self._add_repeated(repeated)
        for number, pair in enumerate(self._tree.pairs):
            self._add_pair(number, pair)
        for key, collected in self.factors.items():
            if key[1]:
                self._finish_covariance(key, collected)
            else:
                collected.potential = math.sqrt(max(0.0, collected.factor.contribution))
            self._sort_instances(collected.factor)
        return dict(sorted(self.factors.items()))

    def _counts_above(self, number: int) -> bool:
        """Whether an instance around this one counts in the share of the factor already. A wait
        that yields to the work below it does not count what is in that work."""
        nodes = self._tree.nodes
        if nodes[number].outermost:
            return False
        above = nodes[number].parent
        while above > 0:
            weight = self._by_share[above]
            counts_all = not weight.dominated and weight.counted == nodes[above].node.share
            if nodes[above].factor == nodes[number].factor and counts_all:
                return True
            above = nodes[above].parent
        return False

    @staticmethod
    def _add_shares(factor: Factor, node: TreeNode) -> None:
        factor.share += node.node.share
        factor.work_share += node.node.work_share
        factor.label_share = _add(factor.label_share, node.node.label_share)
        if node.node.tail_share is not None:
            factor.tail_share = (factor.tail_share or 0.0) + node.node.tail_share

    def _add_node(self, number: int) -> None:
        node = self._tree.nodes[number]
        is_new = (node.factor, "") not in self.factors
        collected = self.factors.setdefault((node.factor, ""), Collected())
        factor = collected.factor
        if is_new:
            factor.functions, factor.keys = [node.node.function], [node.node.key]
            factor.definition, factor.status = node.definition, _status(node)
        factor.height = max(factor.height, node.height)
        if node.outermost:
            collected.places.append(node.place)
            factor.contribution += node.node.contribution + node.with_others
            self._add_shares(factor, node)
        if not self._counts_above(number):
            collected.by_share += self._by_share[number].counted
        collected.by_variance += self._by_variance[number].counted
        weights = self._by_share if self._ranks_shares else self._by_variance
        factor.instances.append(
            Instance(
                self._tree.path_to(number),
                node.node.site,
                node.node.contribution,
                weights[number].dominated,
                node.node.share,
                not node.outermost,
                self._call_that_waits(node),
            )
        )

    def _call_that_waits(self, node: TreeNode) -> str:
        if node.node.kind != "wait" or node.parent < 0:
            return ""
        above = self._tree.nodes[node.parent]
        is_function = above.node.kind in ("function", "blame")
        return above.node.site if is_function and not above.definition else ""

    def _add_repeated(self, repeated: Repeated) -> None:
        """A body that is all of its function is no node, but its time is time of the body."""
        if (repeated.factor, "") not in self.factors and not self._lists_all:
            return
        node = self._tree.nodes[repeated.node]
        collected = self.factors.setdefault((repeated.factor, ""), Collected())
        factor = collected.factor
        if not factor.functions:
            factor.functions, factor.keys = [repeated.name], [""]
            factor.definition = node.definition
        collected.places.append(repeated.place)
        factor.contribution += node.node.contribution
        self._add_shares(factor, node)

    def _add_pair(self, number: int, pair: Pair) -> None:
        a, b = self._tree.nodes[pair.a], self._tree.nodes[pair.b]
        if (b.node.function, b.factor) < (a.node.function, a.factor):
            a, b = b, a
        collected = self.factors.setdefault((a.factor, b.factor), Collected())
        collected.potential += 2 * math.sqrt(
            max(0.0, a.node.contribution) * max(0.0, b.node.contribution)
        )
        if abs(pair.contribution) < _LEAST_COVARIANCE:
            return
        factor = collected.factor
        if not collected.pairs:
            factor.kind = "covariance"
            factor.functions = [a.node.function, b.node.function]
            factor.keys = [a.node.key, b.node.key]
            factor.definition = a.definition
            factor.height = max(a.height, b.height)
            status = {_status(a), _status(b)}
            for one in ("leaf", "expanded", "expandable"):
                factor.status = one if one in status else factor.status
        collected.pairs.append(number)
        factor.contribution += pair.contribution
        factor.instances.append(
            Instance(
                self._tree.path_to(pair.parent),
                a.node.site,
                pair.contribution,
                False,
                a.node.share + b.node.share,
                not (a.outermost and b.outermost),
            )
        )

    def _finish_covariance(self, key: tuple[str, str], collected: Collected) -> None:
        factor = collected.factor
        sides: dict[str, list[float]] = {key[0]: [0.0, 0.0], key[1]: [0.0, 0.0]}
        seen: set[int] = set()
        for number in collected.pairs:
            pair = self._tree.pairs[number]
            for one in (pair.a, pair.b):
                node = self._tree.nodes[one]
                if not node.outermost or one in seen:
                    continue
                seen.add(one)
                sides[node.factor][0] += node.node.share
                sides[node.factor][1] += node.node.contribution
                self._add_shares(factor, node)
        collected.by_variance = factor.contribution
        if factor.contribution <= 0:
            collected.by_share = factor.contribution
            return
        # Two instances of one function are one variable, whose variance has their covariance.
        product = sides[key[0]][1] * sides[key[1]][1]
        if key[0] == key[1] or product <= 0:
            return
        correlation = min(1.0, factor.contribution / 2 / math.sqrt(product))
        least = min(sides[key[0]][0], sides[key[1]][0])
        collected.by_share = max(0.0, 2 * correlation * least)

    def _sort_instances(self, factor: Factor) -> None:
        by_share = self._ranks_shares and factor.kind == "variance"

        def order(one: Instance) -> tuple[bool, float]:
            value = one.share if by_share else one.contribution
            return one.dominated or (by_share and one.nested), -abs(value)

        factor.instances.sort(key=order)
