"""The cache directory: its path, and the address in its ``daemon.json``."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._errors import ProtocolError
from .._version import PROTOCOLS, Protocols, __version__


@dataclass(frozen=True)
class Address:
    """Where a daemon listens, from its ``daemon.json``; the daemon may have ended."""

    pid: int
    version: str
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
            control=str(Path(directory, content["control"])),  # may be a file name in the directory
            feed=str(Path(directory, content["feed"])),
            started=str(content.get("started", "")),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_protocols(health: dict[str, Any], directory: str) -> None:
    """Refuse a running daemon that speaks no version of the protocol that this client speaks.

    Args:
        health: the daemon's answer to ``GET /v1/health``.
        directory: its cache directory.

    Raises:
        ProtocolError: of type ``protocol_mismatch``; it names both versions and what to do.
    """
    newest = health.get("protocol")
    least = health.get("protocol_least", newest)
    protocols = Protocols(0, 0)
    if isinstance(least, int) and isinstance(newest, int):
        protocols = Protocols(least, newest)
    if PROTOCOLS.common(protocols) is not None:
        return
    raise ProtocolError(
        f'the daemon of "{directory}" speaks {protocols} (tensorcache '
        f"{health.get('version')}), "
        f"this client {PROTOCOLS} (tensorcache {__version__})",
        type="protocol_mismatch",
        hint="install the same version on both sides; when nobody uses that daemon any more, "
        "tensorcache stop ends it",
    )
