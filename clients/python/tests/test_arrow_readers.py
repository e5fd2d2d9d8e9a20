"""PyArrow, Polars and DuckDB read data.arrow memory-mapped (Polars 2 does so by default)."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import tensorcache
from test_put import arrays

Put = tuple[tensorcache.Dataset, Path]
VALUES = ["f4", "f8", "i4", "i8", "b", "i1", "i2", "u1", "u2", "u4", "u8"]


@pytest.fixture(scope="module", params=["columns", "packed"])
def put(cache: tensorcache.Cache, home: Path, request: pytest.FixtureRequest) -> Put:
    """A dataset with columns of every dtype, and the directory of its generation."""
    name = f"readers-{request.param}"
    data = cache.put(name, arrays(), item_id="id", time="t", layout=request.param)
    return data, home / "datasets" / name / "1"


def test_pyarrow_maps_it_without_a_copy(put: Put) -> None:
    data, directory = put
    with pa.memory_map(str(directory / "data.arrow")) as source:
        reader = pa.ipc.open_file(source)
        assert reader.num_record_batches == 1
        before = pa.total_allocated_bytes()
        table = reader.read_all()
        table.validate(full=True)
        assert pa.total_allocated_bytes() == before, "nothing was copied"
        assert table.num_rows == len(data)
        assert all(column.null_count == 0 for column in table.columns)
        if data.layout == "columns":
            for name in VALUES:
                np.testing.assert_array_equal(table[name].to_numpy(), data[name])
            np.testing.assert_array_equal(
                table["many"].chunk(0).flatten().to_numpy().reshape(-1, 3), data["many"]
            )
        else:
            packed = [name for name in table.column_names if name.startswith("packed_")]
            assert "packed_float32" in packed
            width = table["packed_float32"].type.list_size
            flat = table["packed_float32"].chunk(0).flatten().to_numpy().reshape(-1, width)
            np.testing.assert_array_equal(flat, np.column_stack([data["f4"], data["many"]]))
        np.testing.assert_array_equal(table["t"].to_numpy(), data["t"])
        np.testing.assert_array_equal(table["id"].to_numpy(), data["id"])
        del table, reader


def test_every_buffer_is_aligned(put: Put) -> None:
    _, directory = put
    with pa.memory_map(str(directory / "data.arrow")) as source:
        batch = pa.ipc.open_file(source).get_batch(0)
        buffers = [
            buffer
            for column in batch.columns
            for buffer in column.buffers()
            if buffer and buffer.size
        ]
        assert all(buffer.address % 64 == 0 for buffer in buffers)
        del buffers
        del batch


def test_items_and_words_are_arrow_too(put: Put) -> None:
    data, directory = put
    with pa.memory_map(str(directory / "items.arrow")) as source:
        items = pa.ipc.open_file(source).read_all()
        assert items["id"].to_pylist() == list(data.items)
        assert items["rows"].to_pylist() == data.items.rows.tolist()
        assert items["row_offset"].to_pylist() == data.items.row_offset.tolist()
        del items
    with pa.memory_map(str(directory / "vocab-id.arrow")) as source:
        words = pa.ipc.open_file(source).read_all()
        assert words["value"].to_pylist() == list(data.vocab("id"))
        del words


def test_polars(put: Put) -> None:
    data, directory = put
    frame = pl.read_ipc(directory / "data.arrow")
    assert frame.height == len(data)
    np.testing.assert_array_equal(frame["t"].to_numpy(), data["t"])
    if data.layout == "columns":
        for name in VALUES:
            np.testing.assert_array_equal(frame[name].to_numpy(), data[name])
        lazy = pl.scan_ipc(directory / "data.arrow").select(pl.col("f8").sum()).collect()
        assert lazy.item() == pytest.approx(data["f8"].sum())


def test_duckdb_through_pyarrow(put: Put) -> None:
    data, directory = put
    with pa.memory_map(str(directory / "data.arrow")) as source:
        table = pa.ipc.open_file(source).read_all()
        # DuckDB does not support float16.
        table = table.drop_columns(
            [name for name in ("f2", "packed_float16") if name in table.column_names]
        )
        with duckdb.connect() as db:
            db.register("data", table)
            rows, first, last = db.sql("select count(*), min(t), max(t) from data").fetchall()[0]
            assert rows == len(data)
            assert np.datetime64(first, "s") == data["t"].min()
            assert np.datetime64(last, "s") == data["t"].max()
            if data.layout == "columns":
                assert db.sql("select sum(f8) from data").fetchall()[0][0] == pytest.approx(
                    data["f8"].sum()
                )
        del table
