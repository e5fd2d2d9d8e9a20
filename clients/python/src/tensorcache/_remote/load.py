"""Staging the remote sources of a load: what the daemon reads of them is fetched, and no more."""

from __future__ import annotations

import contextlib
import time as clock
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._daemon.http import Control
from .._daemon.progress import Display, Show
from .._errors import ProtocolError, SpecError
from . import ranges
from .fetch import Fetch, Wanted
from .files import RemoteFile, check_unchanged, sources_of
from .filesystems import FileSystems
from .staging import Staging
from .urls import WEB, protocol_of

SHOW_SECONDS = 0.1


def options_of(given: Any, urls: Sequence[str]) -> Mapping[str, Any]:
    """The options of file systems, which no message quotes.

    Raises:
        SpecError: they are no mapping with names, or are for several protocols.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise SpecError(
            f"storage_options: got {type(given).__name__}, want a mapping of names to values",
            field="storage_options",
        )
    protocols = {"http" if protocol_of(u) in WEB else protocol_of(u) for u in urls}
    if given and len(protocols) > 1:
        raise SpecError(
            f"storage_options: got URLs of {' and '.join(sorted(protocols))}, want those of one "
            "protocol, whose options they are",
            field="storage_options",
        )
    return given


@contextlib.contextmanager
def staged(
    control: Control,
    directory: str,
    name: str,
    verb: str,
    body: Mapping[str, Any],
    urls: Sequence[str],
    options: Any,
    display: Show | None,
) -> Iterator[dict[str, Any]]:
    """The body of a load whose sources are staged; a context that removes them at its end.

    Args:
        control: of the daemon.
        directory: the cache directory.
        name: the dataset's.
        verb: load or append.
        body: the load's options as JSON.
        urls: the sources.
        options: of fsspec's file systems.
        display: is shown how far fetching is.

    Raises:
        TensorcacheError: a source cannot be read or has changed, or the daemon refuses the load.
    """
    try:
        with FileSystems(options_of(options, urls)) as filesystems, Staging(directory) as stage:
            found = sources_of(urls, filesystems)
            files = [file for source in found for file in source.files]
            fetch = Fetch(shower(display, name))
            for file in files:
                file.staged = stage.create(file.relative, file.size or 0, file.url)
                if file.size is None:
                    fetch.whole(file)
            body = {**body, "sources": [str(stage.path / source.relative) for source in found]}
            route = f"/v1/datasets/{name}/ranges?of={verb}"
            fetch_missing(control, route, body, files, fetch, stage)
            check_unchanged([file for file in files if file.ranges])
            yield with_origins(body, files)
    except BaseException:
        if isinstance(display, Display):
            display.close(False)
        raise


def fetch_missing(
    control: Control,
    route: str,
    body: Mapping[str, Any],
    files: list[RemoteFile],
    fetch: Fetch,
    stage: Staging,
) -> None:
    """Fetch what the daemon says that the load reads, until nothing is missing."""
    by_path = {file.staged: file for file in files}
    while True:
        answer = control.post(route, with_origins(body, files))
        if answer["hit"] or not answer["missing"]:
            return
        wanted: Wanted = []
        for missing in answer["missing"]:
            file = by_path[missing["path"]]
            size = file.size or 0
            asked = [(int(start), int(end)) for start, end in missing["ranges"]]
            wanted.append((file, ranges.to_fetch(asked, file.ranges, size)))
        need = sum(ranges.total(parts) for _, parts in wanted)
        if not need:
            raise ProtocolError("the daemon asks for ranges that are staged")
        stage.check_space(need)
        fetch.ranges(wanted)


def with_origins(body: Mapping[str, Any], files: list[RemoteFile]) -> dict[str, Any]:
    """The body of a load with what is staged now."""
    return {**body, "origins": [file.origin() for file in files]}


def shower(display: Show | None, name: str) -> Any:
    """What is called with the bytes that are fetched, and all that are to be."""
    began = clock.monotonic()
    shown_at = [0.0]

    def show(done: int, total: int) -> None:
        now = clock.monotonic()
        if display is None or (now - shown_at[0] < SHOW_SECONDS and done < total):
            return
        shown_at[0] = now
        seconds = now - began
        display(
            {
                "job": "",
                "kind": "load",
                "state": "running",
                "phase": "fetch",
                "dataset": name,
                "rows": 0,
                "rows_total": 0,
                "bytes": done,
                "bytes_total": total,
                "progress": done / total if total else 0.0,
                "seconds": seconds,
                "eta_s": seconds * (total - done) / done if done else None,
            }
        )

    return show
