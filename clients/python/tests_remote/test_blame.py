"""Errors name what is wrong, the URL, the options or the server, and say what to do."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorcache
from s3_server import S3, SECRET
from stager import staged_bytes, staging
from tensorcache._remote import requests
from web_server import WebServer

CONTENT = random.Random(9).randbytes(2_000_000)


def refused(home: Path, url: str, options: Any = None) -> tensorcache.TensorcacheError:
    with pytest.raises(tensorcache.TensorcacheError) as caught, staging(home, [url], None, options):
        pass
    assert SECRET not in str(caught.value)
    return caught.value


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of a server that accepts connections and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


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
    tmp_path: Path, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "STALL_SECONDS", 0.5)
    began = time.monotonic()
    error = refused(tmp_path, f"http://{silent}/x.csv")
    assert "the server sent nothing for 0.5 s" in str(error)
    assert error.hint
    assert time.monotonic() - began < 2 * 0.5


@pytest.mark.parametrize("ranges", [True, False])
def test_a_link_that_stops_is_asked_once(
    tmp_path: Path, web: WebServer, monkeypatch: pytest.MonkeyPatch, ranges: bool
) -> None:
    monkeypatch.setattr(requests, "STALL_SECONDS", 0.5)
    monkeypatch.setattr(requests, "AT_ONCE", 1)
    error = refused(tmp_path, web.add("/x.csv", CONTENT, stop=100_000, ranges=ranges))
    assert "the server sent nothing for 0.5 s" in str(error)
    assert web.counts["/x.csv"] == 2  # its version, and its bytes


def test_a_slow_link_is_no_silence(
    tmp_path: Path, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "STALL_SECONDS", 0.6)
    content = CONTENT[: 512 << 10]  # two requests of 256 KiB, each of them 1 s
    with staging(tmp_path, [web.add("/x.csv", content, pause=0.25)]) as body:
        assert staged_bytes(body) == [content]


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
