"""How portable datasets are made, and what their content must be."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ._errors import StaleError

PICKLED_FILES = 8
"""The sizes and times of at most so many files are pickled, so that an error can name one."""


class File(NamedTuple):
    """A source as the manifest has it."""

    path: str
    bytes: int
    mtime_ns: int


class Load(NamedTuple):
    """A dataset is made by a load.

    Attributes:
        sources: absolute paths, patterns of them, or URLs.
        options: of the load, as JSON.
    """

    sources: tuple[str, ...]
    options: dict[str, Any]


class Scaling(NamedTuple):
    """A dataset is made as the scaled copy of another one.

    Attributes:
        of: the other one.
        spec: of the windows whose part the scaling is fitted to, as JSON.
        cuts: those of the windows.
        scaling: which scaling of which columns, as JSON.
    """

    of: Origin
    spec: dict[str, Any]
    cuts: Sequence[dict[str, Any]]
    scaling: dict[str, Any]


@dataclass(frozen=True)
class Origin:
    """How to make a dataset on any machine, and what its content must be.

    Attributes:
        name: the dataset's name; "" if the daemon has not chosen one yet.
        by: how it is made.
        digest: of the content; "" if it has been opened nowhere.
        files: the first of the files that had this content.
        file_count: how many files there were.
    """

    name: str
    by: Load | Scaling
    digest: str = ""
    files: tuple[File, ...] = ()
    file_count: int = 0


def files_of(manifest: Mapping[str, Any]) -> tuple[tuple[File, ...], int]:
    """The first of the files that a dataset was loaded from, and how many there were."""
    sources = manifest["sources"] or ()  # a scaled copy has none
    first = sources[:PICKLED_FILES]
    return tuple(File(s["path"], s["bytes"], s["mtime_ns"]) for s in first), len(sources)


def other_content(origin: Origin, digest: str, manifest: Mapping[str, Any]) -> StaleError:
    """The refusal of a dataset that has another digest on this machine."""
    return StaleError(
        f'dataset "{origin.name}" has digest {digest} on {os.uname().nodename}, want '
        f"{origin.digest}: "
        f"{difference(origin, *files_of(manifest))}",
        hint="give every machine the same files, and load again where the dataset was pickled",
    )


def difference(origin: Origin, found: Sequence[File], file_count: int) -> str:
    """In which file the sources differ, as far as paths, sizes and times tell."""
    pairs = list(zip(origin.files, found, strict=False))
    for want, have in pairs:
        if want.path != have.path:
            return f'it has the file "{have.path}", and had "{want.path}" in its place'
    if file_count != origin.file_count:
        return f"it has {file_count} files, and had {origin.file_count}"
    # A copy has another time, so the time says less than the size.
    differing = [pair for pair in pairs if pair[0].bytes != pair[1].bytes]
    differing += [pair for pair in pairs if pair[0].mtime_ns != pair[1].mtime_ns]
    for want, have in differing[:1]:
        return f'"{have.path}" has {described(have)}, and had {described(want)}'
    if not pairs:
        return "it is scaled differently"
    of = f" of its first {PICKLED_FILES} files" if file_count > PICKLED_FILES else ""
    return f"the sizes and times{of} are equal"


def described(file: File) -> str:
    """The size and time of a file."""
    size = f"{file.bytes:,} bytes"
    if not file.mtime_ns:  # of a URL
        return size
    at = str(np.datetime64(file.mtime_ns, "ns")).replace("T", " ")
    return f"{size} of {at} UTC"
