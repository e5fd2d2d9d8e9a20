"""HTTP and JSON over the daemon's control socket."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import urllib.parse
from collections.abc import Iterator
from typing import Any

from .._errors import DaemonError, ProtocolError, from_problem

GONE_HINT = "tensorcache.connect() finds it again or starts another"


class UnixConnection(http.client.HTTPConnection):
    """An HTTP connection over a unix socket."""

    def __init__(self, path: str, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.sock.settimeout(self.timeout)
            self.sock.connect(self._path)
        except BaseException:
            self.sock.close()
            raise


class Control:
    """The daemon's control API.

    Each request has a connection of its own, so threads and forked processes can share the object.

    Raises, from every method:
        DaemonError: of type ``daemon`` if no daemon listens or the connection broke.
        TensorcacheError: of the class for the daemon's problem.
    """

    def __init__(self, path: str, directory: str) -> None:
        self._path = path
        self._directory = directory

    def get(self, route: str, timeout: float | None = None) -> dict[str, Any]:
        """GET a JSON object."""
        return self._object("GET", route, None, timeout)

    def pages(self, route: str, name: str, timeout: float | None = None) -> list[dict[str, Any]]:
        """GET all pages of a list, and return the entries under ``name``."""
        entries: list[dict[str, Any]] = []
        after: str | None = ""
        while after is not None:
            query = urllib.parse.urlencode(
                {"limit": 1000, "after": after} if after else {"limit": 1000}
            )
            page = self.get(f"{route}?{query}", timeout)
            entries += page[name]
            after = page["next"]
        return entries

    def post(self, route: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """POST a JSON object and get one."""
        return self._object("POST", route, {} if body is None else body, None)

    def delete(self, route: str) -> dict[str, Any]:
        """DELETE, and get a JSON object."""
        return self._object("DELETE", route, None, None)

    def post_for_bytes(self, route: str, body: dict[str, Any]) -> bytes:
        """POST a JSON object and get the bytes of the answer."""
        return self._request("POST", route, body, None)

    def _object(
        self, method: str, route: str, body: dict[str, Any] | None, timeout: float | None
    ) -> dict[str, Any]:
        answer = self._request(method, route, body, timeout)
        try:
            reply = json.loads(answer)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise ProtocolError(
                f"the daemon answered {method} {route} with {answer[:80]!r}, which is no JSON "
                "object"
            )
        return reply

    def _request(
        self, method: str, route: str, body: dict[str, Any] | None, timeout: float | None
    ) -> bytes:
        headers = {"Accept": "application/json"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body, allow_nan=False).encode()
        for last in (False, True):
            with self._exchange(method, route, timeout) as connection:
                # The daemon may answer before it has read the whole request.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    connection.request(method, route, data, headers)
                response = connection.getresponse()
                answer = response.read()
            # After 408 nothing was done: this process or the daemon was paused.
            if last or response.status != 408:
                break
        if response.status >= 400:
            raise self._problem(method, route, response.status, answer)
        return answer

    @contextlib.contextmanager
    def _exchange(self, method: str, route: str, timeout: float | None) -> Iterator[UnixConnection]:
        connection = UnixConnection(self._path, timeout)
        try:
            yield connection
        except TimeoutError as error:
            raise DaemonError(
                f'the daemon of "{self._directory}" did not answer {method} {route} within '
                f"{timeout:.0f} s",
                type="timeout",
            ) from error
        except OSError as error:
            raise DaemonError(
                f'the daemon of "{self._directory}" cannot be reached: {error.strerror or error}',
                hint=GONE_HINT,
            ) from error
        except http.client.HTTPException as error:
            raise ProtocolError(
                f'what listens on "{self._path}" did not answer {method} {route} in HTTP: {error!r}'
            ) from error
        finally:
            connection.close()

    def _problem(self, method: str, route: str, status: int, answer: bytes) -> Exception:
        try:
            problem = json.loads(answer)
        except ValueError:
            problem = None
        if isinstance(problem, dict):
            return from_problem(problem)
        return ProtocolError(
            f"the daemon answered {method} {route} with status {status}: {answer[:200]!r}"
        )
