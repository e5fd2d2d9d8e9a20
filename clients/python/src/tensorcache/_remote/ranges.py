"""Arithmetic of byte ranges: half-open, sorted and disjoint."""

from __future__ import annotations

from collections.abc import Iterable

Range = tuple[int, int]

WHOLE = 1 << 20
"""Files up to this size are fetched whole."""


def union(ranges: Iterable[Range]) -> list[Range]:
    """The ranges as disjoint ones, of which no two touch."""
    result: list[Range] = []
    for start, end in sorted(ranges):
        if start >= end:
            continue
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((start, end))
    return result


def without(ranges: Iterable[Range], staged: Iterable[Range]) -> list[Range]:
    """What of the ranges is in none of ``staged``."""
    left = union(ranges)
    for begin, stop in union(staged):
        cut: list[Range] = []
        for start, end in left:
            cut += [(start, min(end, begin)), (max(start, stop), end)]
        left = [(start, end) for start, end in cut if start < end]
    return left


def to_fetch(missing: Iterable[Range], staged: list[Range], size: int) -> list[Range]:
    """What to fetch of a file whose ``missing`` ranges a load reads: all of a small file."""
    return without([(0, size)] if size <= WHOLE else missing, staged)


def total(ranges: Iterable[Range]) -> int:
    """How many bytes disjoint ranges have."""
    return sum(end - start for start, end in ranges)
