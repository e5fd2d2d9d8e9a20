"""The cache directory: its path, and the address in its ``daemon.json``."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from .._errors import ProtocolError
from .._version import PROTOCOL, __version__


@dataclass(frozen=True)
class Address:
    """Where a daemon listens, from its ``daemon.json``; the daemon may have ended."""

    pid: int
    version: str
    protocol: int
    control: str
    feed: str
    started: str


def cache_dir(given: str | os.PathLike[str] | None) -> str:
    """The absolute cache directory: ``given``, else ``$TENSORCACHE_DIR``, else the user's."""
    if given is not None:
        return absolute(given)
    named = os.environ.get("TENSORCACHE_DIR")
    if named:
        return absolute(named)
    if sys.platform == "darwin":
        return str(Path.home() / "Library" / "Caches" / "tensorcache")
    base = os.environ.get("XDG_CACHE_HOME")
    return str(Path(base) / "tensorcache") if base else str(Path.home() / ".cache" / "tensorcache")


def absolute(path: str | os.PathLike[str]) -> str:
    """A path as an absolute one, with the home directory in place of ``~``."""
    return str(Path(os.path.expanduser(path)).absolute())  # noqa: PTH111 - it raises no error


def read_address(directory: str) -> Address | None:
    """The address in ``daemon.json``, or None if the file is missing or incomplete."""
    try:
        content = json.loads(Path(directory, "daemon.json").read_bytes())
        return Address(
            pid=int(content["pid"]),
            version=str(content["version"]),
            protocol=int(content["protocol"]),
            control=str(Path(directory, content["control"])),  # may be a file name in the directory
            feed=str(Path(directory, content["feed"])),
            started=str(content.get("started", "")),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_protocol(protocol: object, version: object, directory: str) -> None:
    """Refuse a running daemon of another protocol version.

    Raises:
        ProtocolError: of type ``protocol_mismatch``; it names both versions and what to do.
    """
    if protocol == PROTOCOL:
        return
    raise ProtocolError(
        f'the daemon of "{directory}" speaks protocol {protocol} (tensorcache {version}), '
        f"this client protocol {PROTOCOL} (tensorcache {__version__})",
        type="protocol_mismatch",
        hint="install the same version on both sides; when nobody uses that daemon any more, "
        "tensorcache stop ends it",
    )
