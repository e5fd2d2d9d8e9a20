"""Datasets for jobs on a Ray cluster.

    data = tensorcache.ray.load("prices", "/shared/prices/*.parquet", time="t", item_id="symbol")
    windows = data.windows(context_length=96, prediction_length=24)
    TorchTrainer(train, train_loop_config={"windows": windows}, ...).fit()

In ``train``, ``tensorcache.torch.loader(windows, ...)`` serves each worker its share of the epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._checks import dataset_name, flag, number
from ._errors import SpecError, show
from ._extras import required
from ._keywords import takes
from ._load.options import FILE_DEFAULTS, ArrayOptions, FileOptions
from ._load.paths import Source
from ._origin import Load, Origin
from ._portable import Portable, checked_options, checked_sources

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["load"]


@takes(FILE_DEFAULTS, ArrayOptions, FileOptions)
def load(
    name: str,
    sources: Source | Sequence[Source],
    *,
    preload: bool = True,
    timeout: float = 600.0,
    **options: Unpack[FileOptions],
) -> Portable:
    """Load files on every node of the cluster, and return a dataset to pass to its workers.

    The driver loads first. Then a task without CPUs on each node opens the dataset there, or loads
    it, so that errors come before a trainer occupies a GPU. Nodes that join later load at their
    first use. The driver must run on the cluster, as with ``ray job submit``.

    Args:
        name: as for :meth:`Cache.load`.
        sources: files that all nodes reach by the same path, or URLs.
        preload: whether all nodes load now, and not at their first use. If the driver is not
            connected to a cluster, ``ray.init()`` connects it, or starts one on this machine.
        timeout: how many seconds the nodes may take, after the driver has loaded.
        **options: of the load.

    Raises:
        MissingExtraError: Ray is not installed.
        StaleError: the sources have other content on a node; the message names the node and the
            file.
        DaemonError: a node did not answer in time (type ``load_timeout``; the daemons continue
            loads that have begun), or cannot run tensorcache (``node_failed``).
        SpecError: an argument is wrong, or Ray Client connects the driver.
        TensorcacheError: what :func:`portable` raises. If a node raised it, the message names the
            node.
    """
    with required("ray"):
        import ray

        from ._adapters.ray_nodes import open_on_all, refuse_client
    everywhere, seconds = flag("preload", preload), number("timeout", timeout)
    if seconds <= 0:
        raise SpecError(f"timeout: got {show(timeout)}, want seconds above 0", field="timeout")
    files = Load(checked_sources(sources), checked_options(options))
    data = Portable(Origin(dataset_name(name), files))
    if everywhere and not ray.is_initialized():
        ray.init()
    refuse_client()
    data._open(options["progress"])
    if everywhere:
        open_on_all(data, seconds)
    return data
