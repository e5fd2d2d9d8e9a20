"""Where snapshots are stored: folders on a disk or in an object store."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ._errors import SourceError, SpecError, show
from ._load.paths import expanded, is_remote, is_utf8
from ._portable import ENVIRONMENT
from ._remote.files import LIST_SECONDS
from ._remote.filesystems import FileSystems
from ._remote.requests import Request, answers, in_thread
from ._remote.urls import check_url, has_user, protocol_of, shown

FIELD = "storage_path"
WANT = "want a folder, or the URL of one in S3, Google Cloud Storage or Azure"
STORES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss")
T = TypeVar("T")


@dataclass(frozen=True)
class Folder:
    """A folder on a disk or in an object store.

    Attributes:
        path: its absolute path or URL.
        is_local: whether it is a path.
        filesystem: its file system (fsspec).
    """

    path: str
    is_local: bool
    filesystem: Any

    def __truediv__(self, name: str) -> Folder:
        return Folder(f"{self.path}/{name}", self.is_local, self.filesystem)

    @property
    def shown(self) -> str:
        """The path or URL as messages show it."""
        return self.path if self.is_local else shown(self.path)

    def arrow(self) -> tuple[str, Any]:
        """The path and the file system as pyarrow takes them."""
        from pyarrow.fs import FSSpecHandler, LocalFileSystem, PyFileSystem

        if self.is_local:
            return self.path, LocalFileSystem()
        path = self.filesystem._strip_protocol(self.path)
        return path, PyFileSystem(FSSpecHandler(self.filesystem))

    def names(self) -> dict[str, int]:
        """The sizes of the folder's entries, by name; empty if the folder does not exist."""

        def listed() -> dict[str, int]:
            self.filesystem.invalidate_cache()
            try:
                found = self.filesystem.ls(self.path, detail=True)
            except FileNotFoundError:
                return {}
            return {posixpath.basename(each["name"].rstrip("/")): each["size"] for each in found}

        return self.call(listed)

    def call(
        self, function: Callable[[], T], *, seconds: float = LIST_SECONDS, writes: bool = False
    ) -> T:
        """Call a function of the file system.

        Args:
            function: what to call, in a thread.
            seconds: how long it may take.
            writes: whether it writes, so that an error says so.

        Raises:
            SourceError: it failed; the message names the folder.
        """
        return self._answers({self.shown: function}, seconds, writes)[self.shown]

    def call_each(self, function: Callable[[str], T], names: Iterable[str]) -> dict[str, T]:
        """What a function returns for each of several entries, by name.

        Raises:
            SourceError: one call failed; the message names the entry.
        """
        calls = {f"{self.shown}/{name}": partial(function, name) for name in names}
        found = self._answers(calls, LIST_SECONDS, False)
        return {posixpath.basename(shown): result for shown, result in found.items()}

    def _answers(
        self, calls: Mapping[str, Callable[[], T]], seconds: float, writes: bool
    ) -> dict[str, T]:
        """What functions return, by the path or URL that messages name."""
        requests = (
            Request(partial(in_thread, function), shown, seconds=seconds)
            for shown, function in calls.items()
        )
        try:
            return {request.url: result for request, result, _ in answers(requests)}
        except SourceError as error:
            if error.field == FIELD:
                raise
            raise renamed(error, self.is_local, writes) from error


def folder_of(storage_path: str | os.PathLike[str]) -> Folder:
    """The folder that a user names.

    Raises:
        SpecError: it is not a path or URL, or the URL cannot store snapshots or has credentials.
        TensorcacheError: the file system of the URL cannot be used.
    """
    path = os.fspath(storage_path) if isinstance(storage_path, (str, os.PathLike)) else None
    if not isinstance(path, str) or not path or "\0" in path:
        raise SpecError(f"storage_path: got {show(storage_path)}, {WANT}", field=FIELD)
    if not is_utf8(path):
        raise SpecError(f"storage_path: got {path!a}, which is not UTF-8", field=FIELD)
    if is_remote(path):
        check_storage_url(path)
        url = path.rstrip("/")
        try:
            return Folder(url, False, FileSystems({}).of(protocol_of(url), url))
        except SourceError as error:
            raise renamed(error, False) from error
    try:
        path = str(Path(expanded(path)).absolute())
    except SourceError as error:
        raise SpecError(
            f'storage_path: got "{shown(path)}", {WANT}', field=FIELD, hint=error.hint
        ) from error
    return Folder(path, True, FileSystems({}).of("file", path))


def check_storage_url(url: str) -> None:
    """Refuse a URL that cannot store snapshots, or has credentials.

    Object stores alone are accepted: a file appears there when all of it is written, and folders
    need not be made.

    Raises:
        SpecError: the message shows nothing of the URL that may be secret.
    """
    if has_user(url):
        raise SpecError(
            f'storage_path: "{shown(url)}" has credentials, which would be pickled',
            field=FIELD,
            hint=ENVIRONMENT,
        )
    if protocol_of(url) not in STORES:
        raise SpecError(f'storage_path: got "{shown(url)}", {WANT}', field=FIELD)
    try:
        check_url(url)
    except SourceError as error:
        renamed_error = renamed(error, False)
        raise SpecError(renamed_error.detail, field=FIELD, hint=renamed_error.hint) from error
    if set("*?[#") & set(url):
        raise SpecError(
            f'storage_path: got "{shown(url)}", want one without "*", "?", "[" and "#"', field=FIELD
        )


def refuse_storage_path(storage_path: Any) -> None:
    """Refuse a storage path for files.

    Raises:
        SpecError: there is one.
    """
    if storage_path is not None:
        raise SpecError(
            "storage_path: got one, want none for files, which each machine reads where they are",
            field=FIELD,
        )


def renamed(error: SourceError, is_local: bool, writes: bool = False) -> SourceError:
    """An error about sources as one about the storage path."""
    detail = error.detail.removeprefix("sources: ")
    if writes:
        detail = detail.replace("cannot be read", "cannot be written")
    hint = ENVIRONMENT if "storage_options" in (error.hint or "") else error.hint or ""
    return SourceError(f"storage_path: {detail}", field=FIELD, hint="" if is_local else hint)
