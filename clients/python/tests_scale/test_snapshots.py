"""Snapshots are complete or invisible, on a disk and on an S3 server."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tensorcache
import tensorcache.spark
from s3_server import S3
from tensorcache._load.options import FILE_DEFAULTS
from tensorcache._snapshots import Snapshot, Snapshots, snapshot_options
from tensorcache._storage import WANT, Folder

pytestmark = pytest.mark.usefixtures("s3_environment", "home")

FEWER = r'^storage_path: got {} rows in ".*/data", want the {} that were written$'
NO_PARQUET = r'^storage_path: ".*/data/a.parquet" is not a Parquet file$'
OPTIONS = snapshot_options({**FILE_DEFAULTS, "time": "t"})


@pytest.fixture(params=["disk", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path, bucket: S3) -> str:
    """A storage path."""
    return str(tmp_path / "a b%20é") if request.param == "disk" else "s3://prices/store"


def writer(
    rows: int, *names: str, says: int | None = None, start: int = 0
) -> Callable[[Folder], int]:
    """What writes files of so many rows in all, and says that they are so many."""

    def write(folder: Folder) -> int:
        path, filesystem = folder.arrow()
        for name, times in zip(
            names, np.array_split(start + np.arange(rows), len(names)), strict=True
        ):
            pq.write_table(pa.table({"t": times}), f"{path}/{name}", filesystem=filesystem)
        return rows if says is None else says

    return write


def mixed(folder: Folder) -> int:
    """Write files in which a column has two types."""
    path, filesystem = folder.arrow()
    for i, values in enumerate([[1], ["a"]]):
        table = pa.table({"t": [i], "u": values})
        pq.write_table(table, f"{path}/{i}.parquet", filesystem=filesystem)
    return 2


def damaged(content: bytes) -> Callable[[Folder], int]:
    """What writes a file with other content than Parquet's."""

    def write(folder: Folder) -> int:
        file = folder / "a.parquet"
        file.filesystem.pipe_file(file.path, content)
        return 3

    return write


def load(place: Any, write: Callable[[Folder], int] | None = None) -> tensorcache.Dataset:
    return Snapshots(place, "prices").load(write, OPTIONS, None)


def folder(place: str) -> Folder:
    """The folder of the snapshots."""
    return Snapshots(place, "prices")._folder


def test_the_newest_complete_one_is_loaded(place: str) -> None:
    with pytest.raises(tensorcache.NotFoundError, match='no complete snapshot of dataset "prices"'):
        load(place)
    assert len(load(place, writer(3, "a.parquet"))) == 3
    assert len(load(place, writer(5, "b.parquet", "a.parquet"))) == 5
    newest = max(folder(place).names())
    for other in ("backup", "99990101T000000.000000Z-0123abcd"):  # no snapshot; an unfinished one
        unfinished = Snapshot(folder(place) / other)
        unfinished.create()
        writer(7, "a.parquet")(unfinished.data)
    copied = folder(place) / newest / "tensorcache.json"
    backup = folder(place) / "backup" / "tensorcache.json"
    backup.filesystem.pipe_file(backup.path, copied.filesystem.cat_file(copied.path))
    assert len(load(place)) == 5
    assert len(load(f"{place}/")) == 5
    with pytest.raises(tensorcache.NotFoundError):
        Snapshots(place, "price").load(None, OPTIONS, None)


def test_a_write_that_fails_leaves_nothing(place: str) -> None:
    def fail(folder: Folder) -> int:
        writer(3, "a.parquet")(folder)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        load(place, fail)
    assert not folder(place).names()


