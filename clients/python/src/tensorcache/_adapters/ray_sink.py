"""A Ray datasink that writes Parquet files and counts rows."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet
from ray.data import BlockBasedFileDatasink


class ParquetFiles(BlockBasedFileDatasink):
    """Parquet files in a folder that exists.

    Unlike that of ``Dataset.write_parquet``, it knows the number of rows. A node that does not have
    the folder, because its disk is not shared, refuses to write.
    """

    def __init__(self, path: str, filesystem: Any) -> None:
        super().__init__(path, filesystem=filesystem, try_create_dir=False, file_format="parquet")
        self.rows = 0

    def write_block_to_file(self, block: Any, file: Any) -> None:
        """Write the rows of a task."""
        pyarrow.parquet.write_table(block.to_arrow(), file)

    def on_write_complete(self, write_result: Any) -> None:
        """Count the rows, in the driver."""
        super().on_write_complete(write_result)
        self.rows = write_result.num_rows
