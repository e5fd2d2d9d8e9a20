"""Finding the daemon of a cache directory, and starting one if none runs."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .._errors import DaemonError, FeedError
from .binary import find_binary
from .cache_dir import Address, check_protocols, read_address
from .http import Control

START_SECONDS = 60.0
"""How long to wait for a daemon: one that starts, one that stops, or the next one if none may be
started."""

OTHERS_FIRST_SECONDS = 0.5
"""How long a client whose daemon went away waits for a service manager to start the next one;
systemd takes 0.1 s after a failure."""


def find(directory: str) -> Address | None:
    """The running daemon of ``directory``, or None.

    Raises:
        ProtocolError: it speaks no version of the protocol that this client speaks.
    """
    address = read_address(directory)
    if address is None:
        return None
    try:
        health = Control(address.control, directory).get("/v1/health", timeout=10.0)
    except DaemonError as error:
        if error.type not in ("daemon", "shutting_down"):
            raise
        return None
    check_protocols(health, directory)
    return address


def find_or_start(
    directory: str,
    autostart: bool,
    patience: float = 0.0,
    closed: Callable[[], bool] = lambda: False,
) -> Address:
    """The daemon of ``directory``, started if none runs and ``autostart`` allows it.

    Many clients may call this at once: ``start.lock`` lets one of them start a daemon, and the
    others find it. A client also uses a daemon that another process started without the lock, as a
    service manager does.

    Args:
        directory: the cache directory.
        autostart: whether a daemon may be started.
        patience: seconds to wait for a daemon of others: all of them if none may be started, else
            at most ``OTHERS_FIRST_SECONDS``.
        closed: reports whether the waiting feed was closed, or its process is ending.

    Raises:
        FeedError: ``closed`` reported so.
        DaemonError: no daemon runs, and none may or can be started; the message has its log.
    """
    address = wait_for_another(directory, 0.0 if autostart else patience, closed)
    if address is not None:
        return address
    if not autostart:
        raise DaemonError(
            f'no daemon runs for "{directory}", and it may not be started from here',
            type="not_running",
            hint="start one with tensorcache serve, or allow it: autostart=True, "
            "TENSORCACHE_AUTOSTART=1",
        )
    binary = find_binary()
    make_directory(directory)
    with start_lock(directory):
        address = wait_for_holder(directory, time.monotonic() + START_SECONDS)
        # Only now, because the last daemon may have taken seconds to release the lock.
        if address is None and patience > 0:
            address = wait_for_another(directory, min(patience, OTHERS_FIRST_SECONDS), closed)
        if address is None:
            deadline = time.monotonic() + START_SECONDS
            try:
                start(binary, directory)
            except DaemonError:
                address = wait_for_holder(directory, deadline)
                if address is None:
                    raise
            else:
                address = find(directory)
    if address is None:
        raise DaemonError(
            f'the daemon of "{directory}" started and was gone at once\n{log_tail(directory)}'
        )
    return address


def lock_is_free(directory: str) -> bool:
    """Whether no daemon has locked the cache directory."""
    with contextlib.ExitStack() as stack:
        try:
            fd = os.open(str(Path(directory, "daemon.lock")), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        stack.callback(os.close, fd)
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # which a daemon that starts waits for
        except BlockingIOError:
            return False
        return True


def wait_for_another(directory: str, seconds: float, closed: Callable[[], bool]) -> Address | None:
    """The daemon of the directory, or None if there is none within so many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        address = find(directory)
        if closed():
            raise FeedError("the feed was closed while a daemon was waited for", type="closed")
        if address is not None or time.monotonic() >= deadline:
            return address
        time.sleep(0.02)


def wait_for_holder(directory: str, deadline: float) -> Address | None:
    """The daemon that has locked the directory, once it listens; None if it is not locked.

    This waits for a daemon that is stopping, and for one that was started by hand and does not
    listen yet.

    Raises:
        DaemonError: it neither listens nor stops by the deadline; the message ends with its log.
    """
    while True:
        address = find(directory)
        if address is not None or lock_is_free(directory):
            return address
        if time.monotonic() > deadline:
            raise DaemonError(
                f'a daemon holds "{directory}" but neither listens nor leaves after '
                f"{START_SECONDS:.0f} s\n"
                f"{log_tail(directory)}",
                type="start_failed",
            )
        time.sleep(0.01)


def make_directory(directory: str) -> None:
    """Create the cache directory, for this user only."""
    try:
        Path(directory).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DaemonError(
            f'the cache directory "{directory}" cannot be made: {error.strerror}',
            type="directory",
            field="dir",
        ) from error


@contextlib.contextmanager
def start_lock(directory: str) -> Iterator[None]:
    """Hold ``start.lock``, which allows this process to start the daemon of ``directory``."""
    path = str(Path(directory, "start.lock"))
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DaemonError(
            f'"{path}" cannot be opened: {error.strerror}', type="directory", field="dir"
        ) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def start(binary: str, directory: str) -> None:
    """Start the daemon detached, and return once it listens.

    The binary starts it in a session of its own and exits, so it is no child of this process: it
    outlives this process, and what ends all children of this process, such as Ray, does not end it.

    Raises:
        DaemonError: it ended, or does not listen; the message has its last lines.
    """
    command = [binary, "serve", "--detach", "--auto", "--dir", directory]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,  # so that Ctrl-C here does not reach it
            cwd="/",
            timeout=2 * START_SECONDS,  # the binary itself waits for START_SECONDS
            check=False,
        )
    except OSError as error:
        raise DaemonError(
            f'"{binary}" cannot be run: {error.strerror}', type="start_failed"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise DaemonError(
            f'"{binary}" has neither started a daemon nor ended after {error.timeout:.0f} s',
            type="start_failed",
        ) from error
    if not done.stdout:  # the exit code is unknown if this process ignores SIGCHLD
        text = done.stderr.decode(errors="replace").strip()
        raise DaemonError(
            f'the daemon of "{directory}" did not start:\n{text}', type="start_failed"
        )


def log_tail(directory: str, size: int = 2000) -> str:
    """The end of the daemon's log, after a line with its path."""
    path = Path(directory, "daemon.log")
    try:
        with path.open("rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - size))
            text = log.read().decode(errors="replace").strip()
    except OSError:
        text = ""
    return f"{path} ends with:\n{text}" if text else f"{path} says nothing"
