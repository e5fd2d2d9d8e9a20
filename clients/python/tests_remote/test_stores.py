"""Object stores: moto's S3 server, and others by fsspec's memory under their protocol."""

from __future__ import annotations

import errno
import io
import itertools
import os
import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.registry import _registry as registry
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

import tensorcache
from s3_server import S3, SECRET
from stager import staged_bytes, staging, with_holes
from tensorcache._remote import requests

CONTENT = random.Random(8).randbytes(3_000_000)
READS = [(1_000_000, 1_100_000)]


class Memory(MemoryFileSystem):
    """Files in memory with what stores say of theirs."""

    protocol = ("az", "gs", "hf")
    store: dict[str, Any] = {}  # noqa: RUF012 - as its parent's
    pseudo_dirs = [""]  # noqa: RUF012
    cachable = False
    extra: dict[str, Any] = {}  # noqa: RUF012
    fails: list[BaseException] = []  # noqa: RUF012

    @classmethod
    def _strip_protocol(cls, path: Any) -> str:
        stripped: str = super()._strip_protocol(str(path).partition("://")[2] or str(path))
        return stripped

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        return {**super().info(path, **options), **self.extra}

    def cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> bytes:
        if self.fails:
            raise self.fails.pop()
        data: bytes = super().cat_file(path, start, end, **options)
        return data


@pytest.fixture
def memory() -> Iterator[type[Memory]]:
    with pytest.MonkeyPatch.context() as patch:
        for protocol in Memory.protocol:
            patch.setitem(registry, protocol, Memory)
        Memory.store.clear()
        Memory.pseudo_dirs[:] = [""]
        Memory.extra = {"etag": "e1"}
        Memory.fails = []
        yield Memory


def stage(home: Path, urls: list[str], **options: Any) -> None:
    with staging(home, urls, **options):
        pass


def names(home: Path, body: dict[str, Any]) -> list[str]:
    (directory,) = {Path(s).parents[1] for s in body["sources"]}
    return [str(Path(origin["path"]).relative_to(directory)) for origin in body["origins"]]


def test_only_the_ranges_of_an_object_are_fetched(tmp_path: Path, bucket: S3) -> None:
    bucket.client.put_object(Bucket="prices", Key="a b/x%#.bin", Body=CONTENT)
    with staging(tmp_path, ["s3://prices/a b/x%#.bin"], READS, bucket.options) as body:
        (origin,) = body["origins"]
        assert staged_bytes(body) == [with_holes(CONTENT, origin["ranges"])]
        assert SECRET not in repr(body)
    assert bucket.sent == sum(b - a for a, b in READS)
    assert origin["url"] == "s3://prices/a b/x%25%23.bin"
    assert origin["etag"].strip('"')
    assert origin["mtime"].endswith("Z")


def test_patterns_and_folders_of_objects(tmp_path: Path, bucket: S3) -> None:
    keys = ["d/k=1/a.bin", "d/k=2/b.bin", "d/c.bin", "d/.hidden.bin", "d/e.txt"]
    for key in keys:
        bucket.client.put_object(Bucket="prices", Key=key, Body=key.encode())
    with staging(tmp_path, ["s3://prices/d/"], None, bucket.options) as body:
        assert names(tmp_path, body) == [f"0/{key}" for key in sorted(keys)]
        assert staged_bytes(body) == [key.encode() for key in sorted(keys)]
        assert [Path(s).name for s in body["sources"]] == ["d"]
    with staging(tmp_path, ["s3://prices/d/*.bin"], None, bucket.options) as body:
        assert names(tmp_path, body) == ["0/c.bin"]
    with staging(tmp_path, ["s3://prices/d/k=*"], None, bucket.options) as body:
        assert names(tmp_path, body) == ["0/k=1/a.bin", "1/k=2/b.bin"]
    with staging(
        tmp_path, ["s3://prices/d/e.txt", "s3://prices/d/c.bin"], None, bucket.options
    ) as body:
        assert names(tmp_path, body) == ["0/e.txt", "1/c.bin"]


@pytest.mark.parametrize(
    ("url", "options", "message"),
    [
        ("s3://prices/no.bin", {}, '"s3://prices/no.bin": not found'),
        ("s3://no-bucket/no.bin", {}, "not found"),
        ("s3://prices/no*.bin", {}, 'no file matches "s3://prices/no*.bin"'),
        (f"s3://prices/no*.bin?{SECRET}", {}, 'no file matches "s3://prices/no*.bin…"'),
        (f"s3://prices/x.bin?{SECRET}", {}, 'no file matches "s3://prices/x.bin…"'),
        (f"s3://prices/no[1].bin#{SECRET}", {}, 'no file matches "s3://prices/no[1].bin…"'),
        (f"s3://prices/x.bin?sig={SECRET}", {}, "s3 URLs have no query"),
        ("s3://prices/x.bin", {"nonsense": SECRET}, "check the URL, and the names and values in"),
    ],
)
def test_what_is_not_there_is_refused(
    tmp_path: Path, bucket: S3, url: str, options: dict[str, Any], message: str
) -> None:
    bucket.client.put_object(Bucket="prices", Key="x.bin", Body=b"x")
    with pytest.raises(tensorcache.TensorcacheError) as caught:
        stage(tmp_path, [url], options={**bucket.options, **options})
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_change_while_fetching_is_refused(tmp_path: Path, bucket: S3) -> None:
    bucket.client.put_object(Bucket="prices", Key="x.bin", Body=CONTENT)
    changed = itertools.count()

    def change(_: dict[str, Any]) -> None:
        if next(changed) == 1:
            bucket.client.put_object(Bucket="prices", Key="x.bin", Body=CONTENT[::-1])

    with pytest.raises(tensorcache.SourceError, match="changed while it was fetched"):
        stage(tmp_path, ["s3://prices/x.bin"], options=bucket.options, display=change)


