"""DataFrames of Spark as Parquet files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .._errors import SpecError

if TYPE_CHECKING:
    from .._storage import Folder


def is_frame(sources: Any) -> bool:
    """Whether sources are a DataFrame of Spark."""
    loaded = sys.modules.get("pyspark.sql")
    return loaded is not None and isinstance(sources, loaded.DataFrame)


def require_one_machine(frame: Any) -> None:
    """Refuse a cluster; Spark must run on this machine alone.

    Args:
        frame: a DataFrame of the cluster, or None for the active session.

    Raises:
        SpecError: Spark runs on a cluster, or no session is active.
    """
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession() if frame is None else frame.sparkSession
    master = "" if session is None else session.conf.get("spark.master", "")
    if not master.startswith("local"):
        raise SpecError(
            "storage_path: got none, want a folder that the driver and all executors reach",
            field="storage_path",
        )


def write(frame: Any, folder: Folder) -> int:
    """Write a DataFrame as Parquet files, and return the number of its rows.

    Raises:
        PySparkException, Py4JJavaError: what Spark raises while it computes or writes the data.
    """
    from pyspark.sql import Observation
    from pyspark.sql.functions import count, lit

    observed = Observation()
    counted = frame.observe(observed, count(lit(1)).alias("rows"))
    path = f"file://{folder.path}" if folder.is_local else folder.path
    counted.write.parquet(path, mode="append")  # the folder exists
    return int(observed.get.get("rows", 0))
