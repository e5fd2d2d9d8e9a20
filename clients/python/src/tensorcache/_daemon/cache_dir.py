"""The cache directory: where it is, and what ``daemon.json`` there says."""

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
    """Where a daemon listens, as its ``daemon.json`` says; it need not live any more."""

    pid: int
    version: str
    protocol: int
    control: str
    feed: str
    started: str


def cache_dir(given: str | os.PathLike[str] | None) -> str:
    """The absolute cache directory: ``given``, else ``$TENSORCACHE_DIR``, else the user's."""
    if given is not None:
        return str(Path(given).absolute())
    named = os.environ.get("TENSORCACHE_DIR")
    if named:
        return str(Path(named).absolute())
    if sys.platform == "darwin":
        return str(Path.home() / "Library" / "Caches" / "tensorcache")
    base = os.environ.get("XDG_CACHE_HOME")
    return str(Path(base) / "tensorcache") if base else str(Path.home() / ".cache" / "tensorcache")


def read_address(directory: str) -> Address | None:
    """What ``daemon.json`` says, or None where there is no (whole) one."""
    try:
        reply = json.loads(Path(directory, "daemon.json").read_bytes())
        return Address(
            pid=int(reply["pid"]),
            version=str(reply["version"]),
            protocol=int(reply["protocol"]),
            control=str(Path(directory, reply["control"])),  # a name alone, where it lies there
            feed=str(Path(directory, reply["feed"])),
            started=str(reply.get("started", "")),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_protocol(protocol: object, version: object, directory: str) -> None:
    """Refuse a living daemon of another protocol, naming both and what to do.

    Raises:
        ProtocolError: always of type ``protocol_mismatch``.
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
