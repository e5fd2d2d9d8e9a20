"""An open generation of a dataset: its mapped columns, a lease on it, requests about it."""

from __future__ import annotations

import socket
import weakref
from collections.abc import Sequence
from typing import Any

from .._daemon import frames
from .._daemon.server import Server
from .._errors import ProtocolError, StaleError
from .columns import Columns
from .mapped_file import NUMBERS, MappedFile, Stored


class Generation(Columns):
    """One generation of a dataset, which stays in the cache while this object is open.

    Args:
        server: the daemon of the cache.
        name: the dataset's name.
        generation: which load of it; 0 is the newest.
        digest: that it must have; "" accepts any.
    """

    _closed_hint = "cache.dataset(name) opens it again"

    def __init__(self, server: Server, name: str, generation: int, digest: str = "") -> None:
        self._server = server
        lease, reply, fds = open_generation(server.feed_path, name, generation, digest)
        self._socket, self._lease = lease, weakref.finalize(self, lease.close)
        files = dict(zip(reply["files"], map_files(fds), strict=True))
        super().__init__(str(reply["dataset"]), str(reply["digest"]), files, reply["manifest"])
        self.generation = int(reply["generation"])
        OPEN[next(NUMBERS)] = self
        self._file.stored = Stored(
            server.feed_path, self.name, self.generation, self.digest, self._manifest.columns
        )

    def close(self) -> None:
        """End the lease, so that the generation may leave the cache.

        Arrays stay valid. Calling it twice is fine.
        """
        self._lease()

    def _is_leased(self) -> bool:
        """Whether it is open, and the daemon that opened it still runs."""
        if not self._lease.alive:
            return False
        try:
            return self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def _label(self) -> str:
        """How texts name it."""
        return f'"{self.name}" generation {self.generation}'

    def _post(
        self, action: str, spec: dict[str, Any], cuts: Sequence[dict[str, Any]], **more: Any
    ) -> dict[str, Any]:
        return self._server.control.post(*self._request_of(action, spec, cuts, more))

    def _post_for_bytes(
        self, action: str, spec: dict[str, Any], cuts: Sequence[dict[str, Any]]
    ) -> bytes:
        return self._server.control.post_for_bytes(*self._request_of(action, spec, cuts, {}))

    def _request_of(
        self,
        action: str,
        spec: dict[str, Any],
        cuts: Sequence[dict[str, Any]],
        more: dict[str, Any],
    ) -> tuple[str, dict[str, Any]]:
        if not self._lease.alive:
            raise StaleError(
                f'this handle of dataset "{self.name}" is closed',
                type="closed",
                hint=self._closed_hint,
            )
        body = {
            "generation": self.generation,
            "digest": self.digest,
            "spec": spec,
            "cuts": list(cuts),
            **more,
        }
        return f"/v1/datasets/{self.name}/{action}", body


OPEN: weakref.WeakValueDictionary[int, Generation] = weakref.WeakValueDictionary()
"""The generations that variables of this process refer to, by a number that is used once."""


def open_generations() -> list[Generation]:
    """The generations in ``OPEN``, to which other threads may add."""
    return [data for known in OPEN.valuerefs() if (data := known()) is not None]


def open_generation(
    path: str, name: str, generation: int, digest: str
) -> tuple[socket.socket, dict[str, Any], list[int]]:
    """A lease on a generation, the daemon's reply, and the file descriptors of its files."""
    lease = frames.dial(path)
    try:
        body = {"request": "open", "dataset": name, "generation": generation}
        if digest:  # daemons of earlier versions refuse the field
            body["digest"] = digest
        frames.request(lease, body)
        reply, fds = frames.receive_reply(lease)
        if len(fds) != len(reply["files"]):
            frames.close_all(fds)
            raise ProtocolError(
                f"the daemon sent {len(fds)} descriptors for {len(reply['files'])} files"
            )
    except BaseException:
        lease.close()
        raise
    return lease, reply, fds


def map_files(fds: list[int]) -> list[MappedFile]:
    """Map each file; close all descriptors if one cannot be mapped."""
    left = list(fds)
    try:
        return [MappedFile(left.pop(0)) for _ in fds]
    finally:
        frames.close_all(left)
