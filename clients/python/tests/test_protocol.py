"""The client speaks with daemons of other versions, and refuses what is no daemon."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import tensorcache
from tensorcache._daemon import frames
from tensorcache._version import Protocols


class Fake:
    """A server that listens in place of a daemon."""

    def __init__(self, directory: Path, serve: Callable[[socket.socket], None]) -> None:
        directory.mkdir(mode=0o700, exist_ok=True)
        self.path = directory / "fake.sock"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self._serve = serve
        self._thread = threading.Thread(target=self._run)
        addresses = {"pid": os.getpid(), "version": "9.9.9", "protocol": 1}
        addresses |= {"control": str(self.path), "feed": str(self.path)}
        (directory / "daemon.json").write_text(json.dumps(addresses))

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self._serve(connection)

    def __enter__(self) -> Fake:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


def health(protocol: Any, least: int | None = None) -> Callable[[socket.socket], None]:
    """Answer every request as a daemon of protocol versions answers /v1/health."""
    versions = {"protocol": protocol} | ({} if least is None else {"protocol_least": least})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"status": "ok", "version": "9.9.9", "pid": 1} | versions).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    def serve(connection: socket.socket) -> None:
        Handler(connection, ("", 0), None)  # type: ignore[arg-type]

    return serve


def test_a_daemon_that_speaks_newer_protocols_too_is_used(home: Path, tmp_path: Path) -> None:
    with Fake(tmp_path / "newer", health(99, least=1)):
        cache = tensorcache.connect(tmp_path / "newer", autostart=False)
        assert cache.health()["protocol"] == 99


@pytest.mark.parametrize(
    ("answer", "spoken"),
    [
        ({"protocol": 99}, "protocol 99"),
        ({"protocol": 99, "least": 2}, "protocols 2 to 99"),
        ({"protocol": "1"}, "protocol 0"),
    ],
)
def test_a_daemon_of_another_protocol_is_named_with_both_versions(
    home: Path, tmp_path: Path, answer: dict[str, Any], spoken: str
) -> None:
    words = rf"speaks {spoken} \(tensorcache 9\.9\.9\), this client protocol 1"
    with (
        Fake(tmp_path / "other", health(**answer)),
        pytest.raises(tensorcache.ProtocolError, match=words) as caught,
    ):
        tensorcache.connect(tmp_path / "other")
    assert caught.value.type == "protocol_mismatch"
    assert "same version" in caught.value.hint


def test_something_else_that_listens_is_no_daemon(home: Path, tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(b"220 mail.example.org ESMTP\r\n")

    with (
        Fake(tmp_path / "mail", talk),
        pytest.raises(tensorcache.ProtocolError, match="did not answer"),
    ):
        tensorcache.connect(tmp_path / "mail")


def test_the_daemon_refuses_another_protocol(
    cache: tensorcache.Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "PROTOCOLS", Protocols(98, 99))
    with pytest.raises(tensorcache.ProtocolError, match="99") as caught:
        cache.dataset("any")
    assert caught.value.type == "protocol_mismatch"
    assert "speaks protocols 98 to 99" in caught.value.detail
    assert caught.value.detail.endswith(" protocol 1")


def test_client_and_daemon_use_the_newest_protocol_of_both(
    cache: tensorcache.Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "PROTOCOLS", Protocols(1, 99))
    assert cache.put("any", {"a": [1.0, 2.0]}).rows == 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"", "closed the connection"),
        (b"\x05\x00\x00", "closed the connection"),
        (frames.HEADER.pack(10, frames.REPLY) + b"{}", "closed the connection"),
        (frames.HEADER.pack(2, frames.BATCHES) + b"{}", "where a REPLY belongs"),
        (frames.HEADER.pack(2**31, frames.REPLY), "where a REPLY belongs"),
        (frames.HEADER.pack(2, frames.REPLY) + b"{}", "not of protocol 1"),
        (frames.HEADER.pack(2, frames.REPLY) + b"{]", "not JSON"),
        (frames.HEADER.pack(2, frames.ERROR) + b"[]", "no JSON object"),
    ],
)
def test_replies_that_cannot_be(home: Path, tmp_path: Path, answer: bytes, words: str) -> None:
    def serve(connection: socket.socket) -> None:
        if connection.recv(4, socket.MSG_PEEK) == b"GET ":
            health(1)(connection)
            return
        size, _ = frames.HEADER.unpack(connection.recv(8, socket.MSG_WAITALL))
        connection.recv(size, socket.MSG_WAITALL)
        connection.sendall(answer)

    with Fake(tmp_path / "fake", serve):
        cache = tensorcache.connect(tmp_path / "fake", autostart=False)
        with pytest.raises(tensorcache.DaemonError, match=words):
            cache.dataset("any")
