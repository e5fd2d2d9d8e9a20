"""Training that records the windows of each step, so that those behind a checkpoint are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import tensorcache

GLOBAL_BATCH = 96
"""How many windows all ranks together have in a step; 1, 2, 3 and 4 ranks divide it."""

CHECKPOINT_STEPS = 40
"""How many steps lie between two checkpoints."""

SEED = 11


def read(
    windows: tensorcache.Windows,
    folder: str,
    state: Mapping[str, Any] | None,
    store: Callable[[Mapping[str, Any]], None],
    kill: tuple[int, int] | None = None,
    wait: int | None = None,
    until: str | None = None,
) -> None:
    """What each rank runs: read batches, and record them in a folder of the attempt.

    Args:
        windows: those of a dataset without items.
        folder: the attempts of the job.
        state: that of the last checkpoint.
        store: store a checkpoint with a state.
        kill: a rank and a step: in the first attempt, the rank ends when it has read that step.
        wait: in the first attempt, all ranks wait for ever when they have read this step.
        until: a file: further epochs follow until it exists. Without it there is one epoch.
    """
    import os
    import time

    import torch
    import torch.distributed

    import tensorcache.torch

    rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
    loader = tensorcache.torch.loader(
        windows,
        batch_size=GLOBAL_BATCH // world,
        shuffle=True,
        seed=SEED,
        tail="wrap",
        format="dict",
    )
    if state is not None:
        loader.load_state_dict(state)
    begin = loader.state_dict()
    attempts = [len(list(Path(folder).iterdir()))]
    torch.distributed.broadcast_object_list(attempts)
    attempt = Path(folder, str(attempts[0]))
    attempt.mkdir(exist_ok=True)
    is_first = attempts[0] == 0
    steps = 0
    name = f"{begin['epoch']}-{begin['consumed']}-{world}-{rank}"
    with (attempt / name).open("ab", buffering=0) as out:
        torch.distributed.barrier()  # no rank is killed before all have a file
        ended = [False]
        while not ended[0]:
            for batch in loader:
                out.write(batch["start"].numpy().astype("int64").tobytes())
                steps += 1
                if is_first and kill == (rank, steps):
                    os._exit(1)
                while is_first and wait == steps:
                    time.sleep(1)
                torch.distributed.all_reduce(torch.zeros(1))  # as gradients are
                if steps % CHECKPOINT_STEPS == 0:
                    store(loader.state_dict())
            ended = [until is None or Path(until).exists()]
            torch.distributed.broadcast_object_list(ended)
    store(loader.state_dict())


@dataclass
class Attempt:
    """What the ranks of an attempt have read, from a place on."""

    epoch: int
    consumed: int
    steps: Any
    """The windows of each step, in their order: ``[steps, GLOBAL_BATCH]``."""
    world_size: int


def attempts(folder: Path) -> list[Attempt]:
    """The attempts of a job that has ended, in the order in which they began."""
    found = []
    for attempt in in_order(folder):
        paths = sorted(attempt.iterdir(), key=lambda path: int(path.name.split("-")[-1]))
        begins = {tuple(map(int, path.name.split("-")[:-1])) for path in paths}
        assert len(begins) == 1, "the ranks began at one place"
        epoch, consumed, world = begins.pop()
        assert len(paths) == world
        read = [np.fromfile(path, np.int64).reshape(-1, GLOBAL_BATCH // world) for path in paths]
        steps = min(map(len, read))
        joined = np.concatenate([each[:steps] for each in read], axis=1)
        found.append(Attempt(epoch, consumed, joined, world))
    assert len({len(each) for each in read}) == 1, "all ranks have equally many steps"
    return found


def world_sizes(folder: Path) -> list[int]:
    """The number of ranks of each attempt of a job that may still run."""
    names = [next(attempt.iterdir(), None) for attempt in in_order(folder)]
    return [int(path.name.split("-")[2]) for path in names if path is not None]


def in_order(folder: Path) -> list[Path]:
    """The folders of attempts."""
    return sorted(folder.iterdir(), key=lambda path: int(path.name))


def check(windows: tensorcache.Windows, folder: Path) -> list[Attempt]:
    """Check that the checkpoints have each window once an epoch, in its one order.

    What an attempt has read counts up to where the next one began.
    """
    found = attempts(folder)
    per_epoch = -(-len(windows) // GLOBAL_BATCH)
    begins = [each.epoch * per_epoch + each.consumed // GLOBAL_BATCH for each in found]
    counted = [end - begin for begin, end in pairwise(begins)]
    counted.append(len(found[-1].steps))
    for attempt, n in zip(found, counted, strict=True):
        assert 0 <= n <= len(attempt.steps), "the next attempt began at another place"
    assert counted[-1] > 0
    steps = np.concatenate([each.steps[:n] for each, n in zip(found, counted, strict=True)])
    assert begins[0] == 0
    assert len(steps) % per_epoch == 0
    with windows.feed(batch_size=GLOBAL_BATCH, order="shuffle", seed=SEED, tail="short") as feed:
        for epoch, read in enumerate(steps.reshape(-1, per_epoch * GLOBAL_BATCH)):
            feed.set_epoch(epoch)
            whole = np.concatenate([batch.start for batch in feed])
            assert np.array_equal(np.sort(whole), np.arange(len(windows)))
            assert np.array_equal(
                read, np.concatenate([whole, whole[: -len(whole) % GLOBAL_BATCH]])
            )
    return found
