"""Paths of sources as the daemon reads them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from .._errors import SourceError, SpecError
from .._remote.urls import LOCAL, SCHEME, protocol_of, shown

Source: TypeAlias = "str | os.PathLike[str]"


def urls_of(sources: Any) -> list[str]:
    """Sources, or one, as URLs of remote files; empty if they are local files.

    Raises:
        SourceError: some are remote, and others local.
    """
    listed = listed_of(sources)
    urls = [source for source in listed if is_remote(source)]
    if urls and len(urls) < len(listed):
        raise SourceError(
            "sources: got local files and URLs, want one kind",
            field="sources",
            hint="load one kind, and append the other",
        )
    return urls


def is_remote(source: Any) -> bool:
    """Whether a source is a URL that is fetched."""
    if not isinstance(source, str) or "://" not in source or os.path.lexists(source):
        return False
    return protocol_of(source) not in ("", *LOCAL)


def listed_of(sources: Any) -> list[Any]:
    """Sources, or one, as a list.

    Raises:
        SpecError: one is an open file, whose elements are lines.
    """
    one = isinstance(sources, (str, bytes, os.PathLike)) or not isinstance(sources, Iterable)
    listed = [sources] if one or is_open_file(sources) else list(sources)
    if any(map(is_open_file, listed)):
        raise SpecError(
            "sources: got an open file, want the path of a file",
            field="sources",
            hint="give the path or the URL instead of what open() returns",
        )
    return listed


def is_open_file(source: Any) -> bool:
    """Whether a source is what ``open`` returns, or similar."""
    return hasattr(source, "read") and not isinstance(source, (str, os.PathLike))


def absolute(listed: list[Any]) -> list[str]:
    """Sources as absolute paths, because the daemon has another working directory."""
    paths = [path for source in checked(listed) for path in matches(source)]
    for path in paths:
        if not is_utf8(path):
            raise SourceError(
                f"sources: {path!a}: the name is not UTF-8",
                field="sources",
                hint="rename it: requests are JSON, which is UTF-8",
            )
    return paths


def checked(listed: list[Any]) -> list[Source]:
    """Sources as paths and patterns.

    Raises:
        SourceError: there is none, one is empty, or a URL.
        SpecError: one is no path.
    """
    if not listed:
        raise SourceError("sources: got none, want at least one file", field="sources")
    paths: list[Source] = []
    for source in map(expanded, listed):
        if not isinstance(source, (str, os.PathLike)) or isinstance(os.fspath(source), bytes):
            raise SpecError(f"sources: got {source!r}, want paths", field="sources")
        if not os.fspath(source):
            raise SourceError('sources: got "", want the path of a file', field="sources")
        paths.append(source)
    return paths


def is_utf8(path: str) -> bool:
    """Whether a path has no bytes that Python writes as surrogates because they are not UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def expanded(source: Any) -> Any:
    """A path with the home directory in place of ``~``; other values are returned as they are.

    Raises:
        SourceError: it is a URL.
    """
    if not isinstance(source, (str, os.PathLike)) or isinstance(os.fspath(source), bytes):
        return source
    path = os.fspath(source)
    # pathlib makes one slash of two.
    if (SCHEME.match(path) or "://" in path) and not os.path.lexists(path):
        raise SourceError(
            f'sources: got the URL "{shown(path)}", want the path of a file',
            field="sources",
            hint="leave file:// out"
            if protocol_of(path) in LOCAL
            else "give a URL as text, with two slashes and one protocol",
        )
    return path if os.path.lexists(path) else os.path.expanduser(path)  # noqa: PTH111 - no error


def matches(source: Source) -> list[str]:
    """The absolute path, or the files and folders that match a pattern that is no file's name."""
    path = str(Path(source).absolute())
    if not glob.has_magic(os.fspath(source)) or os.path.lexists(path):
        return [path]
    found = sorted(glob.glob(path))  # noqa: PTH207 - Path.glob takes no absolute pattern
    if not found:
        raise SourceError(
            f'sources: no file matches "{os.fspath(source)}"',
            field="sources",
            hint="look at the folder and the pattern; hidden files match none",
        )
    return found