def test_an_interrupted_write_removes_nothing_at_its_end(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    load(place, writer(5, "a.parquet"))
    with monkeypatch.context() as patch:
        patch.setattr(Snapshot, "complete", interrupt)
        with pytest.raises(KeyboardInterrupt):
            load(place, writer(3, "a.parquet"))
    assert len(folder(place).names()) == 2  # tensorcache.json may still be written
    assert len(load(place)) == 5


def test_two_drivers_write_at_once(place: str) -> None:
    def write(folder: Folder) -> int:
        assert len(load(place, writer(5, "a.parquet"))) == 5
        return writer(3, "a.parquet")(folder)

    assert len(load(place, write)) == 3
    assert len(load(place)) == 5  # the newest is the one that began last


@pytest.mark.parametrize(
    ("write", "want", "hint"),
    [
        (
            writer(3, "a.parquet", says=5),
            FEWER.format(3, 5),
            "give a folder that all machines reach",
        ),
        (writer(3, "a.parquet", says=2), FEWER.format(3, 2), ""),
        (writer(3, "_a.parquet"), FEWER.format(0, 3), "give a folder that all machines reach"),
        (lambda _: 0, "^sources: got no rows, want at least one$", ""),
        (writer(0, "a.parquet"), "^sources: got no rows, want at least one$", ""),
        (damaged(b"PAR1"), NO_PARQUET, ""),
        (damaged(b"PAR1" + 40 * b"x" + b"\x08\0\0\0PAR1"), NO_PARQUET, ""),
    ],
)
def test_what_cannot_be_loaded_is_refused_and_removed(
    place: str, write: Any, want: str, hint: str
) -> None:
    load(place, writer(7, "a.parquet"))
    with pytest.raises(tensorcache.SourceError) as refused:
        load(place, write)
    assert re.search(want, refused.value.detail)
    assert refused.value.hint == hint
    assert len(folder(place).names()) == 1
    assert len(load(place)) == 7


def test_columns_that_are_not_loaded_may_have_several_types(place: str) -> None:
    with pytest.raises(tensorcache.SourceError, match='column "u"'):
        load(place, mixed)
    options = snapshot_options({**FILE_DEFAULTS, "time": "t", "columns": ["t"]})
    assert len(Snapshots(place, "prices").load(None, options, None)) == 2


def test_files_without_rows_are_removed(place: str) -> None:
    data = load(place, writer(2, "a.parquet", "b.parquet", "c.parquet"))  # as Spark writes them
    assert len(data) == 2
    assert len(load(place)) == 2
    assert len(data.manifest["sources"]) == 2


@pytest.mark.parametrize(
    ("change", "want"),
    [
        ("add", r'/c.parquet": got \d+ bytes, want no such file'),
        ("remove", r'/b.parquet": got no such file, want \d+ bytes'),
        ("replace", r'/b.parquet": got \d+ bytes, want \d+ bytes'),
        ("other format", 'tensorcache.json": got format 2, want 1'),
        ("no format", 'tensorcache.json": damaged'),
        ("cut", 'tensorcache.json": damaged'),
    ],
)
def test_a_changed_one_is_refused(place: str, change: str, want: str) -> None:
    load(place, writer(5, "a.parquet", "b.parquet"))
    made = folder(place) / max(folder(place).names())
    data, mark = made / "data", made / "tensorcache.json"
    if change == "add":
        writer(3, "c.parquet", start=100)(data)
    elif change == "remove":
        data.filesystem.rm(f"{data.path}/b.parquet")
    elif change == "replace":
        writer(99, "b.parquet", start=100)(data)
    else:
        texts = {"other format": {"format": 2, "files": {}}, "no format": [], "cut": {}}
        text = json.dumps(texts[change]).encode()
        mark.filesystem.pipe_file(mark.path, text[:-1] if change == "cut" else text)
    with pytest.raises(tensorcache.TensorcacheError, match=want) as refused:
        load(place)
    assert len(tensorcache.connect().dataset("prices")) == 5
    assert refused.value.field == "storage_path"
    assert refused.value.hint == "remove the snapshot, and load the data again"


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (3, f"storage_path: got 3, {WANT}"),
        ("", f'storage_path: got "", {WANT}'),
        (b"/x", WANT),
        ("/x\0", WANT),
        ("/x\udcff", r"storage_path: got '/x\udcff', which is not UTF-8"),
        ("file:///x", f'storage_path: got "file:///x", {WANT}\nhint: leave file:// out'),
        (
            "s3:/x",
            f'storage_path: got "s3://x", {WANT}\nhint: give a URL as text, with two slashes',
        ),
        ("s3://user:password@bucket/x", '"s3://bucket/x" has credentials, which would be pickled'),
        ("s3://bucket/x?key=password", "s3 URLs have no query\nhint: set the environment of each"),
        ("s3://bucket/[x]", 'got "s3://bucket/[x]", want one without "*", "?", "[" and "#"'),
        ("https://host/x?password", f'got "https://host/x", {WANT}'),
        ("memory://x", f'got "memory://x", {WANT}'),
        ("hdfs://host/x", f'got "hdfs://host/x", {WANT}'),
        ("s3://", "want one with a bucket"),
    ],
)
def test_a_wrong_storage_path_is_refused(given: Any, want: str) -> None:
    with pytest.raises(tensorcache.SpecError) as refused:
        load(given)
    assert want in str(refused.value)
    assert refused.value.field == "storage_path"
    assert "password" not in str(refused.value)


def test_files_have_no_storage_path(tmp_path: Path) -> None:
    with pytest.raises(tensorcache.SpecError, match="storage_path: got one, want none for files"):
        tensorcache.spark.load("prices", "x.csv", storage_path=tmp_path)
    with pytest.raises(tensorcache.SpecError, match="sources: got 3, want paths"):
        tensorcache.spark.load("prices", cast("Any", [3]), storage_path=tmp_path)


@pytest.mark.parametrize("protocol", ["s3", "s3a"])
def test_a_bucket_is_a_storage_path(protocol: str, bucket: S3) -> None:
    assert len(load(f"{protocol}://prices/x", writer(3, "a.parquet"))) == 3


def test_a_folder_that_cannot_be_read_is_no_missing_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for write in (None, writer(3, "a.parquet")):
        with pytest.raises(tensorcache.SourceError, match=f'storage_path: "{tmp_path}/file/prices'):
            load(tmp_path / "file", write)
    load(tmp_path, writer(3, "a.parquet"))
    mark = next(tmp_path.glob("prices/*/tensorcache.json"))
    mark.unlink()
    mark.mkdir()
    with pytest.raises(tensorcache.SourceError, match="cannot be read: Is a directory"):
        load(tmp_path)


def test_the_default_is_in_the_cache_directory(home: Path) -> None:
    load(None, writer(3, "a.parquet"))
    assert len(list((home / "snapshots" / "prices").glob("*/tensorcache.json"))) == 1
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_rows_without_order_need_a_time(tmp_path: Path) -> None:
    with pytest.raises(tensorcache.SpecError, match="time: got none, want the column that orders"):
        tensorcache.spark.load("prices", None, storage_path=tmp_path)
    with pytest.raises(tensorcache.NotFoundError):
        tensorcache.spark.load("prices", None, storage_path=tmp_path, recipe={"time": "t"})
    sorts = snapshot_options({**FILE_DEFAULTS, "recipe": {"time": "t", "sort": False}})
    assert sorts["sort"] is True
