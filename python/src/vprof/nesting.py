"""Which changes contain which: the figures of a function have those of its callees.

``analyzer/src/analysis/diff/diff_nesting.cpp``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .instances import Factor, Instance

if TYPE_CHECKING:
    from .compare import FactorChange

#: A change is within another one if at least this part of it is.
_WITHIN = 0.9

_Nested = tuple["FactorChange", Factor | None, Factor | None]


class _Around:
    """How much of a factor lies within each function, and how far up that is."""

    def __init__(self, *factors: Factor | None) -> None:
        self.share: dict[str, float] = {}
        self.distance: dict[str, int] = {}
        self.all = 0.0
        for factor in factors:
            for instance in factor.instances if factor is not None else []:
                if not instance.nested:
                    self._add(instance)

    def _add(self, instance: Instance) -> None:
        share = abs(instance.share)
        self.all += share
        above: dict[str, int] = {}  # the nearest one of each name
        for up, name in enumerate(reversed(instance.path[:-1]), 1):
            above.setdefault(name, up)
        for name, up in above.items():
            self.distance.setdefault(name, up)  # instances come largest first
            self.share[name] = self.share.get(name, 0.0) + share

    def distance_of(self, function: str) -> int:
        """The distance of a function that contains the factor; 0: it does not."""
        known = function in self.share and self.share[function] >= _WITHIN * self.all
        return self.distance[function] if known else 0


def _is_pair(change: FactorChange) -> bool:
    return change.kind == "covariance"


def _container_of(index: int, changes: list[_Nested]) -> int:
    """The innermost change that contains this one; its own index: there is none."""
    change, a, b = changes[index]
    best, nearest = index, 0
    if _is_pair(change):
        return best
    around = _Around(a, b)
    for other, (candidate, _, _) in enumerate(changes):
        if other == index or _is_pair(candidate):
            continue
        distance = around.distance_of(candidate.functions[0])
        if distance and (not nearest or distance < nearest):
            best, nearest = other, distance
    return best


def _cut_circles(containers: list[int]) -> None:
    """Two functions that call each other may each be within the other: the larger change, which
    comes first, stays outside."""
    for index in range(len(containers)):
        at = containers[index]
        for _ in containers:
            if at == containers[at]:
                break
            at = containers[at]
            if at == index:
                containers[index] = index


def nest(changes: list[_Nested]) -> list[FactorChange]:
    """What is within another change follows it; otherwise the largest comes first, pairs last."""
    changes = sorted(changes, key=lambda one: (_is_pair(one[0]), -abs(one[0].change)))
    containers = [_container_of(index, changes) for index in range(len(changes))]
    _cut_circles(containers)
    result: list[FactorChange] = []
    todo = [(index, 0) for index in range(len(changes)) if containers[index] == index][::-1]
    while todo:
        index, depth = todo.pop()
        change = changes[index][0]
        change.depth = depth
        if depth:
            change.within = changes[containers[index]][0].functions[0]
        result.append(change)
        inside = [i for i in range(len(changes)) if containers[i] == index and i != index]
        todo += [(i, depth + 1) for i in reversed(inside)]
    return result
