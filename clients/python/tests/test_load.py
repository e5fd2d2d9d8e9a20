"""Loads of files into memory-mapped columns."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorcache
from daemon import ETTH1, paused_loads
from frames import read_etth1

pytestmark = pytest.mark.portable


def test_columns_are_the_files(etth1: tensorcache.Dataset) -> None:
    frame = read_etth1()
    assert len(etth1) == etth1.rows == 17_420
    assert list(etth1) == list(etth1.keys()) == list(etth1.columns) == list(frame.columns)
    assert etth1.time == "date"
    assert etth1.layout == "columns"
    for name in frame.columns[1:]:
        assert etth1[name].dtype == np.float64
        np.testing.assert_array_equal(etth1[name], frame[name])
    assert etth1["date"].dtype.kind == "M"
    np.testing.assert_array_equal(
        etth1["date"], frame["date"].to_numpy().astype(etth1["date"].dtype)
    )
    assert set(dict(etth1)) == set(frame.columns)
    assert "OT" in etth1
    assert "nope" not in etth1


def test_columns_are_mapped_not_copied(etth1: tensorcache.Dataset, home: Path) -> None:
    column = etth1["OT"]
    assert not np.shares_memory(column, etth1["OT"]), "each is private"
    assert not column.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        column[0] = 0
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        column.flags.writeable = True
    address = column.__array_interface__["data"][0]
    assert address % 64 == 0
    path = home / "datasets" / "etth1" / str(etth1.generation) / "data.arrow"
    assert str(path) in mapping_of(address)


def mapping_of(address: int) -> str:
    """The line of /proc/self/maps whose range contains an address."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        low, high = (int(x, 16) for x in line.split()[0].split("-"))
        if low <= address < high:
            return line
    raise AssertionError("the address is mapped nowhere")


def test_arrays_outlive_their_handle(cache: tensorcache.Cache, etth1: tensorcache.Dataset) -> None:
    data = cache.dataset("etth1")
    column = data["OT"]
    data.close()
    data.close()
    np.testing.assert_array_equal(column, etth1["OT"])
    with pytest.raises(tensorcache.StaleError, match="closed"):
        data.windows(context_length=1)


def test_opening_leaves_no_descriptor_behind(
    cache: tensorcache.Cache, etth1: tensorcache.Dataset
) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        with cache.dataset("etth1") as data:
            data["OT"]
        del data
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_loading_the_same_again_is_a_hit(
    cache: tensorcache.Cache, etth1: tensorcache.Dataset
) -> None:
    jobs: list[dict[str, Any]] = []
    again = cache.load("etth1", ETTH1, time="date", progress=jobs.append)
    assert jobs[-1]["hit"] is True
    assert (again.generation, again.digest) == (etth1.generation, etth1.digest)


def test_other_options_are_the_next_generation(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "t,a,b", "1,1.5,2", "2,2.5,3")
    first = cache.load("generations", path, time="t")
    second = cache.load("generations", path, time="t", columns=["b"])
    assert (first.generation, second.generation) == (1, 2)
    assert second.columns == ("t", "b")
    assert first["a"].tolist() == [1.5, 2.5], "a handle stays on the generation it opened"
    assert cache.dataset("generations").generation == 2
    first.close()


def test_items_have_values_and_rows(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "id,t,v", "b,1,1", "b,2,2", "a,1,3", "ü,1,4", "ü,2,5", "ü,3,6")
    data = cache.load("items", path, item_id="id", time="t")
    assert list(data.items) == ["b", "a", "ü"]
    assert data.items[-1] == "ü"
    assert data.items[:2] == ["b", "a"]
    assert data.items.rows.tolist() == [2, 1, 3]
    assert data.items.row_offset.tolist() == [0, 2, 3]
    assert data.items.code("a") == data.items.index("a") == 1
    assert "ü" in data.items
    assert "x" not in data.items
    with pytest.raises(IndexError):
        data.items[3]
    with pytest.raises(tensorcache.NotFoundError, match='no item is named "aa"; near: a'):
        data.items.code("aa")
    assert data["id"].dtype == np.int32
    assert data.vocab("id")[int(data["id"][0])] == "b"
    assert data.vocab("id").decode(data["id"]).tolist() == ["b", "b", "a", "ü", "ü", "ü"]
    with pytest.raises(tensorcache.SpecError, match="only text columns have words"):
        data.vocab("v")


def test_items_of_several_columns_are_tuples(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "shop,product,t,v", "1,x,1,1", "1,y,1,2", "2,x,1,3")
    data = cache.load("tuples", path, item_id=["shop", "product"], time="t")
    assert list(data.items) == [(1, "x"), (1, "y"), (2, "x")]
    assert data.items.code((2, "x")) == 2
    assert data.items.code([1, "y"]) == 1
    with pytest.raises(tensorcache.NotFoundError, match="named by tuples of shop, product"):
        data.items.code("x")


def test_integer_items_and_many_of_them_make_no_objects(cache: tensorcache.Cache) -> None:
    n = 200_000
    data = cache.put("many", {"id": np.arange(n) * 7, "v": np.zeros(n, np.float32)}, item_id="id")
    assert len(data.items) == n
    assert data.items[n - 1] == 7 * (n - 1)
    assert data.items.code(np.int64(700)) == 100
    with pytest.raises(tensorcache.NotFoundError):
        data.items.code(1)


