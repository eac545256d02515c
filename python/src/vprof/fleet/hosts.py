"""Which hosts differ from the others, and in which function."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from .figures import LEAST
from ..significance import LEVEL, holm, t_quantile, t_two_sided
from .units import Floats, Units

#: With fewer hosts of one version nothing is known of how much hosts differ anyway.
FEWEST_HOSTS = 4
#: A caller is not named if a function within it holds this much of its difference.
_EXPLAINED = 0.8


@dataclass
class Outlier:
    host: str
    version: str
    function: str
    #: `mean` (ns) or `variance` (ns²: what of the variance goes with the function)
    measure: str
    value: float
    #: Of the other hosts of the version, and how far they lie apart (standard deviation).
    others: float
    spread: float
    low: float
    high: float
    p: float


@dataclass
class _Test:
    unit: int
    column: int
    measure: str
    value: float
    others: float
    spread: float
    error: float
    degrees: float
    p: float
    by_factors: bool
    #: The value on the scale of the test, as others, spread and error.
    at: float


@dataclass
class HostFindings:
    outliers: list[Outlier]
    tests: int
    #: Versions with too few hosts for a comparison, and how many hosts these have.
    too_few: dict[str, int]


def tested_functions(units: Units) -> list[int]:
    """Columns of functions that hold a part of the mean or of the variance on some host."""
    root = units.column("")
    with np.errstate(invalid="ignore", divide="ignore"):
        of_mean = np.abs(units.mean / units.mean[:, [root]])
        of_variance = np.abs(units.cov / units.cov[:, [root]])
    large = np.nan_to_num(np.fmax(of_mean, of_variance)).max(axis=0) >= LEAST
    return [int(column) for column in np.flatnonzero(large)]


def _reference(
    y: Floats, variance: Floats, degrees: Floats, others: np.ndarray, one: int
) -> tuple[float, float, float, float]:
    """Mean and spread of the others; error and degrees of freedom of the distance to `one`.

    Hosts differ by themselves: their figures scatter more than intervals explain. The variance
    between hosts is what remains of their scatter without the errors of their own.
    """
    rest = y[others]
    scatter = float(rest.var(ddof=1))
    between = max(0.0, scatter - float(variance[others].mean()))
    of_scatter = (between + scatter / len(rest), scatter * (1 + 1 / len(rest)), len(rest) - 1.0)
    of_one = (float(variance[one]), float(variance[one]), float(degrees[one]))
    total = of_scatter[0] + of_one[0]
    # Welch and Satterthwaite; what is left of a scatter is known no better than all of it.
    below = sum(estimate * estimate / df for _, estimate, df in (of_scatter, of_one))
    return (
        float(rest.mean()),
        float(np.sqrt(scatter)),
        float(np.sqrt(total)),
        total * total / below if below > 0 else 0.0,
    )


def _tests(units: Units, members: Floats, excluded: set[tuple[int, int, str]]) -> list[_Test]:
    found = []
    for column in tested_functions(units):
        for measure, values, errors in (
            ("mean", units.mean, units.mean_error),
            ("variance", units.cov, units.cov_error),
        ):
            known = [
                int(u)
                for u in members
                if np.isfinite(values[u, column]) and np.isfinite(errors[u, column])
            ]
            if len(known) < FEWEST_HOSTS:
                continue
            y = values[known, column]
            n = units.n[known, column]
            # A host that has seen no rare event knows its own error least of all.
            variance = np.maximum(
                errors[known, column] ** 2, np.median(errors[known, column] ** 2 * n) / n
            )
            if not (variance > 0).any() and y.max() == y.min():
                continue
            # Where all are clearly above 0, hosts differ by factors: on the logarithmic scale.
            by_factors = bool((y > 0).all() and (y > 2 * errors[known, column]).all())
            shown = y
            if by_factors:
                y, variance = np.log(y), variance / y**2
            usual = np.array([(u, column, measure) not in excluded for u in known])
            degrees = np.full(len(known), 15.0)
            for i, unit in enumerate(known):
                others = usual.copy()
                others[i] = False
                if others.sum() < FEWEST_HOSTS - 1:
                    continue
                mean, spread, error, df = _reference(y, variance, degrees, others, i)
                t = (y[i] - mean) / error if error > 0 else 0.0
                found.append(
                    _Test(unit, column, measure, float(shown[i]), mean, spread, error, df,
                          t_two_sided(float(t), df), by_factors, float(y[i]))
                )  # fmt: skip
    return found


def compare_hosts(units: Units) -> HostFindings:
    """Tests each host against the others of its version, in means and in variances.

    Hosts that were found are left out of the reference of the others, and the rest is tested again,
    so that two outliers do not hide each other.
    """
    by_version: dict[str, list[int]] = defaultdict(list)
    for i, unit in enumerate(units.units):
        by_version[unit.version].append(i)
    too_few = {v: len(m) for v, m in by_version.items() if len(m) < FEWEST_HOSTS}
    groups = [np.array(m, np.float64) for v, m in by_version.items() if v not in too_few]
    excluded: set[tuple[int, int, str]] = set()
    tests: list[_Test] = []
    for _ in range(max(1, len(units.units) // 4)):
        tests = [
            test
            for members in groups
            for test in _tests(units, members.astype(int), excluded)
        ]
        rejected = holm([test.p for test in tests])
        now = {
            (test.unit, test.column, test.measure)
            for test, is_rejected in zip(tests, rejected, strict=True)
            if is_rejected
        }
        if now <= excluded:
            break
        excluded |= now
    outliers = [_outlier(units, test, len(tests)) for test in tests
                if (test.unit, test.column, test.measure) in excluded]  # fmt: skip
    outliers = [o for o in outliers if _supported(units, o)]
    return HostFindings(_innermost(units, outliers), len(tests), too_few)


def _outlier(units: Units, test: _Test, tests: int) -> Outlier:
    reach = t_quantile(LEVEL, test.degrees) * test.error
    low, high = test.at - test.others - reach, test.at - test.others + reach
    others, spread = test.others, test.spread
    if test.by_factors:
        others = math.exp(test.others)
        low, high = others * math.expm1(low), others * math.expm1(high)
        spread = others * math.expm1(test.spread)
    unit = units.units[test.unit]
    return Outlier(
        unit.host, unit.version, units.functions[test.column], test.measure, test.value,
        others, spread, low, high, min(1.0, test.p * tests),
    )  # fmt: skip


def _supported(units: Units, outlier: Outlier) -> bool:
    """Whether a function that few hosts show at all also makes its callers differ.

    If it does not, the others may just not measure the call: their time is the same, under the name
    of the caller.
    """
    if outlier.function == "":
        return True
    column = units.column(outlier.function)
    if 2 * (units.count[:, column] > 0).sum() > len(units.units):
        return True
    matrix = units.mean if outlier.measure == "mean" else units.cov
    unit = next(
        i
        for i, u in enumerate(units.units)
        if (u.host, u.version) == (outlier.host, outlier.version)
    )
    same = [i for i, u in enumerate(units.units) if u.version == outlier.version and i != unit]
    callers = [c for c in units.callers.get(outlier.function, set()) if c in units.functions]
    excess = outlier.value - outlier.others
    for caller in callers or [""]:
        values = matrix[:, units.column(caller)]
        if (values[unit] - np.nanmedian(values[same])) * np.sign(excess) >= abs(excess) / 2:
            return True
    return False


def _innermost(units: Units, outliers: list[Outlier]) -> list[Outlier]:
    """Without callers whose difference is that of a function within them; the worst first."""
    kept = []
    for one in outliers:
        excess = one.value - one.others
        explained = any(
            other is not one
            and (other.host, other.version, other.measure) == (one.host, one.version, one.measure)
            and (one.function == "" or one.function in units.around.get(other.function, set()))
            and other.function != ""
            and (other.value - other.others) * np.sign(excess) >= _EXPLAINED * abs(excess)
            for other in outliers
        )
        if not explained:
            kept.append(one)
    return sorted(kept, key=lambda o: (o.p, -abs(o.value - o.others) / (o.spread or 1)))
