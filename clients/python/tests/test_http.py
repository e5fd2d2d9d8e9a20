"""Control requests that are too large, or that the daemon does not receive in time."""

from __future__ import annotations

import http.server
import socketserver
import threading
from pathlib import Path

import numpy as np
import pytest

import tensorcache
from tensorcache._daemon.http import Control


def test_a_request_that_is_too_large_is_told_so(cache: tensorcache.Cache) -> None:
    windows = cache.put("a", {"id": ["u"] * 9, "x": np.arange(9.0)}, item_id="id").windows(
        context_length=1
    )
    with pytest.raises(
        tensorcache.TensorcacheError, match="the body is over 16777216 bytes"
    ) as caught:
        windows.where(items=["x" * 1000] * 20_000)
    assert caught.value.type == "too_large"


def test_a_request_that_came_too_late_is_sent_once_more(tmp_path: Path) -> None:
    """The daemon ignores an incomplete request, as from a client in a stopped container."""
    asked: list[tuple[str, bytes]] = []

    class Late(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            late = self.path == "/ever" or len(asked) == 1
            self.send_response(408 if late else 200)
            self.end_headers()
            self.wfile.write(b'{"type": "timeout", "detail": "too late"}' if late else b'{"a": 1}')

        def address_string(self) -> str:
            return "a socket"

        def log_message(self, *_: object) -> None:
            pass

    with socketserver.UnixStreamServer(str(tmp_path / "s"), Late) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            control = Control(str(tmp_path / "s"), "x")
            assert control.post("/once", {"b": 2}) == {"a": 1}
            assert asked == [("/once", b'{"b": 2}')] * 2
            with pytest.raises(tensorcache.DaemonError, match="too late"):
                control.post("/ever", {})
            assert len(asked) == 4
        finally:
            server.shutdown()
            serving.join()