def test_relative_paths_and_several_sources(
    cache: tensorcache.Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "one.csv", "t,v", "1,1", "2,2")
    write(tmp_path / "two.csv", "t,v", "3,3")
    monkeypatch.chdir(tmp_path)
    data = cache.load("two-files", ["one.csv", Path("two.csv")], time="t")
    assert data["v"].tolist() == [1, 2, 3]
    assert [source["path"] for source in data.manifest["sources"]] == [
        str(tmp_path / "one.csv"),
        str(tmp_path / "two.csv"),
    ]


def test_parquet_is_the_same_as_csv(
    cache: tensorcache.Cache, etth1: tensorcache.Dataset, tmp_path: Path
) -> None:
    frame = read_etth1()
    frame.to_parquet(tmp_path / "etth1.parquet", row_group_size=5000)
    data = cache.load("parquet", tmp_path / "etth1.parquet", time="date")
    for name in frame.columns:
        np.testing.assert_array_equal(data[name], etth1[name])


def test_dtype_and_layout(cache: tensorcache.Cache, etth1: tensorcache.Dataset) -> None:
    packed = cache.load("packed", ETTH1, time="date", dtype="float32", layout="packed")
    assert packed.layout == "packed"
    for name in packed.columns[1:]:
        assert packed[name].dtype == np.float32
        assert not packed[name].flags.writeable
        np.testing.assert_array_equal(packed[name], etth1[name].astype(np.float32))


def test_sort(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "id,t,v", "a,2,2", "b,1,3", "a,1,1")
    data = cache.load("sorted", path, item_id="id", time="t", sort=True)
    assert data["v"].tolist() == [1, 2, 3]
    with pytest.raises(tensorcache.SourceError, match="sort"):
        cache.load("unsorted", path, item_id="id", time="t")


def test_progress_is_told_and_ends_done(cache: tensorcache.Cache, tmp_path: Path) -> None:
    jobs: list[dict[str, Any]] = []
    cache.load("progress", write(tmp_path / "x.csv", "v", "1"), progress=jobs.append)
    assert jobs[-1]["state"] == "done"
    assert jobs[-1]["dataset"] == "progress"


def test_interrupting_a_load_cancels_it(
    cache: tensorcache.Cache, home: Path, tmp_path: Path
) -> None:
    path = write(tmp_path / "x.csv", "a", "1")

    def interrupt(job: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    with paused_loads(home), pytest.raises(KeyboardInterrupt):
        cache.load("interrupted", path, progress=interrupt)
    assert "interrupted" not in [d["dataset"] for d in cache.datasets()]
    assert cache._server.control.get("/v1/jobs")["jobs"][-1]["state"] == "cancelled"


def test_datasets_and_remove(cache: tensorcache.Cache, tmp_path: Path) -> None:
    data = cache.load("gone", write(tmp_path / "x.csv", "v", "1", "2"))
    assert [(d["generation"], d["rows"]) for d in cache.datasets() if d["dataset"] == "gone"] == [
        (1, 2)
    ]
    assert cache.remove("gone") == [1]
    assert data["v"].tolist() == [1, 2], "a handle that is open stays valid"
    with pytest.raises(tensorcache.NotFoundError):
        cache.dataset("gone")
    with pytest.raises(tensorcache.NotFoundError):
        cache.remove("gone")


def write(path: Path, *lines: str) -> Path:
    """Write lines to a file, and return its path."""
    path.write_text("\n".join(lines) + "\n")
    return path


def test_hashes_tell_whether_a_file_is_the_same(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("v\n1\n2\n")
    assert cache.load("hashed", path, hash_sources=True).generation == 1
    os.utime(path, ns=(1, 1))
    jobs: list[dict[str, Any]] = []
    assert cache.load("hashed", path, hash_sources=True, progress=jobs.append).generation == 1
    assert (jobs[-1]["hit"], jobs[-1]["progress"], jobs[-1]["eta_s"]) == (True, 1, None)
    path.write_text("v\n1\n3\n")
    os.utime(path, ns=(1, 1))
    assert cache.load("hashed", path, hash_sources=True)["v"].tolist() == [1, 3]


def test_interrupting_one_of_two_leaves_the_load_to_the_other(
    cache: tensorcache.Cache, home: Path, tmp_path: Path
) -> None:
    path = write(tmp_path / "x.csv", "a", "1", "2")
    started = threading.Event()

    def interrupt(job: dict[str, Any]) -> None:
        started.set()
        joined.wait(60)
        raise KeyboardInterrupt

    joined = threading.Event()
    failed: list[KeyboardInterrupt] = []

    def first() -> None:
        try:
            cache.load("shared", path, progress=interrupt)
        except KeyboardInterrupt as error:
            failed.append(error)

    thread = threading.Thread(target=first)
    with paused_loads(home) as resume:

        def join(job: dict[str, Any]) -> None:
            if not joined.is_set():
                joined.set()
                thread.join()
                resume()

        thread.start()
        assert started.wait(60)
        data = cache.load("shared", path, progress=join)
    assert data.generation == 1
    assert len(data) == 2
    assert len(failed) == 1