@pytest.mark.parametrize(
    "extra", [{"etag": "e1"}, {"mtime": 1767323045.0}, {"etag": "e1", "mtime": 1767323045.0}]
)
def test_a_store_that_no_longer_names_the_version_is_refused(
    tmp_path: Path, memory: type[Memory], extra: dict[str, Any]
) -> None:
    memory().pipe_file("/box/x.bin", CONTENT)
    memory.extra = extra

    def forget(_: dict[str, Any]) -> None:
        memory.extra = {}

    with pytest.raises(tensorcache.SourceError, match="changed while it was fetched"):
        stage(tmp_path, ["az://box/x.bin"], display=forget)


@pytest.mark.parametrize("protocol", ["az", "gs", "hf", "memory"])
def test_other_stores_are_staged(tmp_path: Path, memory: type[Memory], protocol: str) -> None:
    filesystem = MemoryFileSystem() if protocol == "memory" else memory()
    filesystem.pipe_file("/box/d/x.bin", CONTENT)
    with staging(tmp_path, [f"{protocol}://box/d/x.bin"], READS) as body:
        (origin,) = body["origins"]
        assert staged_bytes(body) == [with_holes(CONTENT, origin["ranges"])]
        assert origin["url"] == f"{protocol}://box/d/x.bin"
        assert origin["etag"] == (None if protocol == "memory" else "e1")
    with staging(tmp_path, [f"{protocol}://box/d", f"{protocol}://box/*/*.bin"]) as body:
        assert staged_bytes(body) == [CONTENT, CONTENT]
        assert names(tmp_path, body) == ["0/d/x.bin", "1/x.bin"]


class Buffered(AbstractFileSystem):
    """One file; it has no ``cat_file``, as that of Hugging Face."""

    protocol = "hf"
    cachable = False
    fetched: list[int] = []  # noqa: RUF012

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        return {"name": path, "size": len(CONTENT), "type": "file", "etag": "e1"}

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        return BufferedFile(self, path, mode, **options)


