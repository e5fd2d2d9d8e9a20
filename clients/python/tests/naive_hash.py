"""xxHash64 of short texts, from its specification, and where it puts an item in a split by shares."""

from __future__ import annotations

import json
from typing import Any

MASK = 2**64 - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def rotated(x: int, by: int) -> int:
    return (x << by | x >> (64 - by)) & MASK


def xxhash64(data: bytes) -> int:
    """The hash of fewer than 32 bytes, seed 0."""
    assert len(data) < 32
    h = (P5 + len(data)) & MASK
    while len(data) >= 8:
        k = rotated(int.from_bytes(data[:8], "little") * P2 & MASK, 31) * P1 & MASK
        h = (rotated(h ^ k, 27) * P1 + P4) & MASK
        data = data[8:]
    if len(data) >= 4:
        h = (rotated(h ^ int.from_bytes(data[:4], "little") * P1 & MASK, 23) * P2 + P3) & MASK
        data = data[4:]
    for byte in data:
        h = rotated(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def hash_of(item: Any) -> int:
    """The hash of an item's JSON, without blanks and escapes that need not be."""
    return xxhash64(json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode())


def share_of(item: Any) -> float:
    """Where in [0, 1) the hash of an item's JSON lies."""
    return (xxhash64(json.dumps(item).encode()) >> 11) / 2**53
