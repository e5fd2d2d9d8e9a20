"""Remote files: which ones a URL stands for, and what identifies the version of each."""

from __future__ import annotations

import glob
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any
from urllib.parse import unquote, urlsplit

from .._errors import SourceError
from . import requests, web
from .filesystems import FileSystems
from .problems import CHANGED, CHANGED_HINT, DOWNLOAD, RefusedError, refusal
from .ranges import Range
from .staging import is_name
from .urls import WEB, check_url, object_url, protocol_of, shown, shown_pattern
from .versions import is_settled, is_version, time_of

LIST_SECONDS = 600.0
"""How long listing a folder may take: many requests."""

ETAGS = ("ETag", "etag", "md5Hash", "md5", "generation", "blob_id", "oid", "sha256", "sha")
MTIMES = ("LastModified", "last_modified", "Last-Modified", "updated", "mtime", "modified")


@dataclass
class RemoteFile:
    """A file of a remote source.

    Attributes:
        filesystem: of fsspec.
        path: its path there; of web servers the URL with all that is secret in it.
        url: its URL without secrets.
        relative: its path in the staging directory.
        size: in bytes; None if only its end tells.
        etag: what the server calls this version, or None.
        mtime: when it was changed, in RFC 3339, or None.
        answer: what a web server said of it.
        staged: its path here.
        ranges: which bytes are there.
    """

    filesystem: Any
    path: str
    url: str
    relative: str
    size: int | None
    etag: str | None
    mtime: str | None
    answer: web.Answer | None = None
    staged: str = ""
    ranges: list[Range] = field(default_factory=list)

    def origin(self) -> dict[str, Any]:
        """The file as the daemon gets it."""
        return {
            "path": self.staged,
            "url": self.url,
            "etag": self.etag,
            "size": self.size,
            "mtime": self.mtime if self.etag or self.is_settled() else None,
            "ranges": [list(r) for r in self.ranges],
        }

    def is_settled(self) -> bool:
        """Whether the time of change tells two versions apart.

        The URL that the daemon compares has no query, so all answers of one script have the same.
        """
        if self.mtime is None or (self.answer is not None and "?" in self.path):
            return False
        now = datetime.now(timezone.utc) if self.answer is None else self.answer.date
        return is_settled(self.mtime, now)

    def is_same(self, later: RemoteFile) -> bool:
        """Whether a later answer about the file can be about this version.

        It may say more: the list of a folder says less than the answer about one file.
        """
        return self.size == later.size and is_version(
            self.etag, self.mtime, later.etag, later.mtime
        )


@dataclass
class Source:
    """What one URL stands for.

    Attributes:
        relative: the file or folder in the staging directory that the daemon loads.
        files: the files to stage: one, or all of the folder.
    """

    relative: str
    files: list[RemoteFile]


def sources_of(urls: Iterable[str], filesystems: FileSystems) -> list[Source]:
    """What the URLs stand for, in their order.

    Raises:
        TensorcacheError: one of them stands for nothing, or cannot be read.
    """
    made: list[Source | None] = []
    web_files: list[requests.Request] = []
    for url in urls:
        check_url(url)
        protocol = protocol_of(url)
        filesystem = filesystems.of(protocol, url)
        if protocol in WEB:
            web_files.append(web_request(filesystem, url, len(made)))
            made.append(None)
        else:
            for path, info in matches(filesystem, url):
                made.append(source(filesystem, protocol, path, info, len(made)))
    for request, answer, _ in requests.answers(iter(web_files)):
        number, filesystem, url = request.about
        made[number] = web_source(filesystem, url, answer, number)
    return [one for one in made if one is not None]


def web_request(filesystem: Any, url: str, number: int) -> requests.Request:
    """The request that asks a web server for a file's version."""
    return requests.Request(
        lambda: requests.on_loop(filesystem, web.ask(filesystem, url)),
        shown(url),
        about=(number, filesystem, url),
    )


