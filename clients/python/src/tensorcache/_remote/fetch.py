"""Fetching ranges of remote files into staged files."""

from __future__ import annotations

import importlib
import math
import time as clock
from collections.abc import Callable, Iterator
from typing import Any

from . import requests, staging, web
from .files import RemoteFile
from .problems import (
    DOWNLOAD,
    TIMEOUTS,
    TRIES,
    CutOffError,
    NoRangesError,
    RefusedError,
    StalledError,
    is_final,
    refusal,
)
from .ranges import Range, total, union

LEAST, FIRST, MOST = 64 << 10, 256 << 10, 8 << 20
"""Bytes of one request: at least, at first, and at most."""

ON_THE_WAY = 4
"""Requests of the present size that are on the way: at most 32 MiB."""

QUICK, SLOW = 0.5, 4.0
"""Seconds of a request below which the next ones are larger, and above which they are smaller."""

BLOCK = 1 << 20

Wanted = list[tuple[RemoteFile, list[Range]]]


class Fetch:
    """Fetches bytes of remote files, and says how far it is."""

    def __init__(self, show: Callable[[int, int], None]) -> None:
        self._show = show
        self._size = FIRST
        self._bytes = 0
        self._total = 0

    def ranges(self, wanted: Wanted) -> None:
        """Fetch ranges of files, or the whole of those whose server sends no ranges.

        Raises:
            TensorcacheError: a server fails, a file has changed, or the disk is full.
        """
        self._total += sum(
            total(ranges) if has_ranges(file) else file.size or 0 for file, ranges in wanted
        )
        self._show(self._bytes, self._total)
        for file, _ in wanted:
            if not has_ranges(file):
                self.whole(file)
        pieces = self._pieces([(file, ranges) for file, ranges in wanted if has_ranges(file)])
        for request, data, seconds in requests.answers(pieces, lambda: ON_THE_WAY * self._size):
            file, start, end = request.about
            if isinstance(data, NoRangesError):
                # One of several servers behind the URL: what the others sent stays right.
                if not is_staged(file):
                    self.whole(file)
                continue
            staging.write(file.staged, data, start, file.url)
            file.ranges = union([*file.ranges, (start, end)])
            self._adapt(end - start, seconds)
            self._advance(len(data))

    def whole(self, file: RemoteFile) -> None:
        """Fetch a file from its beginning to its end, in one stream.

        Of a file without a size, this finds the size.
        """
        tries = 0
        while True:
            before = self._bytes
            error = self._stream(file)
            if error is None:
                return
            self._bytes = before
            tries += 1
            if is_final(error) or tries >= TRIES:
                raise refusal(error, file.url)
            clock.sleep(requests.RETRY_SECONDS[tries - 1])

    def _stream(self, file: RemoteFile) -> Exception | None:
        """Fetch a file once; the error that ended it, if it is not of this side."""
        answer: Any = file.answer
        opened = web.whole(file.filesystem, file.path, answer)
        try:
            response = waited(requests.on_loop(file.filesystem, opened))
        except Exception as error:  # noqa: BLE001 - the caller judges it
            return error
        length = 0
        try:
            while True:
                try:
                    block = waited(requests.on_loop(file.filesystem, response.content.read(BLOCK)))
                except Exception as error:  # noqa: BLE001 - the caller judges it
                    return error
                if not block:
                    break
                if file.size is not None and length + len(block) > file.size:
                    return CutOffError()
                staging.write(file.staged, block, length, file.url)
                length += len(block)
                self._advance(len(block))
        finally:
            file.filesystem.loop.call_soon_threadsafe(response.close)
        if file.size is not None and length != file.size:
            return CutOffError()
        file.size, file.ranges = length, union([(0, length)])
        return None

    def _pieces(self, wanted: Wanted) -> Iterator[requests.Request]:
        """The requests for ranges, each of the size that is right when it is sent.

        A file may be staged whole meanwhile, if its server ignores a range.
        """
        for file, ranges in wanted:
            for start, end in ranges:
                while start < end and not is_staged(file):
                    stop = min(end, start + self._size)
                    yield piece(file, start, stop)
                    start = stop

    def _adapt(self, size: int, seconds: float) -> None:
        """Make the next requests larger or smaller, as quick as one of the present size was."""
        if seconds > SLOW:
            self._size = max(LEAST, self._size // 2)
        elif seconds < QUICK and size >= self._size:
            self._size = min(MOST, self._size * 2)

    def _advance(self, size: int) -> None:
        self._bytes += size
        self._show(self._bytes, max(self._total, self._bytes))


def piece(file: RemoteFile, start: int, end: int) -> requests.Request:
    """The request for a range.

    One to a web server may take as long as bytes come. Of other stores nothing shows that they do:
    a large request that takes too long is sent again as several small ones.
    """

    def smaller() -> list[requests.Request]:
        return [piece(file, at, min(end, at + LEAST)) for at in range(start, end, LEAST)]

    is_web = file.answer is not None
    return requests.Request(
        lambda: read(file, start, end),
        file.url,
        weight=end - start,
        seconds=math.inf if is_web else None,
        smaller=None if is_web or end - start <= LEAST else smaller,
        about=(file, start, end),
    )


def read(file: RemoteFile, start: int, end: int) -> Any:
    """A range of a file, once it is here; an answer of another length is an error."""
    filesystem, answer = file.filesystem, file.answer
    if answer is not None:

        async def from_web() -> Any:
            try:
                return await web.range_of(filesystem, file.path, start, end, answer)
            except NoRangesError as error:
                return error

        return requests.on_loop(filesystem, from_web())
    if getattr(filesystem, "async_impl", False):

        async def from_store() -> bytes:
            return verified(
                await filesystem._cat_file(file.path, start=start, end=end), end - start
            )

        return requests.on_loop(filesystem, from_store())
    return requests.in_thread(
        lambda: verified(in_file(filesystem, file.path, start, end), end - start)
    )


def in_file(filesystem: Any, path: str, start: int, end: int) -> bytes:
    """A range of a file of a file system without an event loop, and no more of it.

    Those that have no ``cat_file`` of their own, such as that of Hugging Face, get fsspec's, which
    opens the file with a cache that reads 5 MiB ahead.
    """
    spec: Any = importlib.import_module("fsspec.spec")
    data: bytes
    if type(filesystem).cat_file is not spec.AbstractFileSystem.cat_file:
        data = filesystem.cat_file(path, start=start, end=end)
        return data
    with filesystem.open(path, "rb") as opened:  # not all take the option for another cache
        if isinstance(opened, spec.AbstractBufferedFile):
            caching: Any = importlib.import_module("fsspec.caching")
            opened.cache = caching.BaseCache(opened.blocksize, opened._fetch_range, opened.size)
        opened.seek(start)
        data = opened.read(end - start)
    return data


def verified(data: bytes, length: int) -> bytes:
    """Bytes, if they are as many as were asked for."""
    if len(data) > length:
        raise RefusedError("the server sends more than was asked for", DOWNLOAD)
    if len(data) != length:
        raise CutOffError
    return data


def has_ranges(file: RemoteFile) -> bool:
    """Whether the server of a file sends ranges of it."""
    return file.answer is None or file.answer.ranges


def is_staged(file: RemoteFile) -> bool:
    """Whether all bytes of a file are staged."""
    return file.ranges == [(0, file.size)]


def waited(future: Any) -> Any:
    """The result of a future; it is cancelled if that does not come, or on Ctrl-C.

    Raises:
        StalledError: it does not come in time.
    """
    try:
        return future.result(requests.STALL_SECONDS)
    except TIMEOUTS:
        future.cancel()
        raise StalledError(requests.STALL_SECONDS) from None
    except BaseException:
        future.cancel()
        raise
