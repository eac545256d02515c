"""Which recordings and places a computation is about; the parts that rows and roll-ups share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .errors import InputError
from .exact import Ints
from .places import Places, merge
from .tables import Tables

# Of a batch's number within its recording.
_BATCH_BITS = 40


@dataclass
class Subject:
    """The recordings of one name of intervals, in the order of their begin."""

    name: str
    recordings: list[str]
    #: By recording.
    batch_shift: Ints
    incomplete: int
    root_height: int
    places: Places

    def codes(self, column: pa.ChunkedArray) -> Ints:
        """The number of the recording of each row; -1: of none."""
        index = {recording: number for number, recording in enumerate(self.recordings)}
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        own = [index.get(one, -1) for one in column.dictionary.to_pylist()]
        indices = np.asarray(column.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
        return np.array([*own, -1], dtype=np.int64)[indices]

    def places_here(self, recording: Ints, place: Ints) -> Ints:
        """The number in ``places`` of each place of a recording; -1 if there is none."""
        tables = [self.places.numbers[one] for one in self.recordings]
        starts = np.cumsum([0, *(len(one) for one in tables)])
        known = (place >= 0) & (place < np.diff(starts)[recording])
        flat = np.concatenate([*tables, np.array([-1])])
        numbers: Ints = flat[np.where(known, starts[recording] + place, len(flat) - 1)]
        if (numbers < 0).any():
            first = int(np.flatnonzero(numbers < 0)[0])
            raise InputError(
                f"recording {self.recordings[int(recording[first])]}: place {int(place[first])} is "
                "not in the table 'places'; export the recording again"
            )
        return numbers


def subject(tables: Tables, name: str | None) -> Subject:
    """What a computation is about.

    Args:
        name: of the intervals; by default the most frequent
    """
    name = tables.names[0] if name is None else name
    recordings = [row for row in tables.arrow("recordings").to_pylist() if row["name"] == name]
    if not recordings:
        raise InputError(f"no interval is named '{name}'; there are: {', '.join(tables.names)}")
    recordings.sort(key=lambda row: (row["run_ns"] or 0, row["recording"]))
    ids = [row["recording"] for row in recordings]
    return Subject(
        name,
        ids,
        np.array([row["batch_shift"] or 0 for row in recordings], dtype=np.int64),
        sum(row["incomplete"] or 0 for row in recordings),
        max(row["root_height"] or 0 for row in recordings),
        merge(tables.arrow("places"), ids),
    )


def ints(column: pa.ChunkedArray, missing: int = 0) -> Ints:
    """A column of integers; ``missing`` where it is null."""
    return np.asarray(column.fill_null(missing).to_numpy(), dtype=np.int64)


class BatchNumbers:
    """Numbers batches by recording and time; batch 0 of a recording is its latest."""

    def __init__(self, recording: Ints, batch: Ints) -> None:
        self._keys = np.unique(self._key(recording, batch))
        #: The recording of each batch.
        self.recordings: Ints = self._keys >> _BATCH_BITS

    @staticmethod
    def _key(recording: Ints, batch: Ints) -> Ints:
        latest = (1 << _BATCH_BITS) - 1
        if len(batch) and not (0 <= int(batch.min()) and int(batch.max()) <= latest):
            raise InputError("a batch has an impossible number; export the recording again")
        return (recording << _BATCH_BITS) | (latest - batch)

    def of(self, recording: Ints, batch: Ints) -> Ints:
        """The numbers of these batches of recordings."""
        keys = self._key(recording, batch)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        if (self._keys[at] != keys).any():
            raise InputError("'products' has a batch that 'sums' does not have; export again")
        return at
