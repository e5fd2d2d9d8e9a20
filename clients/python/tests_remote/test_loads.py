"""Loads of remote files by a real daemon: equal to those of local files, and no more is fetched."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tensorcache
from cases import SEED
from daemon import children, wait_until
from s3_server import S3, SECRET
from web_server import WebServer

pytestmark = pytest.mark.usefixtures("nothing_left")

ROWS = 40_000


def table(columns: int = 50, rows: int = ROWS, first: int = 0, seed: int = 3) -> pa.Table:
    """A table of two items, a time and columns of noise."""
    rng = np.random.default_rng(seed)
    times = np.repeat(np.arange(first, first + rows // 2), 2)
    return pa.table(
        {"id": ["x", "y"] * (rows // 2), "t": times}
        | {f"c{i}": rng.standard_normal(rows) for i in range(columns)}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of each format, and a folder of Parquet files."""
    folder = tmp_path_factory.mktemp("files")
    pq.write_table(table(), folder / "wide.parquet", row_group_size=ROWS // 4)
    pq.write_table(table(3, 2000), folder / "small.parquet")
    pq.write_table(table(3, 2000, first=1000), folder / "newer.parquet")
    narrow = table(3, 20_000)
    rows = narrow.to_pylist()
    lines = ["id,t,c0,c1,c2", *(",".join(map(str, row.values())) for row in rows)]
    (folder / "x.csv").write_text("\n".join(lines) + "\n")
    subprocess.run(["gzip", "-k", folder / "x.csv"], check=True)
    with pa.OSFile(str(folder / "x.arrow"), "wb") as f, pa.ipc.new_file(f, narrow.schema) as w:
        w.write_table(narrow)
    np.save(folder / "x.npy", np.random.default_rng(1).standard_normal((50_000, 4)))
    np.savez(folder / "x.npz", a=np.arange(300_000), b=np.arange(300_000) / 7)
    for year in (2020, 2021):
        part = folder / "parts" / f"year={year}"
        part.mkdir(parents=True)
        pq.write_table(table(3, 2000, first=year * 1000), part / "part.parquet")
    (folder / "parts" / "_notes").mkdir()
    (folder / "parts" / "_notes" / "x.txt").write_bytes(bytes(100_000))
    return folder


@pytest.fixture
def served(web: WebServer, folder: Path) -> Callable[..., str]:
    """Serves a file of the folder over HTTP."""
    return lambda name, **mode: web.add(f"/{name}", (folder / name).read_bytes(), **mode)


def same(cache: tensorcache.Cache, a: str, b: str) -> None:
    """Check that two datasets hold the same bits."""
    one, other = cache.dataset(a), cache.dataset(b)
    assert list(one) == list(other)
    for name in one:
        assert np.asarray(one[name]).tobytes() == np.asarray(other[name]).tobytes()
    assert list(one.items) == list(other.items)


OPTIONS: dict[str, dict[str, Any]] = {
    "wide.parquet": {"item_id": "id", "time": "t", "sort": True},
    "x.csv": {"item_id": "id", "time": "t", "sort": True},
    "x.csv.gz": {"item_id": "id", "time": "t", "sort": True},
    "x.arrow": {"item_id": "id", "time": "t", "sort": True},
    "x.npy": {},
    "x.npz": {},
}


@pytest.mark.parametrize("mode", [{}, {"ranges": False}, {"ranges": False, "length": False}])
@pytest.mark.parametrize("name", OPTIONS)
def test_a_load_over_http_is_that_of_the_file(
    cache: tensorcache.Cache, folder: Path, served: Callable[..., str], name: str, mode: Any
) -> None:
    options = OPTIONS[name]
    cache.load("local", folder / name, **options)
    url = served(name, **mode)
    data = cache.load("remote", f"{url}?token=s3cr3t", **options)
    same(cache, "local", "remote")
    (source,) = data.manifest["sources"]
    assert source["path"] == url
    assert source["origin"]["url"] == url
    assert source["bytes"] == (folder / name).stat().st_size
    cache.remove("remote")


def test_two_of_fifty_columns_need_few_bytes(
    cache: tensorcache.Cache, folder: Path, web: WebServer, served: Callable[..., str]
) -> None:
    options: dict[str, Any] = {"item_id": "id", "time": "t", "sort": True, "columns": ["c3", "c40"]}
    url = served("wide.parquet")
    cache.load("local", folder / "wide.parquet", **options)
    cache.load("two", url, **options)
    same(cache, "local", "two")
    size = (folder / "wide.parquet").stat().st_size
    assert 0 < web.sent < size / 6
    before = web.sent
    assert cache.load("two", url, **options).generation == 1
    assert web.sent - before <= 1, "a reload asks for one byte, which tells the version"
    where = {**options, "where": (0, 1000)}
    cache.load("local", folder / "wide.parquet", **where)
    cache.load("two", url, **where)
    same(cache, "local", "two")


def test_objects_of_s3(
    cache: tensorcache.Cache, home: Path, folder: Path, bucket: S3, steps: list[dict[str, Any]]
) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            bucket.client.upload_file(str(path), "prices", str(path.relative_to(folder)))
    bucket.count.clear()
    options: dict[str, Any] = {"item_id": "id", "time": "t", "sort": True, "columns": ["c3", "c40"]}
    url, keys = "s3://prices/wide.parquet", bucket.options
    cache.load("local", folder / "wide.parquet", **options)
    data = cache.load("s3", url, storage_options=keys, progress=steps.append, **options)
    same(cache, "local", "s3")
    assert 0 < bucket.sent < (folder / "wide.parquet").stat().st_size / 6
    assert {"fetch", "finish"} & {step["phase"] for step in steps}
    assert SECRET not in repr(data) + repr(data.manifest) + repr(steps)
    sent = bucket.sent
    assert cache.load("s3", url, storage_options=keys, **options).generation == 1
    assert bucket.sent == sent
    bucket.client.upload_file(str(folder / "wide.parquet"), "prices", "other.parquet")
    changed = table(seed=4)
    pq.write_table(changed, folder / "changed.parquet", row_group_size=ROWS // 4)
    bucket.client.upload_file(str(folder / "changed.parquet"), "prices", "wide.parquet")
    assert cache.load("s3", url, storage_options=keys, **options).generation == 2
    cache.load("local", folder / "changed.parquet", **options)
    same(cache, "local", "s3")

    plain: dict[str, Any] = {"item_id": "id", "time": "t", "sort": True}
    cache.load("local", folder / "parts", **plain)
    cache.load("s3", "s3://prices/parts", storage_options=keys, **plain)
    same(cache, "local", "s3")
    assert "year" in list(cache.dataset("s3"))
    cache.load("local", folder / "parts/*/*.parquet", **plain)
    cache.load("s3", "s3://prices/parts/*/*.parquet", storage_options=keys, **plain)
    same(cache, "local", "s3")
    for path in home.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


def test_newer_rows_are_appended_once(
    cache: tensorcache.Cache, folder: Path, web: WebServer, served: Callable[..., str]
) -> None:
    options: dict[str, Any] = {"item_id": "id", "time": "t", "sort": True, "columns": ["c1"]}
    old, newer = served("small.parquet"), served("newer.parquet")
    cache.load("local", folder / "small.parquet", **options)
    cache.append("local", folder / "newer.parquet")
    cache.load("grows", old, **options)
    data = cache.append("grows", [old, newer])
    assert len(data["c1"]) == 4000
    same(cache, "local", "grows")
    before = web.sent
    assert cache.append("grows", newer).generation == data.generation
    assert web.sent - before <= 1


def test_a_changed_file_is_a_new_generation(
    cache: tensorcache.Cache, web: WebServer, served: Callable[..., str]
) -> None:
    url = served("small.parquet", change_after=1 << 20)
    assert cache.load("changes", url, item_id="id", time="t", sort=True).generation == 1
    web.modes["/small.parquet"].weak_after = 0
    assert cache.load("changes", url, item_id="id", time="t", sort=True).generation == 1
    web.files["/small.parquet"] = web.files["/newer.parquet"] = web.files["/small.parquet"]
    web.modes["/small.parquet"].etag = False
    assert cache.load("changes", url, item_id="id", time="t", sort=True).generation == 2
    assert cache.load("changes", url, item_id="id", time="t", sort=True).generation == 2
    web.modes["/small.parquet"].modified = False
    assert cache.load("changes", url, item_id="id", time="t", sort=True).generation == 3
    assert cache.load("changes", url, item_id="id", time="t", sort=True).generation == 4


@pytest.mark.parametrize("mode", [{"status": 404}, {"cut": 70_000}, {"change_after": 2}])
def test_a_bad_server_makes_no_dataset(
    cache: tensorcache.Cache, served: Callable[..., str], mode: dict[str, Any]
) -> None:
    with pytest.raises(tensorcache.SourceError):
        cache.load("bad", served("wide.parquet", **mode), item_id="id", time="t", sort=True)
    assert "bad" not in [d["dataset"] for d in cache.datasets()]


def test_the_daemon_refuses_before_more_is_fetched(
    cache: tensorcache.Cache, web: WebServer, served: Callable[..., str]
) -> None:
    url = served("wide.parquet")
    with pytest.raises(tensorcache.NotFoundError, match="nope"):
        cache.load("bad", url, columns=["nope"])
    assert web.sent < 300_000
    content = bytes(2_000_000)
    with pytest.raises(tensorcache.SourceError, match=r"/zeros\.parquet") as caught:
        cache.load("bad", web.add("/zeros.parquet", content) + "?s3cr3t")
    assert "staging-" not in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


def test_local_and_remote_sources_do_not_mix(
    cache: tensorcache.Cache, folder: Path, served: Callable[..., str]
) -> None:
    local, url = str(folder / "small.parquet"), served("small.parquet")
    with pytest.raises(tensorcache.SourceError, match="got local files and URLs"):
        cache.load("mixed", [local, url])
    for call in (
        lambda: cache.load("mixed", local, storage_options={"key": SECRET}),
        lambda: cache.load("mixed", {"a": [1.0]}, storage_options={"key": SECRET}),
        lambda: cache.append("mixed", {"a": [1.0]}, storage_options={"key": SECRET}),
        lambda: cache.load("mixed", url, recipe={"storage_options": {"key": SECRET}}),
    ):
        with pytest.raises(tensorcache.SpecError, match="storage_options") as caught:
            call()
        assert SECRET not in str(caught.value)


def test_what_remote_files_do_not_have_is_refused(
    cache: tensorcache.Cache, served: Callable[..., str]
) -> None:
    url = served("small.parquet")
    with pytest.raises(tensorcache.SpecError, match="hash_sources"):
        cache.load("refused", url, hash_sources=True)
    for columns in (f"{url}?s3cr3t", [f"{url}?s3cr3t"]):
        with pytest.raises(tensorcache.SourceError, match="reads files") as caught:
            cache.put("refused", columns)  # type: ignore[arg-type]
        assert "s3cr3t" not in str(caught.value)
    assert "refused" not in [d["dataset"] for d in cache.datasets()]


def test_random_loads_equal_those_of_local_files(
    cache: tensorcache.Cache, folder: Path, served: Callable[..., str]
) -> None:
    draw = random.Random(SEED)
    for _ in range(8):
        columns = draw.sample([f"c{i}" for i in range(50)], draw.randint(1, 8))
        start = draw.randint(0, ROWS // 2 - 1)
        options: dict[str, Any] = {
            "item_id": "id",
            "time": "t",
            "sort": True,
            "columns": columns,
            "where": draw.choice([None, (start, start + draw.randint(1, ROWS // 2))]),
            "fill": draw.choice([None, 0.0]),
        }
        cache.load("local", folder / "wide.parquet", **options)
        cache.load("remote", served("wide.parquet"), **options)
        same(cache, "local", "remote")


# A process in the background of a script without job control inherits an ignored SIGINT.
SCRIPT = """
    import signal, sys, tensorcache
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cache = tensorcache.connect(sys.argv[1], autostart=False)
    cache.load("killed", sys.argv[2], item_id="id", time="t", sort=True)
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_client_that_is_stopped_leaves_nothing(
    cache: tensorcache.Cache, home: Path, web: WebServer, served: Callable[..., str], end: int
) -> None:
    url = served("wide.parquet", pause=0.05)
    client = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(home), f"{url}?s3cr3t-query"],
        stderr=subprocess.PIPE,
    )
    wait_until(lambda: web.sent > 500_000, "nothing was fetched")
    (staged,) = (home / "tmp").glob("staging-*")
    assert staged.stat().st_mode & 0o777 == 0o700
    os.kill(client.pid, end)
    client.communicate()
    if end == signal.SIGKILL:
        assert staged.exists()
        cache.load("after", served("small.parquet"), item_id="id", time="t", sort=True)
    assert not staged.exists()
    assert "killed" not in [d["dataset"] for d in cache.datasets()]


def test_the_daemon_and_its_children_know_no_secret(
    cache: tensorcache.Cache, home: Path, web: WebServer, served: Callable[..., str]
) -> None:
    header = {"Authorization": f"Bearer {SECRET}"}
    url = served("wide.parquet", headers=header)
    seen: set[bytes] = set()
    pid = cache.health()["pid"]

    def look(_: dict[str, Any]) -> None:
        for process in (pid, *children(pid)):
            for name in ("environ", "cmdline"):
                try:
                    seen.add(Path(f"/proc/{process}/{name}").read_bytes())
                except OSError:
                    continue

    cache.load(
        "secret", f"{url}?sig={SECRET}", item_id="id", time="t", sort=True, progress=look,
        storage_options={"headers": header},
    )  # fmt: skip
    assert seen
    assert not any(SECRET.encode() in text for text in seen)
    for path in home.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
    assert SECRET not in repr(cache.dataset("secret")) + repr(cache.datasets())


def test_a_fork_while_fetching_keeps_no_lock(
    cache: tensorcache.Cache, home: Path, served: Callable[..., str]
) -> None:
    forked: list[int] = []

    def fork(job: dict[str, Any]) -> None:
        if not forked and job["phase"] == "fetch":
            pid = os.fork()
            if pid == 0:
                locks = list((home / "tmp").glob("staging-*/lock"))
                open_files = [
                    p.readlink() for p in Path("/proc/self/fd").glob("*") if p.is_symlink()
                ]
                os._exit(0 if locks and locks[0] not in open_files else 1)
            forked.append(os.waitpid(pid, 0)[1])

    cache.load("forked", served("wide.parquet"), item_id="id", time="t", sort=True, progress=fork)
    assert forked == [0]
