"""Datasets for jobs on a Spark cluster.

    data = tensorcache.spark.load("prices", "/shared/prices/*.parquet", time="t", item_id="symbol")
    windows = data.windows(context_length=96, prediction_length=24)
    TorchDistributor(num_processes=3, local_mode=False).run(train, windows)

In ``train``, ``tensorcache.torch.loader(windows, ...)`` serves each process its share of the epoch.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ._adapters import spark_frames
from ._extras import required
from ._keywords import takes
from ._load.options import FILE_DEFAULTS, ArrayOptions, FileOptions
from ._load.paths import Source
from ._portable import Portable, checked_sources, portable
from ._snapshots import Snapshots, snapshot_options
from ._storage import refuse_storage_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

__all__ = ["load"]


@takes(FILE_DEFAULTS, ArrayOptions, FileOptions)
def load(
    name: str,
    sources: Source | Sequence[Source] | DataFrame | None,
    *,
    storage_path: str | os.PathLike[str] | None = None,
    **options: Unpack[FileOptions],
) -> Portable:
    """Load files or a DataFrame in the driver, and return a dataset to pass to executors' tasks.

    Executors load at their first use, because Spark does not let a task choose its machine. All
    tasks of a machine share one load. They refuse other content than the driver has.

    A DataFrame is written as Parquet first, as a snapshot in ``storage_path/name``. It has no
    order, so ``time`` is required, and the daemon sorts the rows by it. If the load fails after
    that, ``None`` in place of the DataFrame loads the snapshot.

    Args:
        name: as for :meth:`Cache.load`.
        sources: files that the driver and all executors reach by the same path, URLs, a DataFrame,
            or None for the newest complete snapshot of this name.
        storage_path: the folder of snapshots, which the driver and all executors reach, or its URL
            (``s3a://``, ``gs://`` or ``abfss://``, whichever Spark has a connector for). The
            default, ``snapshots`` in the driver's cache directory, is for Spark on one machine.
        **options: of the load.

    Raises:
        NotFoundError: no snapshot of this name is complete.
        SourceError: the driver does not find all rows that the executors have written, or a
            snapshot has changed or cannot be read.
        PySparkException, Py4JJavaError: what Spark raises while it computes or writes a DataFrame.
        TensorcacheError: what :func:`portable` raises.
    """
    if sources is not None and not spark_frames.is_frame(sources):
        checked_sources(sources)
        refuse_storage_path(storage_path)
        return portable(name, sources, **options)
    checked = snapshot_options(options)
    snapshots = Snapshots(storage_path, name)
    if storage_path is None:
        with required("pyspark", "spark"):
            spark_frames.require_one_machine(sources)
    write = None if sources is None else partial(spark_frames.write, sources)
    return snapshots.load(write, checked, options["progress"])
