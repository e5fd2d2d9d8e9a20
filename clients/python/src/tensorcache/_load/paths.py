"""Paths of sources as the daemon reads them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from .._errors import SourceError, SpecError

Source: TypeAlias = "str | os.PathLike[str]"


def absolute(sources: Any) -> list[str]:
    """Sources, or one, as absolute paths, because the daemon has another working directory."""
    one = isinstance(sources, (str, bytes, os.PathLike)) or not isinstance(sources, Iterable)
    listed: list[Any] = [sources] if one else list(sources)
    if not listed:
        raise SourceError("sources: got none, want at least one file", field="sources")
    paths = []
    for source in map(expanded, listed):
        if not isinstance(source, (str, os.PathLike)) or isinstance(os.fspath(source), bytes):
            raise SpecError(f"sources: got {source!r}, want paths", field="sources")
        if not os.fspath(source):
            raise SourceError('sources: got "", want the path of a file', field="sources")
        paths += matches(source)
    return paths


URL = re.compile("([A-Za-z][A-Za-z0-9+.-]+):/")


def expanded(source: Any) -> Any:
    """A path with the home directory in place of ``~``; other values are returned as they are.

    Raises:
        SourceError: it is a URL.
    """
    if not isinstance(source, (str, os.PathLike)) or isinstance(os.fspath(source), bytes):
        return source
    path = os.fspath(source)
    # pathlib makes one slash of two.
    if URL.match(path) and not os.path.lexists(path):
        raise SourceError(
            f'sources: got the URL "{path}", want the path of a file',
            field="sources",
            hint="leave file:// out"
            if path.startswith("file:")
            else "download it first, and load that file",
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
