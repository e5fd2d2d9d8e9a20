"""Datasets for jobs on a Spark cluster.

    data = tensorcache.spark.load("prices", "/shared/prices/*.parquet", time="t", item_id="symbol")
    windows = data.windows(context_length=96, prediction_length=24)
    TorchDistributor(num_processes=3, local_mode=False).run(train, windows)

In ``train``, ``tensorcache.torch.loader(windows, ...)`` serves each process its share of the epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._keywords import takes
from ._load.options import FILE_DEFAULTS, ArrayOptions, FileOptions
from ._load.paths import Source
from ._portable import Portable, portable

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["load"]


@takes(FILE_DEFAULTS, ArrayOptions, FileOptions)
def load(name: str, sources: Source | Sequence[Source], **options: Unpack[FileOptions]) -> Portable:
    """Load files in the driver, and return a dataset to pass to the tasks of executors.

    Executors load at their first use, because Spark does not let a task choose its machine. All
    tasks of a machine share one load. They refuse other content than the driver has.

    Args:
        name: as for :meth:`Cache.load`.
        sources: files that the driver and all executors reach by the same path, or URLs.
        **options: of the load.

    Raises:
        TensorcacheError: what :func:`portable` raises.
    """
    return portable(name, sources, **options)
