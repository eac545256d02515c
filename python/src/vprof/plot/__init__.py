"""Plots for notebooks. They need matplotlib: ``pip install matplotlib``.

Each function draws into ``ax``, or into a figure of its own, and returns what it has drawn into.
"""

from __future__ import annotations

from .flames import flame
from .latencies import latency_by_label
from .shares import shares_over_time

__all__ = ["flame", "latency_by_label", "shares_over_time"]
