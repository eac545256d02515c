"""How much of a share goes with what is known about an interval before it runs.

Let K be its label or the amount of work that the program declares, and E[T|K] the latency to be
expected from it: the mean of the label, or the least-squares line over the work. The part of the
share of X that goes with K is Cov(X, E[T|K]) / Var(T). At the root it is what K explains of the
variance. (docs/analysis.md, Moments; ``analyzer/src/statistics/explained_share.cpp``.)
"""

from __future__ import annotations

import numpy as np

from .exact import Floats, variance
from .sums import Sums


class Explained:
    """Both parts, by place, as fractions of Var(T)."""

    def __init__(self, sums: Sums) -> None:
        n, latency = sums.n, int(sums.x[0])
        self._all = n * int(sums.xx[0]) - latency * latency  # times n²
        work = sums.work
        size = len(sums.places)
        self.ns_per_unit = 0.0  #: slope of the least-squares line; 0: no work is declared
        self.by_work: Floats = np.zeros(size)
        work_variance = n * work.ww - work.w * work.w
        if work_variance > 0 and self._all > 0:
            with_work = n * work.xw - sums.x * work.w  # times n²
            self.ns_per_unit = int(with_work[0]) / work_variance
            if with_work[0]:
                scaled = with_work * int(with_work[0])
                self.by_work = np.asarray(scaled / (work_variance * self._all), dtype=np.float64)
        #: None: there are too many labels to tell.
        self.by_label: Floats | None = self._by_label(sums) if sums.labels_known else None

    def _by_label(self, sums: Sums) -> Floats:
        # Cov(X, E[T|label]) = Σ over labels (mean of the label - mean) Σx / n, since the excesses
        # of the labels, weighted by their counts, add up to 0.
        size = len(sums.places)
        if len(sums.labels) < 2 or self._all <= 0:
            return np.zeros(size)
        n, latency = sums.n, int(sums.x[0])
        result = np.zeros(size, dtype=np.longdouble)
        for label in sums.labels.values():
            excess = np.longdouble(label.x * n - latency * label.n) / np.longdouble(label.n * n)
            result += excess * label.by_place.astype(np.longdouble)
        of_all = variance(n, latency, int(sums.xx[0]))
        return np.asarray(result / n / np.longdouble(of_all), dtype=np.float64)
