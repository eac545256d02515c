"""Hosts as observations: what each measured of each function, and how far that can be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .engine import Row

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: A call that was to be expected this often and was never seen is not measured there.
_EXPECTED = 20


@dataclass(frozen=True)
class Unit:
    host: str
    version: str


@dataclass
class Units:
    """Matrices of units × functions; NaN where a unit does not show all of a function."""

    units: list[Unit]
    functions: list[str]
    n: Floats
    count: Floats
    mean: Floats
    cov: Floats
    mean_error: Floats
    cov_error: Floats
    #: Of each function, those that it was seen directly in, and all that it was seen in.
    callers: dict[str, set[str]] = field(default_factory=dict)
    around: dict[str, set[str]] = field(default_factory=dict)

    def column(self, function: str) -> int:
        return self.functions.index(function)


def units_of(rows: Iterable[Row], inside: Iterable[Row]) -> Units:
    """Of the rows of sql/moments.sql and sql/inside.sql."""
    kept = list(rows)
    units = sorted({(str(row[0]), str(row[1])) for row in kept})
    functions = sorted({str(row[2]) for row in kept})
    at = {unit: i for i, unit in enumerate(units)}
    column = {function: i for i, function in enumerate(functions)}
    tables = np.full((7, len(units), len(functions)), np.nan)
    for host, version, function, *values in kept:
        n, count, _, mean, cov, mean_error, cov_error = values
        tables[:, at[(host, version)], column[function]] = [
            n, count, mean, cov,
            np.nan if mean_error is None else mean_error,
            np.nan if cov_error is None else cov_error,
            0,
        ]  # fmt: skip
    result = Units([Unit(*unit) for unit in units], functions, *tables[:6])
    callers: dict[str, set[str]] = defaultdict(set)
    around: dict[str, set[str]] = defaultdict(set)
    for above, below, direct, *_ in inside:
        around[below].add(above)
        if direct:
            callers[below].add(above)
    result.callers, result.around = dict(callers), dict(around)
    _hide_unmeasured(result)
    return result


def _hide_unmeasured(units: Units) -> None:
    """A call that most units have and one never made, though it was to be expected often.

    A plan may have left it out there because of its cost, so its time is in the body of its caller.
    Neither it, nor what is below it, nor that body can be compared.
    """
    column = {function: i for i, function in enumerate(units.functions)}
    hidden: list[tuple[int, str]] = []
    for function, callers in units.callers.items():
        if function not in column or function.startswith("body("):
            continue
        own = units.count[:, column[function]]
        calls = np.zeros(len(units.units))
        for caller in callers:
            if caller in column:
                calls += np.nan_to_num(units.count[:, column[caller]])
        seen = own > 0
        if not 2 * seen.sum() > len(own) or calls[seen].sum() == 0:
            continue
        rate = own[seen].sum() / calls[seen].sum()
        for unit in np.flatnonzero((own == 0) & (rate * calls >= _EXPECTED)):
            hidden.append((int(unit), function))
    for row, function in hidden:
        names = {function} | {f for f, above in units.around.items() if function in above}
        names |= {
            f
            for f, above in units.callers.items()
            if f.startswith("body(") and above & units.callers[function]
        }
        for name in names & set(column):
            for matrix in (units.mean, units.cov, units.mean_error, units.cov_error):
                matrix[row, column[name]] = np.nan
