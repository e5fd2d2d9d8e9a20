"""Arrow files and streams of pyarrow: the loaded values are the same, or the error has a remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import ipc

import tensorcache

V4 = ipc.MetadataVersion.V4


def batch(words: list[str], codes: list[int | None], numbers: list[int]) -> pa.RecordBatch:
    """A batch of two dictionary columns; each row of ``n`` has the last of the numbers."""
    n = pa.DictionaryArray.from_arrays(
        pa.array([len(numbers) - 1] * len(codes), pa.int16()), pa.array(numbers)
    )
    return pa.record_batch(
        {"s": pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(words)), "n": n}
    )


FIRST = batch(["a", "b"], [0, 1], [10, 20])
LONGER = batch(["a", "b", "c"], [2, 0], [10, 20, 30])
OTHER = batch(["z", "a"], [0, 1], [7])
HOLED = batch(["z"], [0, None], [8])
DELTAS = {"emit_dictionary_deltas": True}


def write(path: Path, batches: list[pa.RecordBatch], form: str, options: dict[str, Any]) -> None:
    with (ipc.new_stream if form == "arrows" else ipc.new_file)(
        path, FIRST.schema, options=ipc.IpcWriteOptions(**options)
    ) as writer:
        for each in batches:
            writer.write_batch(each)


@pytest.mark.parametrize("form", ["arrow", "arrows"])
@pytest.mark.parametrize(
    ("batches", "options"),
    [
        ([FIRST, FIRST], {"metadata_version": V4}),
        ([FIRST, LONGER], DELTAS),
        ([FIRST, LONGER], {**DELTAS, "metadata_version": V4}),
        ([FIRST, LONGER], {**DELTAS, "compression": "lz4"}),
        ([FIRST, OTHER], {}),
        ([FIRST, HOLED, LONGER], {}),
        ([FIRST, LONGER, OTHER], {**DELTAS, "compression": "zstd"}),
    ],
)
def test_versions_and_dictionaries(
    cache: tensorcache.Cache,
    tmp_path: Path,
    form: str,
    batches: list[pa.RecordBatch],
    options: dict[str, Any],
) -> None:
    path = tmp_path / f"x.{form}"
    if form == "arrow" and {id(OTHER), id(HOLED)} & {id(each) for each in batches}:
        # An Arrow file has one dictionary per column.
        with pytest.raises(pa.ArrowInvalid, match="replacement"):
            write(path, batches, form, options)
        return
    write(path, batches, form, options)
    data = cache.load("forms", path)
    words = data.vocab("s")
    want = (ipc.open_stream if form == "arrows" else ipc.open_file)(path).read_all()
    assert [words[code] if code >= 0 else None for code in data["s"]] == want["s"].to_pylist()
    assert data["n"].tolist() == want["n"].to_pylist()


@pytest.mark.parametrize("suffix", ["", ".bin"])
@pytest.mark.parametrize("form", ["arrow", "arrows"])
def test_what_arrow_wrote_before_0_15_is_refused(
    cache: tensorcache.Cache, tmp_path: Path, form: str, suffix: str
) -> None:
    path = tmp_path / f"x.{form}{suffix}"
    write(path, [FIRST], form, {"use_legacy_format": True, "metadata_version": V4})
    with pytest.raises(tensorcache.TensorcacheError, match=r"0\.15") as caught:
        cache.load("old", path)
    assert "write it again" in str(caught.value)
