"""A put of what the newest generation has is a hit, and makes no generation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tensorcache

COLUMNS: dict[str, Any] = {
    "id": ["a", "a", "b"],
    "t": [1, 2, 1],
    "v": [1.0, np.nan, 6.0],
    "word": ["x", None, "y"],
}
OPTIONS: dict[str, Any] = {"item_id": "id", "time": "t", "fill": "forward"}


def last_job(cache: tensorcache.Cache) -> dict[str, Any]:
    return dict(cache._server.control.get("/v1/jobs")["jobs"][-1])


def test_the_same_put_is_a_hit(cache: tensorcache.Cache) -> None:
    first = cache.put("same", COLUMNS, **OPTIONS)
    used = {path.name for path in generations(cache, "same")}
    for columns in (COLUMNS, pa.table(COLUMNS)):
        again = cache.put("same", columns, **OPTIONS)
        assert again.generation == first.generation
        assert again.digest == first.digest
        assert again.notes == first.notes
        job = last_job(cache)
        assert job["hit"]
        assert job["generation"] == first.generation
    assert {path.name for path in generations(cache, "same")} == used
    assert not list((Path(cache.dir) / "tmp").iterdir())


def generations(cache: tensorcache.Cache, name: str) -> list[Path]:
    """The directories of a dataset's generations."""
    return list((Path(cache.dir) / "datasets" / name).iterdir())


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ({**COLUMNS, "v": [1.0, np.nan, 7.0]}, OPTIONS),
        ({**COLUMNS, "w": [1, 2, 3]}, OPTIONS),
        ({name: COLUMNS[name] for name in reversed(COLUMNS)}, OPTIONS),
        ({**COLUMNS, "id": ["a", "a", "c"]}, OPTIONS),
        ({**COLUMNS, "word": ["x", None, "z"]}, OPTIONS),
        (COLUMNS, {**OPTIONS, "fill": 1}),
        (COLUMNS, {**OPTIONS, "layout": "packed"}),
        (COLUMNS, {**OPTIONS, "dtype": "float64"}),
    ],
)
def test_another_put_is_no_hit(
    cache: tensorcache.Cache, columns: dict[str, Any], options: dict[str, Any]
) -> None:
    first = cache.put("other", COLUMNS, **OPTIONS)
    second = cache.put("other", columns, **options)
    assert second.generation > first.generation
    assert not last_job(cache)["hit"]
    # The newest generation counts, not one before it.
    assert cache.put("other", COLUMNS, **OPTIONS).generation > second.generation


def test_a_put_of_kept_steps_is_a_hit(cache: tensorcache.Cache) -> None:
    first = cache.put("first", {"v": [1.0, 2.0, 6.0]}, scale="standard")
    second = cache.put("second", dict(first))
    again = cache.put("second", dict(second))
    assert again.generation == cache.put("second", dict(first)).generation == second.generation
    np.testing.assert_allclose(again.inverse("v", again["v"]), [1, 2, 6], atol=1e-5)


def test_a_copy_without_steps_is_no_hit(cache: tensorcache.Cache) -> None:
    first = cache.put("first", {"v": [1.0, 2.0, 6.0]}, scale="standard")
    kept = cache.put("second", dict(first))
    copied = cache.put("second", {"v": first["v"].copy()})
    assert copied.generation > kept.generation
    np.testing.assert_array_equal(copied.inverse("v", copied["v"]), first["v"])


def test_a_put_of_the_rows_of_a_file_is_no_hit(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("v\n0.5\n1.5\n")
    first = cache.load("file", path)
    assert cache.append("file", path).generation == first.generation
    put = cache.put("file", {"v": [0.5, 1.5]})
    assert put.generation > first.generation
    # The rows that are put are not those of the file.
    more = cache.append("file", path)
    assert more["v"].tolist() == [0.5, 1.5, 0.5, 1.5]
    assert cache.put("file", {"v": more["v"].copy()}).generation > more.generation


def test_a_hit_has_its_own_notes(cache: tensorcache.Cache) -> None:
    clean = {"t": [1, 2], "v": [2.0, 3.0]}
    dirty = {"t": [1, 2, 2], "v": [2.0, 1.0, 3.0]}
    for columns in (clean, dirty, dirty, clean):
        data = cache.put("notes", columns, time="t", duplicates="last")
        assert data["v"].tolist() == [2.0, 3.0]
        assert len(data.notes) == (columns is dirty)
    assert data.generation == 3


def test_an_append_is_no_hit(cache: tensorcache.Cache) -> None:
    first = cache.put("more", {"t": [1, 2], "v": [0.5, 1.5]}, time="t")
    more = cache.append("more", {"t": [3], "v": [2.5]})
    assert more.generation > first.generation
    assert more["v"].tolist() == [0.5, 1.5, 2.5]


def test_a_damaged_generation_is_replaced(tmp_path: Path) -> None:
    cache = tensorcache.connect(tmp_path)
    first = cache.put("damaged", COLUMNS, **OPTIONS)
    cache.stop()
    (directory,) = generations(cache, "damaged")
    data = directory / "data.arrow"
    data.chmod(0o600)
    data.write_bytes(data.read_bytes()[:-8])
    cache = tensorcache.connect(tmp_path)
    try:
        again = cache.put("damaged", COLUMNS, **OPTIONS)
        assert again.generation > first.generation
        assert again["t"].tolist() == [1, 2, 1]
    finally:
        cache.stop()