class BufferedFile(AbstractBufferedFile):
    """Counts what it fetches."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        Buffered.fetched.append(end - start)
        return CONTENT[start:end]


class Plain(Buffered):
    """Opens files of another kind, without options, as that of SMB."""

    def _open(self, path: str, mode: str = "rb", block_size: Any = None, **options: Any) -> Any:
        assert set(options) <= {"autocommit", "cache_options"}
        return io.BytesIO(CONTENT)


@pytest.mark.parametrize("kind", [Buffered, Plain])
def test_no_more_than_the_ranges_is_fetched_of_opened_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Buffered]
) -> None:
    monkeypatch.setitem(registry, "hf", kind)
    Buffered.fetched.clear()
    reads = [(0, 1000), (1_000_000, 1_100_000), (2_500_000, 2_500_001)]
    with staging(tmp_path, ["hf://box/x.bin"], reads) as body:
        assert body["origins"][0]["ranges"] == [list(r) for r in reads]
        assert staged_bytes(body) == [with_holes(CONTENT, body["origins"][0]["ranges"])]
    assert sorted(Buffered.fetched) == ([1, 1000, 100_000] if kind is Buffered else [])


def test_versions_are_told_apart_by_what_a_store_has(tmp_path: Path, memory: type[Memory]) -> None:
    memory().pipe_file("/box/x.bin", CONTENT)
    for extra, etag, mtime in (
        ({"ETag": '"a"', "LastModified": "2026-01-02T03:04:05Z"}, '"a"', "2026-01-02T03:04:05Z"),
        ({"md5Hash": "m", "updated": "2026-01-02T03:04:05.123Z"}, "m",
         "2026-01-02T03:04:05.123000Z"),
        ({"blob_id": "b", "mtime": 0}, "b", None),
        ({"mtime": 1767323045.0}, None, "2026-01-02T03:04:05Z"),
        ({"mtime": "soon"}, None, None),
    ):  # fmt: skip
        memory.extra = extra
        with staging(tmp_path, ["az://box/x.bin"]) as body:
            assert body["origins"][0]["etag"] == etag
            assert body["origins"][0]["mtime"] == mtime


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        ([ConnectionResetError(104, SECRET)] * 3, "Connection reset by peer"),
        ([PermissionError(SECRET)], "access is denied"),
        ([RuntimeError(SECRET)], "cannot be read: RuntimeError"),
    ],
)
def test_errors_of_stores_have_no_secret(
    tmp_path: Path, memory: type[Memory], errors: list[BaseException], message: str
) -> None:
    memory().pipe_file("/box/x.bin", CONTENT[:1000])
    memory.fails = list(errors)
    with pytest.raises(tensorcache.SourceError, match=message) as caught:
        stage(tmp_path, ["az://box/x.bin"])
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert memory.fails == []


def test_a_failure_that_passes_is_tried_again(tmp_path: Path, memory: type[Memory]) -> None:
    memory().pipe_file("/box/x.bin", CONTENT)
    memory.fails = [ConnectionResetError(104, ""), TimeoutError()]
    with staging(tmp_path, ["az://box/x.bin"]) as body:
        assert staged_bytes(body) == [CONTENT]


def test_a_store_that_sends_other_bytes_is_refused(
    tmp_path: Path, memory: type[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory().pipe_file("/box/x.bin", CONTENT)
    monkeypatch.setattr(Memory, "cat_file", lambda *_args, **_options: CONTENT)
    with pytest.raises(tensorcache.SourceError, match="sends more than was asked for"):
        stage(tmp_path, ["az://box/x.bin"])
    monkeypatch.setattr(Memory, "cat_file", lambda *_args, **_options: b"")
    with pytest.raises(tensorcache.SourceError, match="ended its answer too early"):
        stage(tmp_path, ["az://box/x.bin"])


def test_a_store_that_stops_is_refused_in_time(
    tmp_path: Path, memory: type[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory().pipe_file("/box/x.bin", CONTENT)
    stopped = threading.Event()
    monkeypatch.setattr(requests, "STALL_SECONDS", 0.1)
    monkeypatch.setattr(Memory, "cat_file", lambda *_args, **_options: stopped.wait(60))
    with pytest.raises(tensorcache.SourceError, match=r"sent nothing for 0\.1 s"):
        stage(tmp_path, ["az://box/x.bin"])
    stopped.set()


@pytest.mark.parametrize(
    ("number", "kind", "type_", "hint"),
    [
        (errno.EACCES, tensorcache.TensorcacheError, "forbidden", "only the user of the daemon"),
        (errno.ENOSPC, tensorcache.ResourceError, "no_space", "free space there"),
        (errno.EROFS, tensorcache.ResourceError, "no_space", ""),
    ],
    ids=errno.errorcode.get,
)
def test_a_directory_that_cannot_be_made_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: Any, type_: str, hint: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number), "path")

    monkeypatch.setattr(Path, "mkdir", fail)
    with pytest.raises(kind) as caught:
        stage(tmp_path, ["az://box/x.bin"])
    error = caught.value
    assert error.detail == f'no directory can be made in "{tmp_path}/tmp": {os.strerror(number)}'
    assert error.type == type_
    assert hint in error.hint


@pytest.mark.parametrize("name", ["a/../../../etc/x", "a/./x", "a//x", "\0", "é" * 200])
def test_names_that_lead_elsewhere_are_refused(
    tmp_path: Path, memory: type[Memory], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    memory().pipe_file("/box/d/x.bin", CONTENT)
    entry = {"name": f"/box/d/{name}", "size": 3, "type": "file"}
    monkeypatch.setattr(Memory, "find", lambda *_args, **_options: {entry["name"]: entry})
    with pytest.raises(tensorcache.SourceError, match="cannot be that of a file"):
        stage(tmp_path, ["az://box/d"])


@pytest.mark.parametrize("package", ["gcsfs", "adlfs", "huggingface_hub"])
def test_a_package_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    protocol = {"gcsfs": "gs", "adlfs": "az", "huggingface_hub": "hf"}[package]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(tensorcache.MissingExtraError) as caught:
        stage(tmp_path, [f"{protocol}://box/x.bin"])
    assert (caught.value.name, caught.value.hint) == (package, f"pip install {package}")


@pytest.mark.parametrize(
    "url",
    ["s3://", "s3:///", "az://", "sftp://[::s3cr3t/x", "http://", "http://[::s3cr3t/x",
     "http://host:s3cr3t/x", "ftp://user:s3cr3t@127.0.0.1:1/x"],
)  # fmt: skip
def test_half_urls_are_refused(tmp_path: Path, memory: type[Memory], url: str) -> None:
    with pytest.raises(tensorcache.TensorcacheError) as caught:
        stage(tmp_path, [url], options={"anon": True} if url.startswith("s3") else {})
    assert "s3cr3t" not in str(caught.value)


def test_an_unknown_protocol_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tensorcache.SourceError, match=r'got the URL "s4://b/x", want .* s3://'):
        stage(tmp_path, ["s4://b/x?s3cr3t"])
