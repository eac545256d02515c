"""The places of several recordings as one tree (docs/tables.md: when two places are the same)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .errors import InputError
from .exact import Ints

#: In the order of profile files, by which siblings are numbered.
KINDS = ("function", "body", "wait", "blame", "queue", "preempted", "untracked", "parked")
#: Kinds whose time passes without work for the interval.
WAITS = frozenset({"wait", "queue", "parked"})
#: The place below a wait that holds the waiting time without a known waker.
UNKNOWN_WAKER = "unknown waker"


@dataclass
class Place:
    """A place; see the table ``places``."""

    parent: int  #: -1 of the interval itself
    kind: str
    function: str
    key: str
    position: str
    site: str
    #: ``file:line`` of the function's definition; empty: unknown
    definition: str
    height: int
    expandable: bool
    expanded: bool

    @property
    def identity(self) -> tuple[int, str, str, str]:
        """Tells siblings apart, and orders them as the analyzer does."""
        kind = "function" if self.kind == "blame" else self.kind
        name = "" if self.kind == "body" else self.function
        return KINDS.index(kind), name, self.key, self.position


@dataclass
class Places:
    """Places of several recordings. Parents come before their children, and place 0 is the
    interval."""

    all: list[Place]
    #: By recording: the number here of each place there, -1 where there is none.
    numbers: dict[str, Ints]

    def body_of(self) -> Ints:
        """By place: the place that is its own time, -1 if there is none."""
        bodies = np.full(len(self.all), -1, dtype=np.int64)
        for number, place in enumerate(self.all):
            if place.kind == "body":
                bodies[place.parent] = number
        return bodies

    def parents(self) -> Ints:
        """By place: its parent; -1 of place 0."""
        return np.array([place.parent for place in self.all], dtype=np.int64)


def body_name(kind: str, name: str) -> str:
    """The name of the own time of a place: ``body(f)``; of a wait ``wait(x)``: ``wake-up(x)``."""
    return "wake-up" + name[max(name.find("("), 0) :] if kind == "wait" else f"body({name})"


def _place_of(row: Mapping[str, object], parent: int) -> Place:
    file, line = row["file"], row["line"]
    kind = str(row["kind"])
    if kind not in KINDS:
        raise InputError(
            f"recording {row['recording']}: a place is of the unknown kind '{kind}'; "
            "install a newer version of the package"
        )
    return Place(
        parent,
        kind,
        str(row["function"] or ""),
        str(row["key"] or ""),
        str(row["position"] or ""),
        str(row["site"] or ""),
        f"{file}:{line}" if file and line is not None else "",
        int(row["height"] or 0),  # type: ignore[call-overload]
        bool(row["expandable"]),
        bool(row["expanded"]),
    )


class _Merger:
    def __init__(self) -> None:
        self.places: list[Place] = []
        self.index: dict[tuple[int, tuple[int, str, str, str]], int] = {}

    def add(self, rows: list[dict[str, object]]) -> Ints:
        """The numbers of the places of one recording, whose rows are in the order of theirs."""
        numbers = np.full(int(rows[-1]["place"]) + 1, -1, dtype=np.int64)  # type: ignore[call-overload]
        for row in rows:
            number, above = row["place"], row["parent"]
            parent = -1 if above is None else int(numbers[above])  # type: ignore[call-overload]
            if (above is None) != (number == 0) or (above is not None and parent < 0):
                raise InputError(
                    f"recording {row['recording']}: place {number} has no parent; the table "
                    "'places' is damaged, export the recording again"
                )
            numbers[number] = self._add(_place_of(row, parent))  # type: ignore[call-overload]
        return numbers

    def _add(self, place: Place) -> int:
        identity = place.identity if place.parent >= 0 else (0, "", "", "")
        number = self.index.setdefault((place.parent, identity), len(self.places))
        if number == len(self.places):
            self.places.append(place)
        else:  # recordings of earlier iterations know less about a function
            known = self.places[number]
            known.height = max(known.height, place.height)
            known.expandable = known.expandable or place.expandable
            known.expanded = known.expanded or place.expanded
        return number

    def canonical_order(self) -> list[int]:
        """Parents before their children, siblings by what identifies them."""
        children: list[list[int]] = [[] for _ in self.places]
        for number, place in enumerate(self.places):
            if place.parent >= 0:
                children[place.parent].append(number)
        order = [0]
        for number in order:  # grows on the way
            order += sorted(children[number], key=lambda one: self.places[one].identity)
        return order


def merge(table: pa.Table, recordings: list[str]) -> Places:
    """The places of these recordings as one tree, whatever their order in the table."""
    rows: dict[str, list[dict[str, object]]] = {recording: [] for recording in recordings}
    for row in table.drop_columns(["path", "blamed"]).to_pylist():
        if row["recording"] in rows:
            rows[row["recording"]].append(row)
    merger = _Merger()
    numbers = {}
    for recording in recordings:
        own = sorted(rows[recording], key=lambda row: row["place"])  # type: ignore[arg-type, return-value]
        if not own:
            raise InputError(f"recording {recording}: it has no places; export it again")
        numbers[recording] = merger.add(own)
    order = merger.canonical_order()
    to = np.empty(len(order), dtype=np.int64)
    to[order] = np.arange(len(order))
    places = [merger.places[number] for number in order]
    for place in places:
        place.parent = int(to[place.parent]) if place.parent >= 0 else -1
    return Places(
        places, {one: np.where(found >= 0, to[found], -1) for one, found in numbers.items()}
    )
