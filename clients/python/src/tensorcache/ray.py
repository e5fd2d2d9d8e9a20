"""Datasets for jobs on a Ray cluster.

    data = tensorcache.ray.load("prices", "/shared/prices/*.parquet", time="t", item_id="symbol")
    windows = data.windows(context_length=96, prediction_length=24)
    TorchTrainer(train, train_loop_config={"windows": windows}, ...).fit()

In ``train``, ``tensorcache.torch.loader(windows, ...)`` serves each worker its share of the epoch.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from ._checks import dataset_name, flag, number
from ._errors import SpecError, show
from ._extras import required
from ._keywords import takes
from ._load.options import FILE_DEFAULTS, ArrayOptions, FileOptions
from ._load.paths import Source
from ._origin import Load, Origin
from ._portable import Portable, checked_options, checked_sources
from ._snapshots import Snapshots, snapshot_options
from ._storage import refuse_storage_path

if TYPE_CHECKING:
    from ray.data import Dataset
    from typing_extensions import Unpack

__all__ = ["load"]


@takes(FILE_DEFAULTS, ArrayOptions, FileOptions)
def load(
    name: str,
    sources: Source | Sequence[Source] | Dataset | None,
    *,
    storage_path: str | os.PathLike[str] | None = None,
    preload: bool = True,
    timeout: float = 600.0,
    **options: Unpack[FileOptions],
) -> Portable:
    """Load files or a Ray Dataset on every node, and return a dataset to pass to workers.

    The driver loads first. Then a task without CPUs on each node opens the dataset there, or loads
    it, so that errors come before a trainer occupies a GPU. Nodes that join later load at their
    first use. The driver must run on the cluster, as with ``ray job submit``.

    A Ray Dataset is written as Parquet first, as a snapshot in ``storage_path/name``. It has no
    order, so ``time`` is required, and the daemon sorts the rows by it. If the load fails after
    that, ``None`` in place of the Ray Dataset loads the snapshot.

    Args:
        name: as for :meth:`Cache.load`.
        sources: files that all nodes reach by the same path, URLs, a Ray Dataset, or None for the
            newest complete snapshot of this name.
        storage_path: the folder of snapshots, which all nodes reach, or its URL (``s3://``,
            ``gs://`` or ``az://``). The default, ``snapshots`` in the driver's cache directory, is
            for clusters of one machine.
        preload: whether all nodes load now, and not at their first use. If the driver is not
            connected to a cluster, ``ray.init()`` connects it, or starts one on this machine.
        timeout: how many seconds the nodes may take, after the driver has loaded.
        **options: of the load.

    Raises:
        MissingExtraError: Ray is not installed.
        StaleError: the sources have other content on a node; the message names the node and the
            file.
        NotFoundError: no snapshot of this name is complete.
        SourceError: the driver does not find all rows that the nodes have written, or a snapshot
            has changed or cannot be read.
        RayError: what tasks raise that compute or write a Ray Dataset.
        DaemonError: a node did not answer in time (type ``load_timeout``; the daemons continue
            loads that have begun), or cannot run tensorcache (``node_failed``).
        SpecError: an argument is wrong, or Ray Client connects the driver.
        TensorcacheError: what :func:`portable` raises. If a node raised it, the message names the
            node.
    """
    with required("ray"):
        import ray

        from ._adapters import ray_data
        from ._adapters.ray_nodes import open_on_all, refuse_client
    everywhere, seconds = flag("preload", preload), number("timeout", timeout)
    if seconds <= 0:
        raise SpecError(f"timeout: got {show(timeout)}, want seconds above 0", field="timeout")
    snapshots: Snapshots | None = None
    files: tuple[str, ...] = ()
    if sources is None or ray_data.is_dataset(sources):
        snapshots = Snapshots(storage_path, name)
        checked = snapshot_options(options)
    else:
        files = checked_sources(cast("Source | Sequence[Source]", sources))
        refuse_storage_path(storage_path)
        checked = checked_options(options)
    named = dataset_name(name)
    if not ray.is_initialized() and (everywhere or (snapshots and storage_path is None)):
        ray.init()
    refuse_client()
    if snapshots:
        if storage_path is None:
            ray_data.require_one_machine()
        write = None if sources is None else partial(ray_data.write, sources)
        data = snapshots.load(write, checked, options["progress"])
    else:
        data = Portable(Origin(named, Load(files, checked)))
        data._open(options["progress"])
    if everywhere:
        open_on_all(data, seconds)
    return data
