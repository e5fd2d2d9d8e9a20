"""Staging without a daemon: what a load reads is what the test says."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tensorcache._remote import ranges
from tensorcache._remote.load import staged


class Reader:
    """Answers as the daemon does, for a load that reads the same ranges of each file.

    Attributes:
        reads: the ranges; None is the whole file.
        asked: how often it was asked.
    """

    def __init__(self, reads: list[tuple[int, int]] | None) -> None:
        self.reads = reads
        self.asked = 0

    def post(self, route: str, body: dict[str, Any]) -> dict[str, Any]:
        assert route == "/v1/datasets/x/ranges?of=load"
        self.asked += 1
        missing = []
        for origin in body["origins"]:
            size, there = origin["size"], [tuple(r) for r in origin["ranges"]]
            assert Path(origin["path"]).stat().st_size == size
            assert ranges.union(there) == there
            wanted = [(0, size)] if self.reads is None else self.reads
            left = ranges.without(wanted, there)
            if left:
                missing.append({"path": origin["path"], "ranges": left})
        return {"hit": False, "generation": 0, "missing": missing}


@contextlib.contextmanager
def staging(
    home: Path,
    urls: list[str],
    reads: list[tuple[int, int]] | None = None,
    options: dict[str, Any] | None = None,
    display: Any = None,
) -> Iterator[dict[str, Any]]:
    """The body of a load whose sources are staged, after a check that nothing was left before."""
    assert list((home / "tmp").glob("*")) == []
    reader: Any = Reader(reads)
    try:
        with staged(reader, str(home), "x", "load", {}, urls, options, display) as body:
            yield body
    finally:
        assert list((home / "tmp").glob("*")) == []


def staged_bytes(body: dict[str, Any]) -> list[bytes]:
    """The staged files, which must have zeros where nothing is staged."""
    return [Path(origin["path"]).read_bytes() for origin in body["origins"]]


def with_holes(content: bytes, there: list[list[int]]) -> bytes:
    """A file with zeros wherever nothing is staged."""
    result = bytearray(len(content))
    for start, end in there:
        result[start:end] = content[start:end]
    return bytes(result)
