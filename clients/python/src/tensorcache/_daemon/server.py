"""The daemon that serves a cache directory, also after another one has replaced it."""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Callable

from .._version import __version__
from .._warnings import callers_level
from .cache_dir import Address
from .connect import START_SECONDS, find_or_start
from .http import Control


class Server:
    """Where the daemon of a cache directory listens; all handles of a connection share it.

    Attributes:
        dir: the cache directory, absolute.
        control: the daemon's control API.
        feed_path: the path of its feed socket.
    """

    def __init__(self, directory: str, address: Address, autostart: bool) -> None:
        self.dir = directory
        self._autostart = autostart
        self._use(address)

    def _use(self, address: Address) -> None:
        self.control = Control(address.control, self.dir)
        self.feed_path = address.feed

    def find_again(self, closed: Callable[[], bool]) -> None:
        """Use the daemon that serves the directory now.

        Start one if none does, or wait for one if none may be started.

        Args:
            closed: reports whether the caller no longer wants one.
        """

        def given_up() -> bool:
            return closed() or not threading.main_thread().is_alive()

        self._use(find_or_start(self.dir, self._autostart, START_SECONDS, given_up))


def connected(directory: str, autostart: bool | None = None) -> Server:
    """The daemon of a cache directory, started if none runs and one may be started.

    Args:
        directory: the absolute path.
        autostart: whether one may be started; None is yes, unless ``TENSORCACHE_AUTOSTART=0``.
    """
    if autostart is None:
        autostart = os.environ.get("TENSORCACHE_AUTOSTART", "") != "0"
    address = find_or_start(directory, autostart)
    warn_of_older(address, directory)
    return Server(directory, address, autostart)


def warn_of_older(address: Address, directory: str) -> None:
    """Warn of a daemon that an upgrade has left: it serves, but without what is new or mended."""
    if numbers(address.version) < numbers(__version__):
        warnings.warn(
            f'the daemon of "{directory}" is tensorcache {address.version}, this client '
            f"{__version__}: it was started before the upgrade, and goes on\n"
            "hint: end it with tensorcache stop when no trainer needs it; the next client starts "
            "the new one",
            UserWarning,
            stacklevel=callers_level(),
        )


def numbers(version: str) -> list[int]:
    """The numbers of a version, to compare it with another one."""
    return [int(number) for number in re.findall(r"\d+", version.partition("+")[0])[:3]]
