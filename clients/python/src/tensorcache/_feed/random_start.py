"""The number of batches in an epoch of ``random_start``, which differs from epoch to epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .._index.index import WindowIndex

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
PHASES = 4
"""The stream of random numbers that gives an epoch its phases; see sampler/orders.go."""


def of_epoch(epoch: int, windows: WindowIndex, options: Mapping[str, Any]) -> int:
    """The number of batches of an epoch for a feed with these options."""
    _, _, counts = windows._index().runs
    return batches(
        counts,
        options["batch_size"],
        options["seed"],
        epoch,
        options["rank"],
        options["num_replicas"],
        options["tail"],
    )


def batches(
    counts: npt.NDArray[np.int64],
    batch_size: int,
    seed: int,
    epoch: int,
    rank: int,
    num_replicas: int,
    tail: str,
) -> int:
    """This rank's number of batches in an epoch.

    Args:
        counts: int64 ``[runs]``, the windows of each run of the index.
        batch_size: windows in a block.
        seed: the seed of the order.
        epoch: the number of the epoch.
        rank: the number of this trainer.
        num_replicas: how many trainers share the blocks.
        tail: ``"short"``, ``"wrap"`` or ``"drop"``; "" is short for one trainer, wrap for several.
    """
    full, left = divmod(blocks(counts, batch_size, seed, epoch), num_replicas)
    tail = tail or ("short" if num_replicas == 1 else "wrap")
    return full + {"short": int(rank < left), "wrap": int(left > 0), "drop": 0}[tail]


def blocks(counts: npt.NDArray[np.int64], batch_size: int, seed: int, epoch: int) -> int:
    """The number of blocks of all runs.

    A run has a first block of random length, then blocks of ``batch_size``, the last one shorter.
    """
    first = lengths(draw(draw(draw(0, seed), epoch), PHASES), len(counts), batch_size)
    rest = np.maximum(counts - first, 0)
    return len(counts) + int((-(-rest // batch_size)).sum())


def lengths(key: int, runs: int, batch_size: int) -> npt.NDArray[np.int64]:
    """The length of each run's first block.

    It is below(draw(key, run), batch_size), or batch_size if that is 0.
    """
    if batch_size >= 1 << 32:
        exact = [(draw(key, run) * batch_size) >> 64 for run in range(runs)]
        return np.asarray([drawn or batch_size for drawn in exact], np.int64)
    with np.errstate(over="ignore"):
        z = np.arange(1, runs + 1, dtype=np.uint64) * np.uint64(GOLDEN) + np.uint64(key)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    size, half = np.uint64(batch_size), np.uint64(32)
    drawn = ((z >> half) * size + ((z & np.uint64(0xFFFFFFFF)) * size >> half)) >> half
    result: npt.NDArray[np.int64] = np.where(drawn == 0, size, drawn).astype(np.int64)
    return result


def draw(key: int, i: int) -> int:
    """The i-th number of splitmix64 seeded with ``key``."""
    z = (key + (i + 1) * GOLDEN) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31
