"""xxHash64 from its specification, and the hash of an item for a split by shares."""

from __future__ import annotations

import json
from typing import Any

MASK = 2**64 - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def rotated(x: int, by: int) -> int:
    return (x << by | x >> (64 - by)) & MASK


def whole_stripes(data: bytes) -> int:
    """The hash's state after the 32-byte stripes of a text."""
    lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
    for at in range(0, len(data) - 31, 32):
        for i in range(4):
            word = int.from_bytes(data[at + 8 * i : at + 8 * i + 8], "little")
            lanes[i] = rotated((lanes[i] + word * P2) & MASK, 31) * P1 & MASK
    h = sum(rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & MASK
    for lane in lanes:
        h = ((h ^ rotated(lane * P2 & MASK, 31) * P1 & MASK) * P1 + P4) & MASK
    return h


def xxhash64(data: bytes) -> int:
    """The hash of a text with seed 0."""
    h = ((whole_stripes(data) if len(data) >= 32 else P5) + len(data)) & MASK
    data = data[len(data) // 32 * 32 :]
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


def canonical(item: Any) -> str:
    """The JSON of an item for its hash: no spaces, and only the escapes of docs/WINDOWS.md."""
    text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def hash_of(item: Any) -> int:
    """The hash of an item's JSON."""
    return xxhash64(canonical(item).encode())


def share_of(item: Any) -> float:
    """The hash of an item's JSON, scaled to [0, 1)."""
    return (hash_of(item) >> 11) / 2**53
