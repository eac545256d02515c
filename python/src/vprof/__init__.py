"""Tables of VProfiler, with the arithmetic of its analyzer. docs/python.md is the manual.

Times are ns, and ``_ns2`` is their square. Contributions and shares are 1 for the whole.
"""

from __future__ import annotations

from .api import compare, factors, summary, sums, tree
from .compare import Comparison, FactorChange, FigureChange, LabelChange
from .errors import InputError, InputWarning
from .factors import Factors
from .instances import Factor, Instance
from .summary import LabelSummary, Summary, WorkSummary
from .sums import Sums
from .tables import Tables, read
from .tree import Covariance, Node

__version__ = "0.1.0"
__all__ = [
    "Comparison",
    "Covariance",
    "Factor",
    "FactorChange",
    "Factors",
    "FigureChange",
    "InputError",
    "InputWarning",
    "Instance",
    "LabelChange",
    "LabelSummary",
    "Node",
    "Summary",
    "Sums",
    "Tables",
    "WorkSummary",
    "compare",
    "factors",
    "read",
    "summary",
    "sums",
    "tree",
]
