"""The pool reuses blocks: few checks and few blocks, however many batches the caller keeps."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from tensorcache._adapters import block_pool
from tensorcache._adapters.block_pool import Pool
from tensorcache._feed.batch import Array, Memory


class Maker:
    """Makes an array over a block and counts the blocks."""

    def __init__(self) -> None:
        self.blocks = 0

    def __call__(self, memory: Memory) -> Array:
        self.blocks += 1
        return np.ndarray((4,), np.float32, memory, 64)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Return a list that gets one entry for each call of sys.getrefcount."""
    done: list[None] = []
    count: Callable[[object], int] = sys.getrefcount

    def counted(block: object) -> int:
        done.append(None)
        return count(block)

    monkeypatch.setattr(block_pool.sys, "getrefcount", counted)
    return done


def test_a_block_is_used_again_once_nothing_refers_to_it() -> None:
    make = Maker()
    pool, before = Pool(512, make), None
    for _ in range(100):
        now = pool.take()[:2]
        assert before is None or not np.shares_memory(now, before)
        before = now
    assert make.blocks == 2


def test_batches_that_are_kept_cost_the_others_little(looks: list[None]) -> None:
    make = Maker()
    pool = Pool(512, make)
    kept = [pool.take()[1:] for _ in range(2000)]
    for n, array in enumerate(kept):
        array[:] = n
    for _ in range(3000):
        pool.take()[:] = -1
    assert len(looks) < 70 * 5000
    assert make.blocks == 2001
    assert [array[0] for array in kept] == list(range(2000))
