"""Tables that other libraries compute when they are read, by what they have; none is imported.

These are lazy frames of Polars, datasets and scanners of pyarrow, and datasets of Hugging Face.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from .._errors import SourceError
from .._extras import required

BATCH_ROWS = 10_000
"""How many rows of a Hugging Face dataset are converted at a time."""


def is_lazy_frame(given: Any) -> bool:
    """Whether ``given`` is a lazy frame of Polars."""
    return has(given, "collect", "collect_schema")


def is_scan(given: Any) -> bool:
    """Whether ``given`` is a dataset or scanner of pyarrow."""
    return has(given, "scanner", "get_fragments") or has(given, "to_reader", "to_batches")


def is_hugging_face(given: Any) -> bool:
    """Whether ``given`` is a dataset of Hugging Face, which may be a stream."""
    return has(given, "with_format", "iter") and hasattr(type(given), "features")


def has(given: Any, *methods: str) -> bool:
    """Whether the type of ``given`` has the methods, and it is no mapping."""
    kind = type(given)
    return not isinstance(given, (type, Mapping)) and all(
        callable(getattr(kind, method, None)) for method in methods
    )


def is_computed(given: Any) -> bool:
    """Whether :func:`computed` converts ``given``."""
    return is_lazy_frame(given) or is_scan(given) or is_hugging_face(given)


def computed(given: Any) -> Any:
    """A frame or a reader of Arrow's batches; other values as they are."""
    if is_lazy_frame(given):
        return given.collect()
    if is_scan(given):
        return (given.scanner() if hasattr(given, "scanner") else given).to_reader()
    return hugging_face_reader(given) if is_hugging_face(given) else given


def hugging_face_reader(dataset: Any) -> Any:
    """A ``pyarrow.RecordBatchReader`` over a dataset of Hugging Face."""
    with required("pyarrow", "arrow"):
        pyarrow: Any = importlib.import_module("pyarrow")
    tables = iter(dataset.with_format("arrow").iter(batch_size=BATCH_ROWS))
    first = next(tables, None)
    if first is None:
        if dataset.features is None:
            raise SourceError("columns: got a dataset of no rows, want columns", field="columns")
        return pyarrow.RecordBatchReader.from_batches(dataset.features.arrow_schema, iter(()))
    batches: Iterator[Any] = (
        batch for table in chain([first], tables) for batch in table.to_batches()
    )
    return pyarrow.RecordBatchReader.from_batches(first.schema, batches)
