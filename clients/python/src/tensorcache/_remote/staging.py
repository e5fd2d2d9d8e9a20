"""The staging directory: sparse files below the cache directory, with the bytes a load reads."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
from pathlib import Path

from .._errors import ResourceError, SourceError, TensorcacheError
from .._feed import fork

NAME_BYTES = 255
"""The longest name of a file that file systems take."""


class Staging:
    """A directory of this process below ``tmp`` of the cache directory, removed at the end.

    The file ``lock`` in it is locked while the process lives: the daemon removes directories that
    nobody has locked. A forked child neither keeps the lock nor removes the directory.
    """

    def __init__(self, cache_dir: str) -> None:
        self._pid = os.getpid()
        self.path, self._lock = locked_directory(Path(cache_dir, "tmp"))
        fork.watch(self)

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, *_: object) -> None:
        if os.getpid() != self._pid:
            return
        try:
            # The lock goes last: until then the daemon leaves the directory alone.
            shutil.rmtree(self.path, ignore_errors=True)
        finally:
            fork.forget(self)
            os.close(self._lock)

    def before_fork(self) -> None:
        """Nothing: the parent's files are not changed by a fork."""

    def after_fork_in_parent(self) -> None:
        """Nothing."""

    def after_fork_in_child(self) -> None:
        """Close the lock, which else would outlive the parent."""
        with contextlib.suppress(OSError):
            os.close(self._lock)

    def create(self, relative: str, size: int, url: str) -> str:
        """Make a sparse file of a size, and return its path.

        Args:
            relative: its path in the directory; the name comes from a server.
            size: its size.
            url: the URL that messages name.

        Raises:
            SourceError: the path leads elsewhere, or two files have the same.
            ResourceError: the disk takes no file of this size.
        """
        parts = relative.split("/")
        if not all(is_name(part) for part in parts):
            raise SourceError(f'"{url}": this name cannot be that of a file here', field="sources")
        path = Path(self.path, *parts)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(path, flags, 0o600)
            try:
                os.ftruncate(fd, size)
            finally:
                os.close(fd)
        except (FileExistsError, NotADirectoryError) as error:
            raise SourceError(
                f'"{url}": another file of the folder has its name here', field="sources"
            ) from error
        except OSError as error:
            raise no_room(error, url) from error
        return str(path)

    def check_space(self, need: int) -> None:
        """Refuse to fetch more than the disk has room for.

        Raises:
            ResourceError: it says need and have.
        """
        free = os.statvfs(self.path)
        have = free.f_bavail * free.f_frsize
        if need > have:
            raise ResourceError(
                f'the remote sources need {need:,} bytes in "{self.path.parent}", '
                f"and {have:,} are free",
                type="no_space",
                hint="free space there, or load fewer columns",
            )


def write(path: str, data: bytes, offset: int, url: str) -> None:
    """Write bytes at an offset of a staged file."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            view = memoryview(data)
            while view:
                written = os.pwrite(fd, view, offset)
                view, offset = view[written:], offset + written
        finally:
            os.close(fd)
    except OSError as error:
        raise no_room(error, url) from error


def is_name(part: str) -> bool:
    """Whether a part of a remote path can be the name of a file."""
    return (
        part not in ("", ".", "..")
        and "\0" not in part
        and len(part.encode("utf-8", "surrogatepass")) <= NAME_BYTES
    )


def locked_directory(tmp: Path) -> tuple[Path, int]:
    """A new directory with a locked file ``lock`` in it, and the descriptor of that file.

    Raises:
        TensorcacheError: this user may not make it, or the disk is full.
    """
    try:
        for _ in range(100):
            tmp.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = tmp / f"staging-{os.getpid()}-{secrets.token_hex(4)}"
            path.mkdir(mode=0o700)
            # A daemon that comes by before the file is locked removes the directory.
            with contextlib.suppress(FileNotFoundError, BlockingIOError):
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                lock = os.open(path / "lock", flags, 0o600)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if os.path.samestat(os.fstat(lock), (path / "lock").stat()):
                        return path, lock
                except BaseException:
                    os.close(lock)
                    raise
                os.close(lock)
    except PermissionError as error:
        raise TensorcacheError(
            f'no directory can be made in "{tmp}": {strerror(error)}',
            type="forbidden",
            hint="only the user of the daemon can load remote files: download them, and load the "
            "copies",
        ) from error
    except OSError as error:
        raise disk_error(error, f'no directory can be made in "{tmp}"') from error
    raise ResourceError(f'no directory can be made in "{tmp}"')


def disk_error(error: OSError, problem: str) -> ResourceError:
    """The error for what the disk does not take."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return ResourceError(
        f"{problem}: {strerror(error)}", type="no_space", hint="free space there" if full else ""
    )


def no_room(error: OSError, url: str) -> ResourceError:
    """The error for a staged file that the disk does not take."""
    return disk_error(error, f'"{url}" cannot be written to the cache directory')


def strerror(error: OSError) -> str:
    """What the system says of an error, without a path."""
    return error.strerror or "error"
