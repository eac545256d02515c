"""Ranked factors: Algorithm 1 of the dissertation (2.3.2.2) by share or by variance.

docs/analysis.md, Ranking; ``analyzer/src/factors/factor_selection.cpp`` and ``marks.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, overload

import pandas as pd

from .errors import InputError
from .instances import Collected, Collector, Factor
from .jackknife import FactorEstimate, Jackknife
from .marks import mark
from .significance import holm
from .sums import Sums
from .tails import TailShares
from .tree import Tree

#: Pairs and functions that cannot reach this, however they vary together, are not tested.
_LEAST_TESTED = 0.01

#: Ranking rules: the power of (height of the graph - height of the factor).
POWERS: Final = {"linear": 1, "quadratic": 2, "cubic": 3}
RANKINGS: Final = ("share", "variance")


@dataclass(frozen=True)
class Options:
    """As ``factors`` in ``vprof.json``; ``least_listed`` as in ``analyzer.h``."""

    k: int = 3
    threshold: float = 0.05
    dominance: float = 0.9
    ranking: str = "share"
    specificity: str = "quadratic"
    least_listed: float = 0.01

    def __post_init__(self) -> None:
        if self.ranking not in RANKINGS:
            raise InputError(f"ranking is '{self.ranking}'; it may be {' or '.join(RANKINGS)}")
        if self.specificity not in POWERS:
            names = ", ".join(POWERS)
            raise InputError(f"specificity is '{self.specificity}'; it may be one of {names}")
        if self.k < 1 or not 0 <= self.threshold <= 1 or not 0 < self.dominance <= 1:
            raise InputError("k is at least 1, threshold in [0, 1], and dominance in (0, 1]")


class Factors(Sequence[Factor]):
    """Ranked factors, a sequence; shown as a table in a notebook.

    Attributes:
        marked_share: share of the variance that the marked factors have together
        more_to_tell: whether further ones would be marked if k were larger
        notes: what speaks against relying on them, one line each
    """

    def __init__(self, factors: list[Factor], options: Options, tree: Tree) -> None:
        self._factors = factors
        self.options = options
        self.marked_share, self.more_to_tell = mark(factors, options, tree.root)
        self.notes: list[str] = []
        if tree.sums.n < 1000:
            self.notes.append(
                f"only {tree.sums.n} intervals: below 1000 the ranking may not hold"
            )

    @overload
    def __getitem__(self, index: int) -> Factor: ...
    @overload
    def __getitem__(self, index: slice) -> list[Factor]: ...
    def __getitem__(self, index: int | slice) -> Factor | list[Factor]:
        return self._factors[index]

    def __len__(self) -> int:
        return len(self._factors)

    def __iter__(self) -> Iterator[Factor]:
        return iter(self._factors)

    def to_frame(self, columns: Iterable[str] | None = None) -> pd.DataFrame:
        """A row per factor, with the fields of :class:`Factor`; ``name`` joins its functions."""
        wanted = list(
            columns
            or ("rank", "name", "share", "share_ci95", "contribution", "tail_share", "weight")
            + ("height", "score", "significant", "marked", "status")
        )
        rows = [{**one.__dict__, "name": " with ".join(one.functions)} for one in self]
        return pd.DataFrame(rows, columns=wanted)

    def __repr__(self) -> str:
        return str(self.to_frame().to_string(index=False))

    def _repr_html_(self) -> str:
        return str(self.to_frame()._repr_html_())


class _Ranking:
    def __init__(self, tree: Tree, options: Options, tail: TailShares | None) -> None:
        self.tree = tree
        self.options = options
        self.variance = tree.latency_variance
        self.jackknife = Jackknife(tree.sums, self.variance, tail)
        self.testable = len(tree.sums.batches) > 1
        nodes = tree.nodes
        self.height = max(nodes[0].height, *(node.height + 1 for node in nodes[1:]), 0)
        lists_all = options.least_listed == 0
        self.factors = Collector(tree, options.dominance, options.ranking, lists_all).collect()
        self.plain: dict[tuple[str, str], FactorEstimate] = {}

    def rank(self) -> list[Factor]:
        significant = self.test()
        listed = []
        for key, collected in self.factors.items():
            factor = collected.factor
            factor.significant = significant.get(key, False)
            if not factor.functions or not self.is_large(collected):
                continue
            self.add_estimates(key, collected)
            pair = factor.kind == "covariance"
            may_be_zero = not significant.get(key, False)
            if self.testable and pair and may_be_zero and self.options.least_listed > 0:
                continue
            self.finish(collected)
            listed.append(factor)
        return self.numbered(listed)

    def is_large(self, collected: Collected) -> bool:
        least = self.options.least_listed
        return abs(collected.by_share) >= least or abs(collected.by_variance) >= least

    def estimate(self, collected: Collected, tail_share: float | None = None) -> FactorEstimate:
        factor = collected.factor
        if factor.kind == "covariance":
            nodes = self.tree.nodes
            pairs = [self.tree.pairs[number] for number in collected.pairs]
            places = [(nodes[pair.a].place, nodes[pair.b].place) for pair in pairs]
            return self.jackknife.of_pairs(places, factor.contribution)
        return self.jackknife.of_places(
            collected.places, factor.contribution, factor.share, tail_share
        )

    def test(self) -> dict[tuple[str, str], bool]:
        """Which of the factors that could matter do not vary (together) by chance."""
        keys, p_values = [], []
        for key, collected in self.factors.items():
            if collected.potential < _LEAST_TESTED:
                continue
            keys.append(key)
            if not collected.factor.functions:
                p_values.append(1.0)
                continue
            found = self.plain[key] = self.estimate(collected, collected.factor.tail_share)
            p_values.append(found.p)
        return dict(zip(keys, holm(p_values)))

    def add_estimates(self, key: tuple[str, str], collected: Collected) -> None:
        factor = collected.factor
        found = self.plain.get(key) or self.estimate(collected, factor.tail_share)
        pair = factor.kind == "covariance"
        factor.ci95 = found.contribution.ci95
        factor.variance_ns2 = found.variance.value
        factor.error_ns2 = found.variance.error
        factor.degrees = found.variance.degrees if pair else found.covariance.degrees
        factor.share_ci95 = (factor.share, factor.share)
        if not pair:
            factor.share_ci95 = found.share.ci95
            factor.share_error_ns2 = found.covariance.error
        if found.tail_share.degrees > 0:
            factor.tail_share_ci95 = found.tail_share.ci95
        low, high = factor.ci95 if pair else factor.share_ci95
        factor.significant = factor.significant and (low > 0 or high < 0)

    def finish(self, collected: Collected) -> None:
        factor, options = collected.factor, self.options
        distance = max(self.height - factor.height, 0)
        factor.specificity = float(distance ** POWERS[options.specificity])
        by_share = options.ranking == "share"
        factor.weight = collected.by_share if by_share else collected.by_variance
        factor.score = factor.specificity * factor.weight
        factor.variance_score = factor.specificity * collected.by_variance
        # A mark for numbered(): there is no rank yet.
        factor.variance_rank = int(abs(collected.by_variance) >= options.least_listed)

    @staticmethod
    def numbered(factors: list[Factor]) -> list[Factor]:
        """Sorted, and numbered under both rankings."""

        def name(one: Factor) -> tuple[list[str], list[str], bool]:
            return one.functions, one.keys, one.kind == "covariance"

        rank = 0
        for factor in sorted(factors, key=lambda one: (-one.variance_score, name(one))):
            if factor.variance_rank:
                rank += 1
                factor.variance_rank = rank
        factors.sort(key=lambda one: (-one.score, -one.weight, name(one)))
        for number, factor in enumerate(factors, 1):
            factor.rank = number
        return factors


def rank_factors(sums: Sums, options: Options, *, with_tail: bool = True) -> tuple[Factors, Tree]:
    """The factors of an interval, and the tree that they are from."""
    tail = TailShares(sums)
    tree = Tree(sums, tail)
    factors = _Ranking(tree, options, tail if with_tail else None).rank()
    return Factors(factors, options, tree), tree
