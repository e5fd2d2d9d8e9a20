"""Errors name what is wrong, the URL, the options or the server, and say what to do."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import random
import selectors
import socket
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorcache
from s3_server import S3, SECRET
from stager import staging
from tensorcache._remote import requests
from tensorcache._remote.fetch import piece
from tensorcache._remote.filesystems import web_options
from tensorcache._remote.problems import StalledError
from tensorcache._remote.web import Answer, range_of
from web_server import WebServer

CONTENT = random.Random(9).randbytes(2_000_000)


def refused(home: Path, url: str, options: Any = None) -> tensorcache.TensorcacheError:
    with pytest.raises(tensorcache.TensorcacheError) as caught, staging(home, [url], None, options):
        pass
    assert SECRET not in str(caught.value)
    return caught.value


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that accepts connections and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def connections(server: socket.socket) -> int:
    """How many connections were made to a server that has accepted none."""
    server.setblocking(False)
    for count in itertools.count():
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return count
    raise AssertionError


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (204, "open the URL in a browser"),
        (206, "download the file"),
        (302, "open the URL in a browser"),
        (304, "open the URL in a browser"),
        (400, "open the URL in a browser"),
        (405, "open the URL in a browser"),
        (412, "load again"),
        (416, "download the file"),
        (418, "open the URL in a browser"),
        (429, "the server refused 3 requests; try again later"),
        (451, "open the URL in a browser"),
        (500, "the server refused 3 requests; try again later"),
        (503, "the server refused 3 requests; try again later"),
    ],
)
def test_each_status_has_a_hint(tmp_path: Path, web: WebServer, status: int, hint: str) -> None:
    error = refused(tmp_path, web.add("/x.csv", CONTENT, status=status))
    assert hint in error.hint
    assert web.counts["/x.csv"] == (3 if "3 requests" in hint else 1)


def test_a_server_that_never_answers_is_asked_once(
    tmp_path: Path, silent: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "STALL_SECONDS", 0.5)
    error = refused(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}/x.csv")
    assert "the server sent nothing for 0.5 s" in str(error)
    assert error.hint
    assert connections(silent) <= 1  # none if the client has no processor time for so long


@pytest.mark.parametrize("ranges", [True, False])
def test_a_link_that_stops_is_asked_once(
    tmp_path: Path, web: WebServer, monkeypatch: pytest.MonkeyPatch, ranges: bool
) -> None:
    monkeypatch.setattr(requests, "STALL_SECONDS", 0.5)
    monkeypatch.setattr(requests, "AT_ONCE", 1)
    error = refused(tmp_path, web.add("/x.csv", CONTENT, stop=100_000, ranges=ranges))
    assert "the server sent nothing for 0.5 s" in str(error)
    # Its version, and its bytes; fewer if the client has no processor time for so long.
    assert web.counts["/x.csv"] <= 2


class FakeClock(selectors.SelectSelector):
    """The selector of an event loop; its clock advances where a real one would sleep."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        self.now += timeout or 0.0
        return super().select(0)


class FakeLoop(asyncio.SelectorEventLoop):
    """An event loop with the clock of its selector."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        super().__init__(self.clock)

    def time(self) -> float:
        return self.clock.now


class SlowLink:
    """A file system, its session and its response: two bytes come, each of them after a pause."""

    def __init__(self, pause: float) -> None:
        self.kwargs: dict[str, Any] = {}
        self.status = 206
        self.headers = {"Content-Range": "bytes 0-1/2", "ETag": '"x"'}
        self.pause = pause
        self.left = [b"b", b"a"]
        self.content = self

    async def set_session(self) -> SlowLink:
        return self

    def encode_url(self, url: str) -> str:
        return url

    async def get(self, *_: Any, **__: Any) -> SlowLink:
        return self

    async def __aenter__(self) -> SlowLink:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def readany(self) -> bytes:
        await asyncio.sleep(self.pause)
        return self.left.pop() if self.left else b""

    def close(self) -> None:
        pass


def test_a_slow_link_is_no_silence() -> None:
    """The time between bytes is limited, and not that of a request."""
    loop = FakeLoop()
    expected = Answer(2, ranges=True, etag='"x"', modified=None)

    def after(pause: float) -> bytes:
        return loop.run_until_complete(range_of(SlowLink(pause), "http://x/", 0, 2, expected))

    with contextlib.closing(loop):
        assert after(requests.STALL_SECONDS - 1) == b"ab"
        assert loop.clock.now == 3 * (requests.STALL_SECONDS - 1)
        with pytest.raises(StalledError):
            after(requests.STALL_SECONDS + 1)
    file: Any = types.SimpleNamespace(answer=expected, url="http://x/")
    assert piece(file, 0, 2).seconds == math.inf
    timeout = web_options({})["client_kwargs"]["timeout"]
    assert (timeout.total, timeout.sock_read) == (None, requests.STALL_SECONDS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"headers": {"X-Token": f"{SECRET}\n"}}, "a line break in the header 'X-Token'"),
        ({"headers": {f"X\r{'-Y'}": SECRET}}, "a line break in the header"),
        ({"headers": {"X-Token": 5}}, "got int in the header 'X-Token'"),
        ({"headers": {"X-Token": SECRET.encode()}}, "got bytes in the header 'X-Token'"),
        ({"headers": SECRET}, "for headers"),
        ({"client_kwargs": {"headers": {"X-Token": 5}}}, "got int in the header 'X-Token'"),
        ({"client_kwargs": {"nonsense": SECRET}}, "refuses the URL or its options"),
    ],
    ids=str,
)
def test_options_of_the_web_are_blamed(
    tmp_path: Path, web: WebServer, options: dict[str, Any], message: str
) -> None:
    error = refused(tmp_path, web.add("/x.csv", CONTENT), options)
    assert message in str(error)
    assert "storage_options" in str(error)


@pytest.mark.parametrize(
    "options",
    [
        {"key": 5},
        {"endpoint_url": "nonsense", "client_kwargs": {}},
        {"client_kwargs": {"endpoint_url": "nonsense"}},
        {"nonsense": SECRET},
    ],
    ids=str,
)
def test_options_of_a_store_are_blamed(tmp_path: Path, bucket: S3, options: dict[str, Any]) -> None:
    error = refused(tmp_path, "s3://prices/x.csv", {**bucket.options, **options})
    assert "the file system refuses the URL or its options" in error.detail
    assert "names and values in storage_options" in error.hint


def test_a_server_is_blamed_if_no_options_are_given(tmp_path: Path) -> None:
    error = refused(tmp_path, f"ftp://user:{SECRET}@127.0.0.1:1/x.csv")
    assert error.detail.startswith('"ftp://127.0.0.1:1/x.csv": cannot be read: Connection refused')
    assert "storage_options" not in error.hint
    assert error.field == "sources"


def test_a_file_system_that_needs_options_says_so(tmp_path: Path) -> None:
    error = refused(tmp_path, "reference://x.csv")
    assert error.detail.startswith(
        '"reference://x.csv": the file system refuses the URL or its options'
    )
    assert "storage_options" in error.hint
