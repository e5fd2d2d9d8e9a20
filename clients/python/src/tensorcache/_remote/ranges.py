"""Arithmetic of byte ranges: half-open, sorted and disjoint."""

from __future__ import annotations

from collections.abc import Iterable

Range = tuple[int, int]

GAP = 64 << 10
"""Ranges nearer than this are fetched as one, because a request costs more than so many bytes."""

WHOLE = 1 << 20
"""Files up to this size are fetched whole."""

HEAD, TAIL = 4 << 10, 64 << 10
"""What is fetched at once of other files: where formats keep their signatures and footers."""


def union(ranges: Iterable[Range], gap: int = 0) -> list[Range]:
    """The ranges as disjoint ones; those that are up to ``gap`` bytes apart become one."""
    result: list[Range] = []
    for start, end in sorted(ranges):
        if start >= end:
            continue
        if result and start <= result[-1][1] + gap:
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
    """What to fetch of a file whose ``missing`` ranges a load reads.

    Of a file of which nothing is staged, that is also its head and tail, or all of a small one.
    """
    wanted = list(missing)
    if not staged:
        wanted += [(0, size)] if size <= WHOLE else [(0, HEAD), (size - TAIL, size)]
    return without(union(without(wanted, staged), GAP), staged)


def total(ranges: Iterable[Range]) -> int:
    """How many bytes disjoint ranges have."""
    return sum(end - start for start, end in ranges)
