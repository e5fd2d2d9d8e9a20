"""The order of an epoch and each rank's share, from the formulas of the package sampler.

All arithmetic uses Python integers. An epoch is a list of positions. A position is a list of
windows: a block in ``random_start``, a piece of a group in ``cross_section`` and
``cross_section_sequential``, one window in the other orders.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

MASK = 2**64 - 1
Run = tuple[int, int]
"""The item of a run, and its number of windows."""


def mix(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def draw(key: int, i: int) -> int:
    return mix((key + (i + 1) * 0x9E3779B97F4A7C15) & MASK)


def key_of(seed: int, epoch: int, purpose: int) -> int:
    return draw(draw(draw(0, seed), epoch), purpose)


def below(x: int, n: int) -> int:
    return x * n // 2**64


def permute(key: int, n: int, p: int) -> int:
    """Permute p in [0, n) by a generalised Feistel network with cycle walking."""
    a = math.isqrt(n - 1) + 1
    a += a % 2
    while True:
        left, right = divmod(p, a)
        for i in range(16 if n < 4096 else 8):
            left, right = right, (left + below(draw(draw(key, i), right), a)) % a
        p = left * a + right
        if p < n:
            return p


@dataclass
class Order:
    """An order over runs of windows, numbered run by run.

    ``times`` are the times of the windows' first prediction rows (or last context rows), and a
    ``batch_size`` of None is whole groups.
    """

    runs: list[Run]
    order: str = "sequential"
    seed: int = 0
    batch_size: int | None = 1
    num_replicas: int = 1
    tail: str = "short"
    weights: Sequence[float] | Literal["even"] | None = None
    min_items: int = 1
    times: Sequence[int] | None = None

    def __post_init__(self) -> None:
        self.windows = sum(count for _, count in self.runs)
        self.of_blocks = self.order == "random_start" or self.of_groups
        self.unit = 1 if self.of_blocks else self.size
        """The positions of one rank in a step."""

    @property
    def of_groups(self) -> bool:
        return self.order in ("cross_section", "cross_section_sequential")

    @property
    def size(self) -> int:
        assert self.batch_size is not None
        return self.batch_size

    def epoch(self, epoch: int) -> list[list[int]]:
        """The positions of an epoch."""
        n = self.windows
        if self.order == "sequential":
            return [[p] for p in range(n)]
        if self.order == "shuffle":
            return [[permute(key_of(self.seed, epoch, 1), n, p)] for p in range(n)]
        if self.order == "bootstrap":
            return [[self.drawn(key_of(self.seed, epoch, 2), p)] for p in range(n)]
        if self.order == "random_start":
            blocks = self.blocks(epoch)
            key = key_of(self.seed, epoch, 3)
            return [blocks[permute(key, len(blocks), p)] for p in range(len(blocks))]
        if self.of_groups:
            visited = groups = self.groups()
            if self.order == "cross_section":
                key = key_of(self.seed, epoch, 8)
                visited = [groups[permute(key, len(groups), i)] for i in range(len(groups))]
            return [piece for group in visited for piece in self.pieces(group)]
        assert self.order == "lanes"
        return [[w] for w in self.lanes(epoch)]

    def of_items(self) -> dict[int, list[int]]:
        """The windows of each item that has any."""
        items: dict[int, list[int]] = {}
        first = 0
        for item, count in self.runs:
            items.setdefault(item, []).extend(range(first, first + count))
            first += count
        return items

    def drawn(self, key: int, p: int) -> int:
        if self.weights is None:
            return below(draw(key, p), self.windows)
        total, sums = 0.0, []
        for item, windows in self.of_items().items():
            total += 1.0 if self.weights == "even" else self.weights[item]
            sums.append((total, windows))
        share = (draw(key, 2 * p) >> 11) * 2.0**-53 * total
        windows = next(windows for edge, windows in sums if edge > share)
        return windows[below(draw(key, 2 * p + 1), len(windows))]

    def blocks(self, epoch: int) -> list[list[int]]:
        """The blocks of all runs, in order."""
        blocks, first = [], 0
        key = key_of(self.seed, epoch, 4)
        for number, (_, count) in enumerate(self.runs):
            run = list(range(first, first + count))
            phase = below(draw(key, number), self.size) or self.size
            blocks.append(run[:phase])
            blocks += [run[at : at + self.size] for at in range(phase, count, self.size)]
            first += count
        return blocks

    def groups(self) -> list[list[int]]:
        """The groups that are large enough, by time."""
        assert self.times is not None
        of_time: dict[int, list[int]] = {}
        for window, time in enumerate(self.times):
            of_time.setdefault(time, []).append(window)
        return [of_time[t] for t in sorted(of_time) if len(of_time[t]) >= self.min_items]

    def pieces(self, group: list[int]) -> list[list[int]]:
        size = self.batch_size or len(group)
        return [group[at : at + size] for at in range(0, len(group), size)]

    def lanes(self, epoch: int) -> list[int]:
        items = list(self.of_items().values())
        key = key_of(self.seed, epoch, 5)
        row = [w for i in range(len(items)) for w in items[permute(key, len(items), i)]]
        turn = below(key_of(self.seed, epoch, 6), self.windows)
        row = row[turn:] + row[:turn]
        lanes = self.size * self.num_replicas
        length = len(row) // lanes
        return [row[lane * length + t] for t in range(length) for lane in range(lanes)] + row[
            lanes * length :
        ]

    def deal(self, epoch: int, consumed: int = 0) -> list[list[tuple[list[int], int]]]:
        """The batches of each rank from ``consumed`` on.

        Each has the number of positions that all ranks have consumed after it.
        """
        positions = self.epoch(epoch)
        step = self.unit * self.num_replicas
        ranks: list[list[tuple[list[int], int]]] = [[] for _ in range(self.num_replicas)]
        while consumed < len(positions):
            left = positions[consumed:]
            sizes = [self.unit] * self.num_replicas
            if len(left) < step:
                if self.tail == "drop":
                    break
                if self.tail == "short":
                    each, more = divmod(len(left), self.num_replicas)
                    sizes = [each + (rank < more) for rank in range(self.num_replicas)]
                while self.tail == "wrap" and len(left) < step:
                    left = left + positions
            consumed = min(consumed + step, len(positions))
            for rank, size in enumerate(sizes):
                share, left = left[:size], left[size:]
                if share:
                    ranks[rank].append(
                        ([window for position in share for window in position], consumed)
                    )
        return ranks

    def resets(
        self, batches: list[list[int]], continues: Callable[[int, int], bool]
    ) -> list[list[bool]]:
        """Which rows of one rank's batches do not continue the row of the batch before.

        ``batches`` are all batches of the rank in an epoch.
        """
        resets: list[list[bool]] = []
        for number, batch in enumerate(batches):
            before = batches[number - 1] if number else []
            resets.append(
                [i >= len(before) or not continues(before[i], w) for i, w in enumerate(batch)]
            )
        return resets
