"""All ranks of a job must have the same content."""

from __future__ import annotations

import os
import weakref
from typing import Any

from .._errors import FeedError, StaleError
from .._portable import Portable

_compared: weakref.WeakKeyDictionary[Any, set[tuple[str, str]]] = weakref.WeakKeyDictionary()
"""The names and digests that were compared in a process group."""


def compare_ranks(data: Any, share: tuple[int, int]) -> None:
    """Compare the digest of a portable dataset with that of the rank that used its name first.

    No rank waits for another one: the first writes its digest into the key-value store of the
    process group, and the others read it. So a rank may iterate alone, and the order in which
    loaders begin does not matter. A name keeps its digest for as long as the store exists, also
    if the process group is made anew. Nothing is compared if the trainers are not the ranks of
    the default process group, or if its store cannot do it.

    Args:
        data: the dataset of this trainer.
        share: this trainer's rank and the number of trainers.

    Raises:
        StaleError: the first rank had other content.
        FeedError: the store cannot be reached.
    """
    import torch.distributed as dist

    if not isinstance(data, Portable) or not (dist.is_available() and dist.is_initialized()):
        return
    rank, world = dist.get_rank(), dist.get_world_size()
    store = dist.distributed_c10d._get_default_store()
    if world == 1 or share != (rank, world) or type(store) is dist.Store:  # of the backend MPI
        return
    compared = _compared.setdefault(dist.group.WORLD, set())
    if (data.name, data.digest) in compared:
        return
    here = f"{data.digest} {rank} {os.uname().nodename}"
    try:
        said = store.compare_set(f"tensorcache/{data.name}", "", here)
    except NotImplementedError:  # as of torch's FakeStore, for runs without other ranks
        return
    except RuntimeError as error:
        raise FeedError(
            f'the digest of dataset "{data.name}" cannot be compared with that of other ranks: '
            f"{error}",
            type="compare_failed",
            hint="a rank may have ended: see its log",
        ) from error
    first, other, node = said.decode().split(" ", 2)
    if first != data.digest:
        raise StaleError(
            f'dataset "{data.name}" has digest {data.digest} at rank {rank} on '
            f"{os.uname().nodename}, want {first} as at rank {other} on {node}, which was first",
            hint="every rank must load the same files with the same options; if the files change "
            "during a job, load them under another name",
        )
    compared.add((data.name, data.digest))