def web_source(filesystem: Any, url: str, answer: web.Answer, number: int) -> Source:
    """A file of a web server as a source."""
    path = unquote(urlsplit(url).path)
    name = posixpath.basename(path)
    if not is_name(name):
        suffix = posixpath.splitext(name)[1]
        name = f"file{suffix}" if len(suffix) <= 16 and is_name(f"file{suffix}") else "file"
    relative = f"{number}/{name}"
    file = RemoteFile(
        filesystem, url, shown(url), relative, answer.size, answer.etag, time_of(answer.modified),
        answer,
    )  # fmt: skip
    return Source(relative, [file])


def matches(filesystem: Any, url: str) -> list[tuple[str, dict[str, Any]]]:
    """The path of a URL with what is known of it, or those that match a pattern, by name."""
    path = filesystem._strip_protocol(url)
    info = None
    try:
        info = requests.answer(lambda: requests.call(filesystem, "info", path), shown(url))
    except SourceError:
        if not glob.has_magic(path):
            raise
    if info is not None:
        return [(path, info)]
    found = requests.answer(
        lambda: requests.call(filesystem, "glob", path, detail=True), shown(url), LIST_SECONDS
    )
    fixed = len(glob.escape(path).split("[", 1)[0])
    hidden = "/." in path
    names = sorted(name for name in found if hidden or "/." not in name[max(fixed - 1, 0) :])
    if not names:
        raise SourceError(
            f'sources: no file matches "{shown_pattern(url)}"',
            field="sources",
            hint="look at the folder and the pattern; hidden files match none",
        )
    return [(name, found[name]) for name in names]


def source(
    filesystem: Any, protocol: str, path: str, info: Mapping[str, Any], number: int
) -> Source:
    """A file or folder as a source."""
    name = posixpath.basename(path.rstrip("/")) or "folder"
    root = f"{number}/{name}"
    if info.get("type") != "directory":
        return Source(root, [remote_file(filesystem, protocol, path, info, root)])
    url = object_url(protocol, path)
    listed = requests.answer(
        lambda: requests.call(filesystem, "find", path, detail=True), url, LIST_SECONDS
    )
    files = []
    for found in sorted(listed):
        relative = found.rstrip("/")[len(path.rstrip("/")) :].lstrip("/")
        if relative and listed[found].get("type") != "directory" and not found.endswith("/"):
            there = f"{root}/{relative}"
            files.append(remote_file(filesystem, protocol, found, listed[found], there))
    if not files:
        raise refusal(RefusedError("the folder is empty", "check the URL"), url)
    return Source(root, files)


def remote_file(
    filesystem: Any, protocol: str, path: str, info: Mapping[str, Any], relative: str
) -> RemoteFile:
    """A file with what its file system says of it."""
    url = object_url(protocol, path)
    size = info.get("size")
    if not isinstance(size, int) or size < 0:
        raise refusal(RefusedError("the server names no size", DOWNLOAD), url)
    etag = next((str(info[key]) for key in ETAGS if info.get(key)), None)
    mtime = next((time_of(info[key]) for key in MTIMES if info.get(key)), None)
    return RemoteFile(filesystem, path, url, relative, size, etag, mtime)


def check_unchanged(files: Iterable[RemoteFile]) -> None:
    """Ask for the versions of files again.

    Raises:
        SourceError: one of them has changed.
    """

    def asked() -> Iterable[requests.Request]:
        for file in files:
            if file.answer is not None:
                request = web_request(file.filesystem, file.path, 0)
                request.about = file
                yield request
            else:
                yield requests.Request(info_of(file), file.url, about=file)

    for filesystem in {id(f.filesystem): f.filesystem for f in files}.values():
        filesystem.invalidate_cache()
    for request, answer, _ in requests.answers(iter(asked())):
        file: RemoteFile = request.about
        if file.answer is not None:
            now = web_source(file.filesystem, file.path, answer, 0).files[0]
            now.size = file.size if now.size is None else now.size
        else:
            now = remote_file(
                file.filesystem, protocol_of(file.url), file.path, answer, file.relative
            )
        if not file.is_same(now):
            raise refusal(RefusedError(CHANGED, CHANGED_HINT), file.url)


def info_of(file: RemoteFile) -> Any:
    """What asks a file system for a file."""
    return lambda: requests.call(file.filesystem, "info", file.path)
