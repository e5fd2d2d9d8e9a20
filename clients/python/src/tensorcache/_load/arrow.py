"""Sending tables of other libraries to the daemon as an Arrow stream, which pyarrow writes."""

from __future__ import annotations

import importlib
import io
import socket
from typing import Any

from .._daemon import frames
from .._errors import SourceError
from .._extras import required
from .no_columns import no_columns
from .steps_of import StoredColumns
from .typed_arrays import memory_of


def is_table(columns: Any) -> bool:
    """Whether ``columns`` has Arrow's PyCapsule interface and is no mapping.

    These are tables, readers and DuckDB's relations.
    """
    return not callable(getattr(columns, "items", None)) and (
        hasattr(columns, "__arrow_c_stream__") or hasattr(columns, "__arrow_c_array__")
    )


def reader_of(columns: Any) -> Any:
    """A ``pyarrow.RecordBatchReader`` over a table.

    Raises:
        MissingExtraError: pyarrow is not installed.
        SourceError: ``columns`` is no table for it.
    """
    kind = type(columns).__name__
    with required("pyarrow", "arrow"):
        pyarrow: Any = importlib.import_module("pyarrow")
    try:
        if hasattr(columns, "__arrow_c_stream__"):
            return pyarrow.RecordBatchReader.from_stream(columns)
        batch = pyarrow.record_batch(columns)
        return pyarrow.RecordBatchReader.from_batches(batch.schema, [batch])
    except (ValueError, TypeError) as error:  # pyarrow's errors derive from these
        if hasattr(columns, "dtype") or hasattr(columns, "type"):  # one array
            raise no_columns(columns) from error
        raise SourceError(f"columns: got {kind}, want a table: {error}", field="columns") from error


class Sink(io.RawIOBase):
    """A socket as the file that pyarrow writes an Arrow stream to."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self._sock = sock

    def writable(self) -> bool:
        """Always True."""
        return True

    def write(self, data: Any) -> int:
        """Send all of ``data``."""
        view = memoryview(data).cast("B")
        frames.send(self._sock, view)
        return len(view)


def send(sock: socket.socket, reader: Any, stored: StoredColumns) -> None:
    """Send the batches of a reader, and the end mark once all were sent.

    Raises:
        SourceError: values are those of a column with steps.
    """
    ipc: Any = importlib.import_module("pyarrow").ipc
    stream = ipc.new_stream(Sink(sock), reader.schema)
    with reader:
        for batch in reader:
            for name, values in zip(batch.schema.names, batch.columns, strict=True):
                refuse_steps(name, values, stored)
            stream.write_batch(batch)
    stream.close()  # not if the reader failed: the daemon refuses a stream without its end mark
    sock.shutdown(socket.SHUT_WR)


def refuse_steps(name: str, values: Any, stored: StoredColumns) -> None:
    """Refuse values of a table that are in the memory of a column with steps."""
    for memory in memory_of(values):
        found = stored.part(memory)
        if found is not None and found.column.needs_steps:
            raise SourceError(
                f'column "{name}" of the table is column "{found.column.name}" of dataset '
                f'"{found.stored.dataset}", whose steps a table does not keep',
                field=name,
                hint="put a mapping of names and arrays, which keeps them, or a table with a copy "
                "of the array; a copy has no steps",
            )
