"""What changed from one version to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .figures import Estimate
from .hosts import tested_functions
from ..significance import holm
from .units import Floats, Units

#: From this number of hosts that ran both versions on, each host is compared with itself.
FEWEST_PAIRS = 4


@dataclass
class Change:
    function: str
    #: What of the variance came (or went, below 0) with the function, in parts of that before.
    variance: Estimate
    #: The same of the mean, in ns.
    mean_ns: Estimate
    variance_significant: bool = False
    mean_significant: bool = False


@dataclass
class VersionChange:
    before: str
    after: str
    hosts_before: int
    hosts_after: int
    #: Hosts that ran both, if they are compared with themselves; else 0.
    paired: int
    intervals_before: int
    intervals_after: int
    mean_before_ns: float
    mean_after_ns: float
    variance_before: float
    variance_after: float
    changes: list[Change]
    #: Functions of one of the two that the other may hide.
    not_comparable: list[str]


def _weighted(y: Floats, error: Floats, n: Floats) -> Estimate:
    """The mean over hosts, by their intervals. Its error is that of their scatter, which has what
    hosts differ by and what intervals vary by, and at least that of the batches."""
    weight = n / n.sum()
    value = float((weight * y).sum())
    within = float((weight**2 * error**2).sum())
    hosts = len(y)
    if hosts == 1:
        return Estimate(value, float(np.sqrt(within)), 15.0)
    scatter = float((weight**2 * (y - value) ** 2).sum()) * hosts / (hosts - 1)
    if scatter >= within:
        return Estimate(value, float(np.sqrt(scatter)), hosts - 1.0)
    return Estimate(value, float(np.sqrt(within)), 15.0)


def _difference(a: Estimate, b: Estimate) -> Estimate:
    """b - a, with the degrees of freedom of Welch and Satterthwaite."""
    squares = [a.error**2, b.error**2]
    below = squares[0] ** 2 / a.degrees + squares[1] ** 2 / b.degrees
    return Estimate(
        b.value - a.value,
        float(np.sqrt(sum(squares))),
        sum(squares) ** 2 / below if below > 0 else min(a.degrees, b.degrees),
    )


def _bounded(estimate: Estimate, scale: float) -> Estimate:
    scaled = Estimate(estimate.value / scale, estimate.error / scale, estimate.degrees)
    scaled.low, scaled.high = scaled.value - scaled.reach, scaled.value + scaled.reach
    return scaled


def compare_versions(units: Units, before: str, after: str) -> VersionChange:
    rows_a = {u.host: i for i, u in enumerate(units.units) if u.version == before}
    rows_b = {u.host: i for i, u in enumerate(units.units) if u.version == after}
    both = sorted(set(rows_a) & set(rows_b))
    paired = len(both) if len(both) >= FEWEST_PAIRS else 0
    a = np.array([rows_a[h] for h in (both if paired else sorted(rows_a))])
    b = np.array([rows_b[h] for h in (both if paired else sorted(rows_b))])
    root = units.column("")

    def compared(values: Floats, errors: Floats, column: int) -> Estimate | None:
        y_a, y_b = values[a, column], values[b, column]
        e_a, e_b = np.nan_to_num(errors[a, column]), np.nan_to_num(errors[b, column])
        n_a, n_b = units.n[a, column], units.n[b, column]
        if paired:
            known = np.isfinite(y_a) & np.isfinite(y_b)
            if known.sum() < FEWEST_PAIRS:
                return None
            weight = 1 / (1 / n_a[known] + 1 / n_b[known])
            error = np.sqrt(e_a[known] ** 2 + e_b[known] ** 2)
            return _weighted(y_b[known] - y_a[known], error, weight)
        known_a, known_b = np.isfinite(y_a), np.isfinite(y_b)
        if not known_a.any() or not known_b.any():
            return None
        return _difference(
            _weighted(y_a[known_a], e_a[known_a], n_a[known_a]),
            _weighted(y_b[known_b], e_b[known_b], n_b[known_b]),
        )

    weight_a = units.n[a, root] / units.n[a, root].sum()
    weight_b = units.n[b, root] / units.n[b, root].sum()
    variance = float((weight_a * units.cov[a, root]).sum())
    change = VersionChange(
        before, after, len(rows_a), len(rows_b), paired,
        int(units.n[a, root].sum()), int(units.n[b, root].sum()),
        float((weight_a * units.mean[a, root]).sum()),
        float((weight_b * units.mean[b, root]).sum()),
        variance, float((weight_b * units.cov[b, root]).sum()), [], [],
    )  # fmt: skip
    for column in tested_functions(units):
        function = units.functions[column]
        of_variance = compared(units.cov, units.cov_error, column)
        of_mean = compared(units.mean, units.mean_error, column)
        if of_variance is None or of_mean is None or variance <= 0:
            if function:
                change.not_comparable.append(function)
            continue
        if of_variance.value == 0 and of_mean.value == 0:
            continue
        change.changes.append(
            Change(function, _bounded(of_variance, variance), _bounded(of_mean, 1.0))
        )
    rejected = holm(
        [c.variance.p for c in change.changes] + [c.mean_ns.p for c in change.changes]
    )
    for i, one in enumerate(change.changes):
        one.variance_significant = rejected[i]
        one.mean_significant = rejected[len(change.changes) + i]
    change.changes.sort(key=lambda c: (c.function != "", -abs(c.variance.value)))
    return change
