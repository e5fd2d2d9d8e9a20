"""Frames on the feed socket: an 8-byte header, a payload, and file descriptors beside it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
from typing import Any

from .._errors import DaemonError, ProtocolError, TensorcacheError, from_problem
from .._version import CLIENT, PROTOCOLS, Protocols
from .http import GONE_HINT

REQUEST, CREDIT, SEEK, DONE, WAIT = 1, 2, 3, 4, 6
REPLY, BATCHES, ERROR = 101, 102, 103

NO_SLOT, LAST, RUN = 0xFFFFFFFF, 1, 2
"""Of a descriptor: the number for no slot, and the flags for the last batch of an epoch and for
windows that start a stride apart in one item."""

HEADER = struct.Struct("<II")
MAX_JSON = 64 << 20
MAX_DESCRIPTORS = 253  # the kernel's SCM_MAX_FD
CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # macOS has none, and sets it afterwards


def dial(path: str) -> socket.socket:
    """Connect to the feed socket at ``path``."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.connect(path)
    except OSError as error:
        sock.close()
        raise DaemonError(
            f'the daemon at "{path}" cannot be reached: {error.strerror}', hint=GONE_HINT
        ) from error
    except BaseException:
        sock.close()
        raise
    return sock


def request(sock: socket.socket, body: dict[str, Any]) -> None:
    """Send the REQUEST of a connection."""
    versions = {"protocol": PROTOCOLS.newest, "protocol_least": PROTOCOLS.least}
    payload = json.dumps({**versions, "client": CLIENT, **body}, allow_nan=False).encode()
    send(sock, HEADER.pack(len(payload), REQUEST) + payload)


def send(sock: socket.socket, data: bytes | bytearray | memoryview) -> None:
    """Send all of ``data``; if the daemon has closed the connection, raise its last error."""
    try:
        sock.sendall(data)
    except OSError as error:
        raise final_error(sock, error) from error


def final_error(sock: socket.socket, error: OSError) -> TensorcacheError:
    """Why the daemon closed the connection: its ERROR frame if it sent one."""
    with contextlib.suppress(OSError, TensorcacheError):
        while True:
            kind, payload = receive_frame(sock)
            if kind == ERROR:
                return error_of(payload)
    return connection_error(error)


def connection_error(error: OSError | None = None) -> DaemonError:
    """The error of a connection that the daemon closed without an ERROR frame."""
    why = f": {error.strerror}" if error is not None and error.strerror else ""
    return DaemonError(f"the daemon closed the connection{why}", type="daemon_gone", hint=GONE_HINT)


def error_of(payload: bytes) -> TensorcacheError:
    """The exception for an ERROR frame."""
    try:
        problem = json.loads(payload)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        return ProtocolError(
            f"the daemon sent an ERROR frame that is no JSON object: {payload[:80]!r}"
        )
    return from_problem(problem)


def receive_reply(sock: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The daemon's REPLY and the file descriptors with it, which the caller must close.

    Raises:
        TensorcacheError: the daemon answered ERROR.
        ProtocolError: it answered something else.
    """
    fds: list[int] = []
    try:
        header = receive_with_descriptors(sock, HEADER.size, fds)
        size, kind = HEADER.unpack(header)
        if kind not in (REPLY, ERROR) or size > MAX_JSON:
            raise ProtocolError(
                f"the daemon sent a frame of kind {kind} and {size} bytes where a REPLY belongs"
            )
        payload = receive_exactly(sock, size)
        if kind == ERROR:
            raise error_of(payload)
        reply = json.loads(payload)
        if not is_reply(reply):
            raise ProtocolError(f"the daemon's REPLY is not of {PROTOCOLS}: {payload[:80]!r}")
    except ValueError as error:
        close_all(fds)
        if isinstance(error, TensorcacheError):
            raise
        raise ProtocolError(f"the daemon's REPLY is not JSON: {error}") from error
    except BaseException:
        close_all(fds)
        raise
    return reply, fds


def is_reply(reply: Any) -> bool:
    """Whether the JSON of a REPLY is an object of a protocol that this client speaks."""
    version = reply.get("protocol") if isinstance(reply, dict) else None
    return isinstance(version, int) and PROTOCOLS.common(Protocols(version, version)) is not None


def receive_with_descriptors(sock: socket.socket, size: int, fds: list[int]) -> bytes:
    """Receive ``size`` bytes.

    File descriptors that arrive with them are appended to ``fds``, closed on exec.
    """
    data = b""
    while len(data) < size:
        try:
            part, control, flags, _ = sock.recvmsg(
                size - len(data), socket.CMSG_SPACE(4 * MAX_DESCRIPTORS), CLOEXEC
            )
        except OSError as error:
            raise connection_error(error) from error
        for level, kind, payload in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.extend(
                    struct.unpack(f"={len(payload) // 4}i", payload[: len(payload) // 4 * 4])
                )
        if flags & socket.MSG_CTRUNC:
            raise ProtocolError(
                "the daemon's file descriptors were cut off: too many files are open (ulimit -n)"
            )
        if not part:
            raise connection_error()
        data += part
    for fd in fds:
        os.set_inheritable(fd, False)
    return data


def receive_exactly(sock: socket.socket, size: int) -> bytes:
    """Receive ``size`` bytes."""
    data = bytearray(size)
    view = memoryview(data)
    at = 0
    while at < size:
        try:
            n = sock.recv_into(view[at:])
        except OSError as error:
            raise connection_error(error) from error
        if n == 0:
            raise connection_error()
        at += n
    return bytes(data)


def receive_frame(sock: socket.socket) -> tuple[int, bytes]:
    """A whole frame: its kind and payload."""
    size, kind = HEADER.unpack(receive_exactly(sock, HEADER.size))
    if size > MAX_JSON:
        raise ProtocolError(f"the daemon sent a frame of {size} bytes")
    return kind, receive_exactly(sock, size)


def close_all(fds: list[int]) -> None:
    """Close file descriptors that will not be used."""
    for fd in fds:
        with contextlib.suppress(OSError):
            os.close(fd)
    fds.clear()
