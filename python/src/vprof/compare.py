"""Two sets of intervals side by side: what changed, and where?

docs/analysis.md, ``vprof diff``; ``analyzer/src/analysis/diff/``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from .errors import InputError
from .instances import Factor
from .nesting import nest
from .significance import LEVEL, holm, p_of_zero, t_quantile
from .summary import LabelSummary, Range, Summary
from .tree import Node

#: Of a factor, as a fraction of Var(T) in A.
_LEAST_CHANGE = 0.01
#: Of the functions of the smaller profile, one in this many must be in both.
_LEAST_IN_COMMON = 4


@dataclass
class FigureChange:
    """A figure of the latency in A and B, ns; of the variance: ns²."""

    figure: str
    a: float
    b: float
    ratio: float  #: b / a
    ci95: Range = (0.0, 0.0)  #: of the ratio; (0, 0): too few intervals for one
    significant: bool = False  #: changed by more than chance, among all that are compared


@dataclass
class LabelChange:
    """The latency of the intervals with one label."""

    label: str
    count_a: int
    count_b: int
    figures: list[FigureChange]


@dataclass
class FactorChange:
    """What of the variance goes with a factor: Cov(X, T), or Σ 2 Cov of a pair, ns²."""

    kind: str
    functions: list[str]
    a_ns2: float
    b_ns2: float
    change: float  #: (b - a) / Var(T) in A
    ci95: Range
    significant: bool = False
    within: str = ""  #: the function of the innermost listed change around this one
    depth: int = 0


@dataclass
class Comparison:
    """What changed from A to B."""

    interval: str
    count_a: int
    count_b: int
    figures: list[FigureChange]
    labels: list[LabelChange]
    factors: list[FactorChange]  #: those that changed by 1 % of Var(T) in A or more
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """As ``vprof diff --json``, without its conditions."""
        return {k: _plain(v) for k, v in self.__dict__.items()}

    def to_frame(self) -> pd.DataFrame:
        """A row per factor that changed."""
        rows = [{**one.__dict__, "name": " with ".join(one.functions)} for one in self.factors]
        columns = ["name", "a_ns2", "b_ns2", "change", "ci95", "significant", "within", "depth"]
        return pd.DataFrame(rows, columns=columns)

    def figures_frame(self) -> pd.DataFrame:
        """A row per figure of the latency."""
        return pd.DataFrame([one.__dict__ for one in self.figures])

    def _repr_html_(self) -> str:
        frames = (self.figures_frame(), self.to_frame())
        return "".join(str(frame._repr_html_()) for frame in frames)


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if hasattr(value, "__dataclass_fields__"):
        return {k: _plain(v) for k, v in value.__dict__.items()}
    return value


@dataclass
class _Side:
    value: float
    ci95: Range = (0.0, 0.0)
    degrees: float = 0.0


def _is_known(ci95: Range) -> bool:
    return ci95[0] > 0 and ci95[1] > 0


def _log_error(side: _Side) -> tuple[float, float]:
    """The standard error of the logarithm, from its confidence interval, and its degrees."""
    if not _is_known(side.ci95) or side.degrees <= 0:
        return 0.0, 0.0
    reach = math.log(side.ci95[1] / side.ci95[0]) / 2
    return reach / t_quantile(LEVEL, side.degrees), side.degrees


def _combined(*errors: tuple[float, float]) -> tuple[float, float]:
    """Of a difference of independent estimates (Welch 1947, Satterthwaite 1946)."""
    squares = sum(error * error for error, _ in errors)
    parts = sum(error**4 / degrees for error, degrees in errors if degrees > 0)
    return math.sqrt(squares), squares * squares / parts if parts > 0 else 0.0


def _figure(name: str, a: _Side, b: _Side) -> tuple[FigureChange, float]:
    """A figure, and the p-value of the hypothesis that it has not changed."""
    ratio = b.value / a.value if a.value > 0 else math.inf if b.value > 0 else 1.0
    change = FigureChange(name, a.value, b.value, ratio)
    if not (a.value > 0 and b.value > 0 and _is_known(a.ci95) and _is_known(b.ci95)):
        return change, 1.0
    error, degrees = _combined(_log_error(a), _log_error(b))
    reach = t_quantile(LEVEL, degrees) * error if degrees > 0 else 0.0
    change.ci95 = (ratio * math.exp(-reach), ratio * math.exp(reach))
    return change, p_of_zero(math.log(ratio), error, degrees)


def _figures(a: Summary, b: Summary) -> list[tuple[FigureChange, float]]:
    def of(name: str, value: str, ci95: str | None = None, root: bool = False) -> Any:
        sides = []
        for summary in (a, b):
            low, high = getattr(summary, ci95) if ci95 else (0.0, 0.0)
            own = (math.sqrt(low), math.sqrt(high)) if root else (low, high)
            sides.append(_Side(getattr(summary, value), own, summary.degrees))
        return _figure(name, *sides)

    return [
        of("mean", "mean_ns", "mean_ci95"),
        of("stddev", "stddev_ns", "variance_ci95", root=True),
        of("variance", "variance_ns2", "variance_ci95"),
        of("p50", "p50_ns"),
        of("p95", "p95_ns"),
        of("p99", "p99_ns", "p99_ci95"),
        of("p99.9", "p999_ns"),
        of("max", "max_ns"),
    ]


def _label_changes(a: Summary, b: Summary) -> list[LabelChange]:
    changes: list[LabelChange] = []
    others = {label.label: label for label in b.labels}
    for one in a.labels if len(a.labels) >= 2 else []:
        other = others.get(one.label)
        if other is None:
            continue

        def of(name: str, one: LabelSummary = one, other: LabelSummary = other) -> FigureChange:
            value, ci95 = f"{name}_ns", f"{name}_ci95"
            sides = (
                _Side(getattr(label, value), getattr(label, ci95), summary.degrees)
                for label, summary in ((one, a), (other, b))
            )
            return _figure(name, *sides)[0]

        deviations = (_Side(math.sqrt(label.variance_ns2)) for label in (one, other))
        figures = [of("mean"), _figure("stddev", *deviations)[0], of("p50"), of("p95"), of("p99")]
        changes.append(LabelChange(one.label, one.count, other.count, figures))
    return changes


@dataclass
class _Tested:
    change: FactorChange
    a: Factor | None
    b: Factor | None
    tested: bool  # only these may be listed
    p: float


def _paired(a: Sequence[Factor], b: Sequence[Factor]) -> dict[tuple[str, ...], list[Factor | None]]:
    """Factors by the names of their functions: keys contain lines, which may have moved."""
    pairs: dict[tuple[str, ...], list[Factor | None]] = {}
    for side, factors in enumerate((a, b)):
        for factor in factors:
            own = pairs.setdefault(tuple(factor.functions), [None, None])
            own[side] = own[side] or factor
    return dict(sorted(pairs.items()))


def _covariance_of(factor: Factor | None, variance: float) -> float:
    if factor is None:
        return 0.0
    return factor.variance_ns2 if factor.kind == "covariance" else factor.share * variance


def _error_of(factor: Factor | None) -> tuple[float, float]:
    if factor is None:
        return 0.0, 0.0
    pair = factor.kind == "covariance"
    return (factor.error_ns2 if pair else factor.share_error_ns2), factor.degrees


def _factor_changes(
    a: Summary, of_a: Sequence[Factor], b: Summary, of_b: Sequence[Factor]
) -> list[_Tested]:
    """Of all factors. Which are tested does not depend on the change, so that chance does not
    choose what is tested."""
    changes: list[_Tested] = []
    variance = a.variance_ns2
    if variance <= 0:
        return changes
    for functions, (one, other) in _paired(of_a, of_b).items():
        both = [factor for factor in (one, other) if factor is not None]
        if not any(factor.instances for factor in both):
            continue  # bodies that are all of their functions: they say what the functions say
        size = max(abs(factor.variance_ns2) for factor in both)
        before, after = _covariance_of(one, variance), _covariance_of(other, b.variance_ns2)
        difference = (after - before) / variance
        error, degrees = _combined(_error_of(one), _error_of(other))
        reach = t_quantile(LEVEL, degrees) * error / variance if degrees > 0 else 0.0
        ci95 = (difference - reach, difference + reach)
        change = FactorChange(both[0].kind, list(functions), before, after, difference, ci95)
        p = p_of_zero(after - before, error, degrees)
        changes.append(_Tested(change, one, other, size >= _LEAST_CHANGE * variance, p))
    return changes


def compared(
    a: Summary, of_a: Sequence[Factor], b: Summary, of_b: Sequence[Factor]
) -> Comparison:
    """Both sides should list all factors. If nothing has changed, something is significant in at
    most 5 % of the cases: Holm's procedure over everything that is compared."""
    figures = _figures(a, b)
    factors = _factor_changes(a, of_a, b, of_b)
    # The standard deviation is the root of the variance: one test for both.
    tests: list[tuple[FigureChange | FactorChange, float]] = [
        (one, p) for one, p in figures if _is_known(one.ci95) and one.figure != "stddev"
    ]
    tests += [(one.change, one.p) for one in factors if one.tested]
    for (change, _), significant in zip(tests, holm([p for _, p in tests])):
        change.significant = significant
    by_name = {one.figure: one for one, _ in figures}
    by_name["stddev"].significant = by_name["variance"].significant
    listed = [
        one for one in factors if one.tested and abs(one.change.change) >= _LEAST_CHANGE
    ]
    result = Comparison(
        a.name,
        a.count,
        b.count,
        [one for one, _ in figures],
        _label_changes(a, b),
        nest([(one.change, one.a, one.b) for one in listed]),
    )
    if a.name != b.name:
        result.notes.append(f"A measures the interval '{a.name}', B measures '{b.name}'")
    return result


def check_comparable(a: Summary, tree_a: Node, b: Summary, tree_b: Node) -> None:
    """Refuses to compare different kinds of intervals, or programs with less than a quarter of
    their measured functions in common."""
    if a.name != b.name:
        raise InputError(
            f"A measures the interval '{a.name}', B measures '{b.name}'; force=True compares them"
        )
    names = [
        {node.function for _, node in tree.walk() if node.key and not node.key.endswith("@")}
        for tree in (tree_a, tree_b)
    ]
    common = len(names[0] & names[1])
    if common * _LEAST_IN_COMMON < min(len(names[0]), len(names[1])):
        raise InputError(
            f"of {len(names[0])} and {len(names[1])} measured functions, A and B have {common} in "
            "common: they look like different programs; force=True compares them"
        )
