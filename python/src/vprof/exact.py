"""Exact sums of 64-bit integers and of their products, and the moments that follow from them.

Sums are Python integers, as docs/analysis.md (Moments) has integers of 128 bits: they depend neither
on the order of rows nor on how these are split. The letters are those of
``analyzer/src/statistics/moments.h``: x is the time of a place in one interval, ns, T the latency,
n the number of intervals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .errors import InputError

Ints = npt.NDArray[np.int64]
#: An array of Python integers.
Exact = npt.NDArray[np.object_]
Floats = npt.NDArray[np.float64]

# Sums are taken over pieces of 24 bits in double precision: exact for up to 2^29 rows at a time.
_BITS = 24
_PIECE = np.uint64((1 << _BITS) - 1)
_MOST_ROWS = 1 << 28
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def zeros(size: int) -> Exact:
    """That many times 0."""
    return np.full(size, 0, dtype=object)


def _product(x: Ints, y: Ints) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """The high and the low 64 bits of x·y, for x, y ≥ 0."""
    a, b = x.astype(np.uint64), y.astype(np.uint64)
    low = a * b  # modulo 2^64
    a_high, a_low = a >> _HALF, a & _LOW
    b_high, b_low = b >> _HALF, b & _LOW
    middle = a_high * b_low + ((a_low * b_low) >> _HALF)
    other = a_low * b_high + (middle & _LOW)
    high = a_high * b_high + (middle >> _HALF) + (other >> _HALF)
    return high, low


def _pieces(
    high: npt.NDArray[np.uint64] | None, low: npt.NDArray[np.uint64]
) -> list[npt.NDArray[np.uint64]]:
    """A number of 128 bits in pieces of 24 bits, the lowest first."""
    shift = np.uint64(_BITS)
    pieces = [low & _PIECE, (low >> shift) & _PIECE, low >> np.uint64(2 * _BITS)]
    if high is not None and high.any():
        pieces[2] = pieces[2] | ((high & np.uint64(0xFF)) << np.uint64(16))
        high = high >> np.uint64(8)
        pieces += [high & _PIECE, (high >> shift) & _PIECE, high >> np.uint64(2 * _BITS)]
    return pieces


def _sum_pieces(keys: Ints, size: int, pieces: list[npt.NDArray[np.uint64]]) -> Exact:
    result = zeros(size)
    for number, piece in enumerate(pieces):
        if not piece.any():
            continue
        for start in range(0, len(keys), _MOST_ROWS):
            part = slice(start, start + _MOST_ROWS)
            sums = np.bincount(keys[part], weights=piece[part].astype(np.float64), minlength=size)
            whole = sums.astype(np.uint64)
            used = np.flatnonzero(whole)
            result[used] += whole[used].astype(object) << (number * _BITS)
    return result


def sums_of(keys: Ints, size: int, x: Ints) -> Exact:
    """Σx by key, for keys in [0, size) and x ≥ 0."""
    return _sum_pieces(keys, size, _pieces(None, x.astype(np.uint64)))


def sums_of_products(keys: Ints, size: int, x: Ints, y: Ints) -> Exact:
    """Σxy by key, for keys in [0, size) and x, y ≥ 0."""
    return _sum_pieces(keys, size, _pieces(*_product(x, y)))


def sums_of_exact(keys: Ints, size: int, x: Exact) -> Exact:
    """Σx by key, for Python integers."""
    result = zeros(size)
    np.add.at(result, keys, x)
    return result


def sums_of_decimals(keys: Ints, size: int, column: pa.ChunkedArray) -> Exact:
    """Σ by key of a column of whole decimals of up to 128 bits; null adds nothing."""
    result = zeros(size)
    at = 0
    for chunk in column.chunks:
        own = keys[at : at + len(chunk)]
        at += len(chunk)
        if len(chunk) == 0:
            continue
        words = np.frombuffer(chunk.buffers()[1], dtype=np.uint64)
        words = words[2 * chunk.offset : 2 * (chunk.offset + len(chunk))]
        low, high = words[::2], words[1::2]
        if chunk.null_count:
            valid = np.asarray(chunk.is_valid())
            own, low, high = own[valid], low[valid], high[valid]
        if (high >> np.uint64(63)).any():
            raise InputError("a sum is negative; the tables are damaged, export them again")
        result += _sum_pieces(own, size, _pieces(high, low))
    return result


def covariance(n: int, x: Any, y: Any, xy: Any) -> Any:
    """Σ(x - mean(x))(y - mean(y)) / n from the sums over n intervals, ns²; 0 if n is 0.

    For Python integers or arrays of them. n Σxy - Σx Σy is exact, and so the quotient is rounded
    once; ``moments.cpp`` has the same value within 128 bits.
    """
    if n == 0:
        return 0.0 * x
    value = (n * xy - x * y) / (n * n)
    return value.astype(np.float64) if isinstance(value, np.ndarray) else value


def variance(n: int, x: Any, xx: Any) -> Any:
    """Of x, ns²; see :func:`covariance`."""
    return covariance(n, x, x, xx)
