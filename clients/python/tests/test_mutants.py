"""Damaged Parquet, Arrow and NumPy files.

A load either fails or returns exactly what the reference reader returns for the same bytes.

internal/ingest/load/mutants_test.go tests the formats whose reference reader is in Go, and the
limits of time and memory. Set ``TENSORCACHE_SEED`` to get other damage.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import tensorcache
import test_types
from cases import SEED

# The module reads the environment here, before fixtures clear it.
MUTANTS = int(os.environ.get("TENSORCACHE_MUTANTS", "1000")) // 10
KINDS = [
    pa.int64(),
    pa.float64(),
    pa.float32(),
    pa.int16(),
    pa.timestamp("ms", "Europe/Berlin"),
    pa.duration("us"),
]


def mutate(rng: np.random.Generator, good: bytes, times: int, tail: int = 700) -> bytes:
    """Damage bytes as disks, copies and programs do.

    The damage is flipped bits, wrong lengths, truncation, and lost or repeated pieces.
    """
    b = bytearray(good)
    for _ in range(times):
        at = int(rng.integers(len(b)))
        if rng.random() < 0.5:
            at = len(b) - 1 - min(at, int(rng.integers(tail)))
        size = int(rng.integers(1, 40))
        match rng.integers(6):
            case 0 | 1:
                b[at] ^= 1 << int(rng.integers(8))
            case 2:
                b[at] = int(rng.integers(256))
            case 3:
                b[at : at + 4] = int(rng.choice([0, 1, 2**31 - 1, 2**32 - 1, len(b)])).to_bytes(
                    4, "little"
                )
            case 4:
                del b[at : at + size]
            case 5:
                b[at:at] = b[at : at + size]
        if not b:
            return good
    return bytes(b)


def loaded(cache: tensorcache.Cache, path: Path, b: bytes) -> tensorcache.Dataset | None:
    """Load the bytes; return None if the daemon refuses them with an error that names the file."""
    path.write_bytes(b)
    try:
        return cache.load("mutant", path)
    except tensorcache.SpecError:  # the damage removed a column that the spec names
        return None
    except tensorcache.TensorcacheError as error:
        message = str(error)
    assert path.name in message
    return None


def test_parquet(cache: tensorcache.Cache, tmp_path: Path) -> None:
    """Files with and without page checksums load as pyarrow reads the same bytes.

    If pyarrow fails, the damage may be in a part that our reader skips, such as histograms in the
    footer. Then the load must return the undamaged values.
    """
    table = test_types.table_of(KINDS, 200, seed=1)
    path, good = tmp_path / "x.parquet", []
    for form in ({"compression": "snappy", "write_page_checksum": True}, {"compression": "none"}):
        pq.write_table(table, path, row_group_size=90, **form)
        good.append(path.read_bytes())
    rng, read = np.random.default_rng(SEED), 0
    for draw in range(MUTANTS):
        checked, times = draw % 2 == 0, int(rng.integers(1, 4))
        data = loaded(
            cache, path, mutate(rng, good[draw % 2], times, tail=700 if checked else len(good[1]))
        )
        if data is None:
            continue
        read += 1
        try:
            want = pq.read_table(path, page_checksum_verification=True)
        except (
            OSError,
            pa.ArrowException,
        ):
            if not checked and times > 1:  # other damage may have changed a value
                continue
            want = as_read(table, data)
        test_types.check(data, want)
    assert 0 < read < MUTANTS


def as_read(table: pa.Table, data: tensorcache.Dataset) -> pa.Table:
    """Return the undamaged values in the types that the load found.

    Damaged metadata may lose the unit or zone of a time.
    """
    columns = []
    for column in data.manifest["columns"]:
        values = table[column["name"]]
        if pa.types.is_timestamp(values.type):
            values = values.cast(pa.timestamp(values.type.unit, column.get("zone") or None))
        elif pa.types.is_duration(values.type):
            values = values.cast(pa.int64())
            values = (
                values if column["dtype"] == "int64" else values.cast(pa.duration(column["unit"]))
            )
        columns.append(values)
    return pa.table(columns, table.column_names)


@pytest.mark.parametrize("form", ["file", "stream", "lz4", "zstd"])
def test_arrow(cache: tensorcache.Cache, tmp_path: Path, form: str) -> None:
    """Arrow has no checksums: whatever loads equals what pyarrow reads from the same bytes."""
    table = test_types.table_of(
        [*KINDS, pa.string(), pa.dictionary(pa.int8(), pa.string())], 40, seed=2
    )
    sink = io.BytesIO()
    options = ipc.IpcWriteOptions(compression=form if form in ("lz4", "zstd") else None)
    with (ipc.new_stream if form == "stream" else ipc.new_file)(
        sink, table.schema, options=options
    ) as writer:
        writer.write_table(table, max_chunksize=25)
    path, good = tmp_path / "x.arrow", sink.getvalue()
    rng, read, count = np.random.default_rng(SEED), 0, MUTANTS // 2
    for _ in range(count):
        b = mutate(rng, good, int(rng.integers(1, 4)))
        data = loaded(cache, path, b)
        if data is None:
            continue
        read += 1
        test_types.check(data, read_arrow(b, form))
    assert 0 < read < count


def read_arrow(b: bytes, form: str) -> pa.Table:
    """Return what pyarrow reads from a stream or file, fully validated."""
    table = (ipc.open_stream if form == "stream" else ipc.open_file)(b).read_all()
    table.validate(full=True)
    return table


HEADERS = [
    "f",
    "i",
    "u",
    "m",
    "M",
    "U",
    "S",
    "<",
    ">",
    "|",
    "=",
    "1",
    "2",
    "3",
    "4",
    "6",
    "8",
    "0",
    "True",
    ",",
    "x",
]


def test_npy(cache: tensorcache.Cache, tmp_path: Path) -> None:
    """Whatever loads, in any dtype, order and shape, equals what numpy reads from the bytes."""
    sink = io.BytesIO()
    np.save(sink, np.random.default_rng(3).normal(size=(60, 6)))
    path, good = tmp_path / "x.npy", sink.getvalue()
    rng, read = np.random.default_rng(SEED), 0
    for _ in range(MUTANTS):
        b = bytearray(good)
        for _ in range(rng.integers(1, 4)):
            place = b.find(b"'descr': '") + 10
            if rng.random() < 0.2:
                shape = rng.choice([b"(6, 60)", b"(360,) ", b"(90, 4)"])
                b = bytearray(bytes(b).replace(b"False", b"True ").replace(b"(60, 6)", shape))
                continue
            at = (
                place + int(rng.integers(3))
                if place >= 10 and rng.random() < 0.5
                else int(rng.integers(10, 80))
            )
            word = str(rng.choice(HEADERS)).encode()
            b[at : at + len(word)] = word
        data = loaded(cache, path, bytes(b))
        if data is None:
            continue
        read += 1
        want = np.load(io.BytesIO(bytes(b)), allow_pickle=False)
        got = data["value"]
        assert got.dtype == want.dtype.newbyteorder("=")
        np.testing.assert_array_equal(got, want)
    assert 0 < read < MUTANTS
