"""Ray Datasets as Parquet files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .._errors import SpecError
from .ray_nodes import alive

if TYPE_CHECKING:
    from .._storage import Folder


def is_dataset(sources: Any) -> bool:
    """Whether sources are a Ray Dataset."""
    loaded = sys.modules.get("ray.data")
    return loaded is not None and isinstance(sources, loaded.Dataset)


def require_one_machine() -> None:
    """Refuse a cluster of several machines.

    Raises:
        SpecError: the cluster has several now.
    """
    machines = {
        (node["NodeManagerHostname"], node["NodeManagerAddress"]) for node in alive().values()
    }
    if len(machines) > 1:
        raise SpecError(
            f"storage_path: got none, want a folder that all {len(machines)} machines of the "
            "cluster reach",
            field="storage_path",
        )


def write(dataset: Any, folder: Folder) -> int:
    """Write a Ray Dataset as Parquet files, and return the number of its rows.

    Raises:
        SpecError: a node does not have the folder.
        RayError: what the tasks raise that compute or write the data.
    """
    from .ray_sink import ParquetFiles

    path, filesystem = folder.arrow()
    files = ParquetFiles(path, filesystem)
    try:
        dataset.write_datasink(files)
    except FileNotFoundError as error:
        if folder.is_local and f"'{path}/" in str(error):
            raise SpecError(
                f'storage_path: a node does not have the folder "{path}"',
                field="storage_path",
                hint="give a folder that all nodes reach",
            ) from error
        raise
    return files.rows
