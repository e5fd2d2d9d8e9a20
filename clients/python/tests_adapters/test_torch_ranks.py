"""Ranks of torch.distributed, each with a cache directory of its own, as on several machines."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore  # registers the backend "fake"

import tensorcache
import tensorcache.torch
from daemon import leave

Ranks = Callable[..., list[list[str]]]

RANK = """
import copy, pickle, sys
from datetime import timedelta
import torch.distributed as dist
import tensorcache, tensorcache.torch

rank, port, folder, path, then = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
if port:
    store = dist.TCPStore("127.0.0.1", port, is_master=False, timeout=timedelta(minutes=2))
else:
    store = dist.FileStore(folder + "/store", 2)
dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

def load():
    return tensorcache.portable("prices", path, time="t").windows(context_length=4)

def loader_of(windows):
    return tensorcache.torch.loader(windows, batch_size=3, shuffle=True)

def epoch(loader):
    try:
        print(*(int(row) for context, in loader for row in context[:, 0, 0]))
    except tensorcache.StaleError as error:
        print("refused:", error.detail)

exec(then)
dist.barrier()
"""

EPOCHS = """
loader = loader_of(load())
print(len(loader))
epoch(loader)
epoch(loader)
"""


def write(path: Path, rows: int) -> Path:
    path.write_text("t,v\n" + "".join(f"{i},{i}\n" for i in range(rows)))
    return path


@pytest.fixture
def run(home: Path, tmp_path: Path) -> Iterator[Ranks]:
    """Run two ranks with a file each, and return their lines."""
    directories = [tmp_path / f"cache-{rank}" for rank in (0, 1)]

    def ranks(then: str, *paths: Path, port: int = 0) -> list[list[str]]:
        started = [
            subprocess.Popen(
                [sys.executable, "-c", RANK, str(rank), str(port), tmp_path, path, then],
                env={**os.environ, "TENSORCACHE_DIR": str(directories[rank])},
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank, path in enumerate(paths)
        ]
        try:
            said = [process.communicate(timeout=180)[0].splitlines() for process in started]
        finally:
            for process in started:
                process.kill()
        assert [process.returncode for process in started] == [0, 0]
        return said

    yield ranks
    for directory in directories:
        leave(directory)


@pytest.mark.parametrize("kind", ["tcp", "file"])
def test_ranks_on_machines_of_their_own_share_an_epoch(
    run: Ranks, tmp_path: Path, kind: str
) -> None:
    path = write(tmp_path / "prices.csv", 63)
    store = dist.TCPStore("127.0.0.1", 0, is_master=True) if kind == "tcp" else None
    first, second = run(EPOCHS, path, path, port=store.port if store else 0)
    assert first[0] == second[0] == "10"
    for at in (1, 2):
        served = [int(row) for said in (first, second) for row in said[at].split()]
        assert sorted(served) == list(range(60))
    assert first[1] != first[2]


@pytest.mark.parametrize(
    "then",
    [
        pytest.param(EPOCHS, id="loaders"),
        pytest.param(
            "windows = load()\nprint()\nepoch(loader_of(copy.deepcopy(windows)))", id="copies"
        ),
        pytest.param(
            "if rank: load()\nwindows = load()\nprint()\nepoch(loader_of(windows))",
            id="another load in one rank",
        ),
    ],
)
def test_a_rank_with_other_content_is_refused(run: Ranks, tmp_path: Path, then: str) -> None:
    said = run(then, write(tmp_path / "a.csv", 63), write(tmp_path / "b.csv", 64))
    refused = [lines[1] for lines in said if lines[1].startswith("refused: ")]
    assert len(refused) == 1, "the rank that comes second"
    assert refused[0].startswith('refused: dataset "prices" has digest ')
    assert " at rank " in refused[0]


def test_no_rank_waits_for_another(run: Ranks, tmp_path: Path) -> None:
    then = """
def other(name):
    return loader_of(tensorcache.portable(name, path).windows(context_length=2))

one, two = loader_of(load()), other("second")
for loader in (one, two) if rank else (two, one):
    next(iter(loader))
    dist.barrier()
if rank:
    epoch(other("third"))
"""
    path = write(tmp_path / "prices.csv", 63)
    _, second = run(then, path, path)
    assert len(second[0].split()) == 33


def test_a_rank_whose_file_changes_is_refused(run: Ranks, tmp_path: Path) -> None:
    then = """
epoch(loader_of(load()))
if rank:
    with open(path, "a") as file:
        file.write("63,63\\n64,64\\n")
epoch(loader_of(load()))
"""
    first, second = run(then, write(tmp_path / "a.csv", 63), write(tmp_path / "b.csv", 63))
    assert len(first[1].split()) == 30
    assert second[1].startswith('refused: dataset "prices" has digest ')


def batches_of_rank(rank: int, store: dist.Store, path: Path) -> int:
    """Count the batches of a pass in a process group of two ranks, of which this is one."""
    dist.init_process_group("fake", store=store, rank=rank, world_size=2)
    try:
        windows = tensorcache.portable("prices", path, time="t").windows(context_length=4)
        with tensorcache.torch.loader(windows, batch_size=3) as loader:
            return len(list(loader))
    finally:
        dist.destroy_process_group()


def test_a_group_that_is_made_anew_of_the_store_is_compared_too(home: Path, tmp_path: Path) -> None:
    store, path = dist.HashStore(), write(tmp_path / "prices.csv", 63)
    assert [batches_of_rank(rank, store, path) for rank in (0, 1)] == [10, 10]
    with pytest.raises(tensorcache.StaleError, match=r"at rank 1 on \S+, want \w+ as at rank 0 on"):
        batches_of_rank(1, store, write(path, 64))


def test_a_store_that_compares_nothing_is_not_asked(home: Path, tmp_path: Path) -> None:
    assert batches_of_rank(0, FakeStore(), write(tmp_path / "prices.csv", 63)) == 10
