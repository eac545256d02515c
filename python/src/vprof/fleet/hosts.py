"""Which hosts differ from the others, and in which function."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .figures import LEAST
from ..significance import LEVEL, holm, t_quantile, t_two_sided
from .units import Floats, Ints, Units

#: With fewer hosts of one version nothing is known of how much hosts differ anyway.
FEWEST_HOSTS = 4
#: A caller is not named if a function within it holds this much of its difference.
_EXPLAINED = 0.8
#: Of the errors of a host, which come from 16 groups.
_DEGREES = 15.0
_MOST_OUTLIERS = 20


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
    #: The innermost function that holds most of the difference; empty: this one.
    mostly: str = ""


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


@dataclass
class _Sample:
    """One measure of one function on the hosts of a version."""

    column: int
    measure: str
    units: Ints
    shown: Floats
    y: Floats
    variance: Floats
    by_factors: bool


def _samples(units: Units, members: Ints) -> list[_Sample]:
    found = []
    for column in tested_functions(units):
        for measure, values, errors in (
            ("mean", units.mean, units.mean_error),
            ("variance", units.cov, units.cov_error),
        ):
            known = members[
                np.isfinite(values[members, column]) & np.isfinite(errors[members, column])
            ]
            if len(known) < FEWEST_HOSTS:
                continue
            y, n, squares = values[known, column], units.n[known, column], errors[known, column] ** 2
            # A host that has seen no rare event knows its own error least of all.
            variance = np.maximum(squares, np.median(squares * n) / n)
            if not (variance > 0).any() and y.max() == y.min():
                continue
            # Where all are clearly above 0, hosts differ by factors: on the logarithmic scale.
            if bool((y > 0).all() and (y**2 > 4 * squares).all()):
                found.append(_Sample(column, measure, known, y, np.log(y), variance / y**2, True))
            else:
                found.append(_Sample(column, measure, known, y, y, variance, False))
    return found


def _against(sample: _Sample, usual: npt.NDArray[np.bool_]) -> list[_Test]:
    """Each host against the usual ones, without itself.

    Hosts differ by themselves: their figures scatter more than intervals explain. The variance
    between hosts is what remains of their scatter without the errors of their own.
    """
    y = sample.y - sample.y[usual].mean()
    left = usual.sum() - usual
    sum_y = (y * usual).sum() - y * usual
    sum_yy = (y * y * usual).sum() - y * y * usual
    mean = sum_y / left
    scatter = np.maximum(0.0, (sum_yy - left * mean**2) / (left - 1))
    own = ((sample.variance * usual).sum() - sample.variance * usual) / left
    between = np.maximum(0.0, scatter - own) + scatter / left
    error = np.sqrt(between + sample.variance)
    # Welch and Satterthwaite; what is left of a scatter is known no better than all of it.
    below = (scatter * (1 + 1 / left)) ** 2 / (left - 1) + sample.variance**2 / _DEGREES
    degrees = np.divide(error**4, below, out=np.ones_like(below), where=below > 0)
    t = np.divide(y - mean, error, out=np.zeros_like(error), where=error > 0)
    offset = float(sample.y[usual].mean())
    return [
        _Test(
            int(unit), sample.column, sample.measure, float(sample.shown[i]),
            float(mean[i]) + offset, float(np.sqrt(scatter[i])), float(error[i]),
            float(degrees[i]), t_two_sided(float(t[i]), float(degrees[i])), sample.by_factors,
            float(sample.y[i]),
        )
        for i, unit in enumerate(sample.units)
    ]  # fmt: skip


def _tests(sample: _Sample) -> list[_Test]:
    """So that several outliers do not hide each other, the most extreme host is taken out, and the
    next one, up to a quarter of all (Rosner's procedure, 1983). A host is as far out as the most
    convincing of the steps in which it, or a later one, was taken out says."""
    usual = np.ones(len(sample.units), bool)
    best = tests = _against(sample, usual)
    least = [test.p for test in tests]
    taken: list[int] = []
    for _ in range(min(_MOST_OUTLIERS, len(sample.units) // 4)):
        one = min((i for i in range(len(tests)) if usual[i]), key=lambda i: tests[i].p)
        usual[one] = False
        if usual.sum() < FEWEST_HOSTS:
            break
        taken.append(one)
        for earlier in taken:
            least[earlier] = min(least[earlier], tests[one].p)
        tests = _against(sample, usual)
        if tests[one].p <= LEVEL / len(tests):
            best = tests
    return [replace(test, p=p) for test, p in zip(best, least, strict=True)]


def compare_hosts(units: Units) -> HostFindings:
    """Tests each host against the others of its version, in means and in variances.

    That hosts differ somewhat by themselves is no finding.
    """
    by_version: dict[str, list[int]] = defaultdict(list)
    for i, unit in enumerate(units.units):
        by_version[unit.version].append(i)
    too_few = {v: len(m) for v, m in by_version.items() if len(m) < FEWEST_HOSTS}
    tests = [
        test
        for version, members in by_version.items()
        if version not in too_few
        for sample in _samples(units, np.array(members))
        for test in _tests(sample)
    ]
    rejected = holm([test.p for test in tests])
    outliers = [
        _outlier(units, test, len(tests))
        for test, is_rejected in zip(tests, rejected, strict=True)
        if is_rejected
    ]
    outliers = [o for o in outliers if _supported(units, o)]
    for outlier in outliers:
        outlier.mostly = _mostly(units, outlier)
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


def _mostly(units: Units, outlier: Outlier) -> str:
    """Times and covariances of callees add up to those of their caller, so what a host has beyond
    the others can be followed downwards, whether or not each step would pass a test alone."""
    matrix = units.mean if outlier.measure == "mean" else units.cov
    of_host = [(u.host, u.version) == (outlier.host, outlier.version) for u in units.units]
    others = np.array([u.version == outlier.version for u in units.units]) & ~np.array(of_host)
    values = matrix[np.array(of_host)][0] - np.nanmean(matrix[others], axis=0)
    excess = {f: float(v) for f, v in zip(units.functions, values, strict=True) if v == v}
    whole, found = excess.get(outlier.function, 0.0), outlier.function
    within = {
        f
        for f in excess
        if f and (outlier.function == "" or outlier.function in units.around.get(f, set()))
        and excess[f] * np.sign(whole) >= _EXPLAINED * abs(whole)
    }  # fmt: skip
    for function in sorted(within):
        if not any(function in units.around.get(f, set()) for f in within):
            found = function
    return "" if found == outlier.function else found


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
