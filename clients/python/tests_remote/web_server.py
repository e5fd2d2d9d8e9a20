"""A web server of files that misbehaves on request, and counts what it sends."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Mode:
    """How the server serves a file.

    Attributes:
        ranges: whether it sends ranges.
        etag: whether it names a tag.
        modified: whether it names the time of change.
        young: whether that time is later than each answer, and the same for all versions.
        length: whether it names the length; otherwise it sends chunks.
        chunked: with no length, whether the answer is chunked; otherwise its end is that of the
            connection.
        status: what it answers, for the first ``times`` requests.
        times: of ``status`` and of ``cut``.
        cut: how many bytes of the body it sends before it closes the connection.
        stop: how many bytes of the body it sends before it sends nothing more.
        pause: seconds between blocks of 64 KiB.
        shift: added to both ends in ``Content-Range``.
        encoding: sent as ``Content-Encoding``.
        change_after: after how many requests the file has another tag and content.
        weak_after: after how many requests the tag is weak.
        forget_after: after how many requests neither tag nor time of change is named.
        location: where requests are sent on to.
        headers: that a request must have.
        ranges_until: after how many requests ranges are ignored.
    """

    ranges: bool = True
    etag: bool = True
    modified: bool = True
    young: bool = False
    length: bool = True
    chunked: bool = True
    status: int = 0
    times: int = 1 << 30
    cut: int = -1
    stop: int = -1
    pause: float = 0.0
    shift: int = 0
    encoding: str = ""
    change_after: int = 1 << 30
    weak_after: int = 1 << 30
    forget_after: int = 1 << 30
    location: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    ranges_until: int = 1 << 30


class WebServer(ThreadingHTTPServer):
    """The server; ``files`` maps paths to their bytes."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.modes: dict[str, Mode] = {}
        self.counts: dict[str, int] = {}
        self.sent = 0
        self.seen: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self.stopping = threading.Event()

    def add(self, path: str, content: bytes, **mode: Any) -> str:
        """Serve a file, and return its URL."""
        self.files[path], self.modes[path], self.counts[path] = content, Mode(**mode), 0
        self.sent = 0
        self.seen.clear()
        return self.url(path)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_address[1]}{path}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients go away on purpose."""


class Handler(BaseHTTPRequestHandler):
    """Answers one request after the other of a connection."""

    protocol_version = "HTTP/1.1"
    server: WebServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        server, path = self.server, self.path.partition("?")[0]
        with server.lock:
            server.seen.append(dict(self.headers.items()) | {"path": self.path})
            server.counts[path] = count = server.counts.get(path, 0) + 1
        if path not in server.files:
            self.empty(404)
            return
        mode, content = server.modes[path], server.files[path]
        if mode.location:
            self.empty(302, mode.location)
            return
        if any(self.headers.get(name) != value for name, value in mode.headers.items()):
            self.empty(401)
            return
        if mode.status and count <= mode.times:
            self.empty(mode.status)
            return
        changed = count > mode.change_after
        if changed:
            content = bytes(len(content))
        start, end, partial = 0, len(content), False
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if wanted and mode.ranges and count <= mode.ranges_until:
            start, end, partial = int(wanted[1]), min(int(wanted[2]) + 1, len(content)), True
            if start >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
        self.send_response(206 if partial else 200)
        if partial:
            where = f"bytes {start + mode.shift}-{end - 1 + mode.shift}/{len(content)}"
            self.send_header("Content-Range", where)
        named = count <= mode.forget_after
        if mode.etag and named:
            tag = '"b"' if changed else '"a"'
            self.send_header("ETag", f"W/{tag}" if count > mode.weak_after else tag)
        if mode.modified and named:
            at = "Fri, 01 Jan 2100" if mode.young else f"Mon, 0{1 + changed} Jun 2026"
            self.send_header("Last-Modified", f"{at} 10:00:00 GMT")
        if mode.encoding:
            self.send_header("Content-Encoding", mode.encoding)
        if mode.length:
            self.send_header("Content-Length", str(end - start))
        elif mode.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.body(content[start:end], mode, count)

    def empty(self, status: int, location: str = "") -> None:
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def body(self, content: bytes, mode: Mode, count: int) -> None:
        cut = mode.cut if count <= mode.times else -1
        stop = mode.stop if mode.stop >= 0 else cut
        for at in range(0, len(content), 64 << 10):
            block = content[at : at + (64 << 10)]
            if 0 <= stop < at + len(block):
                block = block[: max(0, stop - at)]
            data = block if mode.length or not mode.chunked else b"%x\r\n%b\r\n" % (
                len(block), block
            )  # fmt: skip
            if block:
                self.wfile.write(data)
            with self.server.lock:
                self.server.sent += len(block)
            if 0 <= stop <= at + len(block):
                self.wfile.flush()
                if mode.stop >= 0:
                    self.server.stopping.wait(60)
                self.close_connection = True
                return
            if mode.pause:
                time.sleep(mode.pause)
        if not mode.length:
            if mode.chunked:
                self.wfile.write(b"0\r\n\r\n")
            else:
                self.close_connection = True
