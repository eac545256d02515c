"""The functions of the package: from tables to summaries, trees, factors and comparisons."""

from __future__ import annotations

from .collect import subject
from .compare import Comparison, check_comparable, compared
from .errors import InputError
from .factors import Factors, Options, rank_factors
from .rollups import sums_from_rollups
from .rows import sums_from_rows
from .summary import Summary, summarize
from .sums import Sums
from .tables import Tables
from .tails import TailShares
from .tree import Node, Tree

#: Where figures come from: single intervals, roll-ups, or what there is.
SOURCES = ("auto", "rows", "rollups")


def sums(tables: Tables, *, name: str | None = None, source: str = "auto") -> Sums:
    """The exact sums behind all figures.

    Args:
        tables: what :func:`read` returned, or a slice of it
        name: of the intervals; by default the most frequent
        source: ``rows`` for ``intervals`` and ``times``, ``rollups`` for the others; by default
            rows if there are any, since they tell more
    """
    if source not in SOURCES:
        raise InputError(f"source is '{source}'; it may be {', '.join(SOURCES)}")
    if source == "rollups" and tables.sliced:
        raise InputError("roll-ups say nothing about a part of the intervals; use the rows")
    if source == "rows" and not tables.has_rows:
        raise InputError("a recording has no intervals and times; use source='rollups'")
    about = subject(tables, name)
    if source == "rows" or (source == "auto" and tables.has_rows):
        return sums_from_rows(tables, about)
    if not tables.has_rollups:
        raise InputError(
            "some recordings have only rows and some only roll-ups; read them apart, or export "
            "roll-ups of all"
        )
    return sums_from_rollups(tables, about)


def _as_sums(tables: Tables | Sums, name: str | None, source: str) -> Sums:
    return tables if isinstance(tables, Sums) else sums(tables, name=name, source=source)


def summary(tables: Tables | Sums, *, name: str | None = None, source: str = "auto") -> Summary:
    """The latency: count, mean, variance, percentiles, and the same by label.

    Args: as of :func:`sums`, whose result may be given instead of tables.
    """
    return summarize(_as_sums(tables, name, source))


def tree(tables: Tables | Sums, *, name: str | None = None, source: str = "auto") -> Node:
    """The variance tree; its root is the interval.

    Args: as of :func:`sums`, whose result may be given instead of tables.
    """
    own = _as_sums(tables, name, source)
    return Tree(own, TailShares(own)).root


def factors(
    tables: Tables | Sums,
    k: int = 3,
    threshold: float = 0.05,
    dominance: float = 0.9,
    ranking: str = "share",
    specificity: str = "quadratic",
    *,
    least_listed: float = 0.01,
    name: str | None = None,
    source: str = "auto",
) -> Factors:
    """The factors of the variance, ranked.

    Args:
        tables, name, source: as of :func:`sums`, whose result may be given instead of tables
        k: how many are marked
        threshold: the least weight of one that is marked
        dominance: an instance adds nothing to the weight of its factor if one child makes up its
            share but for the fraction 1 - dominance
        ranking: by ``share`` of the latency's variance, or by ``variance`` as the papers do
        specificity: ``linear``, ``quadratic`` or ``cubic`` in the distance from the root's height
        least_listed: factors with a smaller weight, in magnitude and under both rankings, are not
            listed
    """
    options = Options(k, threshold, dominance, ranking, specificity, least_listed)
    return rank_factors(_as_sums(tables, name, source), options)[0]


def compare(
    a: Tables | Sums,
    b: Tables | Sums,
    *,
    name: str | None = None,
    source: str = "auto",
    force: bool = False,
) -> Comparison:
    """What changed from A to B, as ``vprof diff`` has it.

    Args:
        a, b, name, source: as of :func:`sums`, whose results may be given instead of tables
        force: also if the two look like different programs
    """
    everything = Options(least_listed=0)
    sides = []
    for one in (a, b):
        own = _as_sums(one, name, source)
        sides.append((summarize(own), *rank_factors(own, everything, with_tail=False)))
    if not force:
        check_comparable(sides[0][0], sides[0][2].root, sides[1][0], sides[1][2].root)
    return compared(sides[0][0], sides[0][1], sides[1][0], sides[1][1])
