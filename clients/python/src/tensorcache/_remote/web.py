"""Requests to web servers, through the client of fsspec's file system for HTTP.

fsspec itself verifies neither the status of a range nor where it lies, so this module asks.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import requests
from .problems import (
    BROWSER,
    CHANGED,
    CHANGED_HINT,
    DOWNLOAD,
    TIMEOUTS,
    CutOffError,
    NoRangesError,
    RefusedError,
    StalledError,
    StatusError,
)
from .versions import is_settled, is_version

CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)", re.IGNORECASE)

REDIRECTS = (301, 302, 303, 307, 308)
MOST_REDIRECTS = 10

PERSONAL = ("headers", "auth", "cookies")
"""Options that may have credentials."""


@dataclass(frozen=True)
class Answer:
    """What a web server says of a file.

    Attributes:
        size: its size, or None if only its end tells.
        ranges: whether to ask for ranges of it.
        etag: its entity tag, or None.
        modified: the header ``Last-Modified``, or None.
        date: the header ``Date``, the server's time of the answer, or None.
    """

    size: int | None
    ranges: bool
    etag: str | None
    modified: str | None
    date: str | None = None


async def ask(filesystem: Any, url: str) -> Answer:
    """What the server says of a file when it is asked for its first byte.

    Unlike HEAD, this tells whether ranges are sent, and signed URLs allow it.
    """
    async with await get(filesystem, url, (0, 1)) as response:
        try:
            size, ranges = size_of(response)
            etag, modified = validators(response.headers)
            date = response.headers.get("Date")
            # Otherwise nothing shows that two answers are of one version: one has to do.
            told = bool(etag) or is_settled(modified, date)
            return Answer(size, ranges and told, etag, modified, date)
        finally:
            response.close()


def size_of(response: Any) -> tuple[int | None, bool]:
    """The size of the file, and whether the server sends ranges of it."""
    headers = response.headers
    found = CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if response.status == 416 and found and found[3] == "0":
        return 0, True
    if response.status == 416:
        raise RefusedError("the server refuses a request for the first byte", DOWNLOAD)
    check_status(response, (200, 206))
    if response.status == 206:
        if not found or found[1] != "0" or found[3] == "*":
            raise RefusedError("the server sends ranges without the size of the file", DOWNLOAD)
        return int(found[3]), True
    length = headers.get("Content-Length", "")
    if length.isdecimal():
        return int(length), False
    if headers.get("Transfer-Encoding", "").lower() == "chunked":
        return None, False
    raise RefusedError(
        "the server names no size, so that an answer that is cut off looks complete", DOWNLOAD
    )


async def range_of(filesystem: Any, url: str, start: int, end: int, expected: Answer) -> bytes:
    """The bytes of a range, verified by status, header and length.

    Raises:
        NoRangesError: the server sends the whole file.
        CutOffError: it sends another range or another number of bytes.
        RefusedError: the file is another one than ``expected``.
    """
    async with await get(filesystem, url, (start, end)) as response:
        try:
            if response.status == 200:
                raise NoRangesError
            check_status(response, (206,))
            check_same(response.headers, expected)
            found = CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
            if found and found[3] not in ("*", str(expected.size)):
                raise RefusedError(CHANGED, CHANGED_HINT)
            if not found or found[1] is None or (int(found[1]), int(found[2])) != (start, end - 1):
                raise CutOffError
            parts, length = [], 0
            while block := await unless_silent(response.content.readany()):
                parts.append(block)
                length += len(block)
                if length > end - start:
                    break
            if length != end - start:
                raise CutOffError
            return b"".join(parts)
        except BaseException:
            response.close()
            raise


async def whole(filesystem: Any, url: str, expected: Answer) -> Any:
    """The response with the whole file, whose body the caller reads and closes."""
    response = await get(filesystem, url, None)
    try:
        check_status(response, (200,))
        check_same(response.headers, expected)
        length = response.headers.get("Content-Length", "")
        if expected.size is not None and length.isdecimal() and int(length) != expected.size:
            raise RefusedError(CHANGED, CHANGED_HINT)
    except BaseException:
        response.close()
        raise
    return response


async def get(filesystem: Any, url: str, wanted: tuple[int, int] | None) -> Any:
    """The response to GET, of a range if one is given.

    Redirects are followed here: aiohttp sends headers of any name, and the session's credentials,
    to other servers too.
    """
    options = dict(filesystem.kwargs)
    own = {name: options.pop(name) for name in PERSONAL if name in options}
    fixed = {"Accept-Encoding": "identity"}
    if wanted is not None:
        fixed["Range"] = f"bytes={wanted[0]}-{wanted[1] - 1}"
    options["allow_redirects"] = False
    session = await filesystem.set_session()
    target = filesystem.encode_url(url)
    for _ in range(1 + MOST_REDIRECTS):
        headers = {**(own.get("headers") or {}), **fixed}
        sent = session.get(target, **{**options, **own, "headers": headers})
        response = await unless_silent(sent)
        location = response.headers.get("Location")
        if response.status not in REDIRECTS or not location:
            return response
        response.close()
        following = redirected(target, location)
        if following.origin() != target.origin():
            own = {}
        target = following
    raise RefusedError(f"the server redirects more than {MOST_REDIRECTS} times", "check the URL")


async def unless_silent(answer: Any) -> Any:
    """An answer, or a part of it, unless it takes too long.

    Raises:
        StalledError: it does.
    """
    try:
        return await asyncio.wait_for(answer, requests.STALL_SECONDS)
    except TIMEOUTS:  # also that of the session's own bound
        stalled = StalledError(requests.STALL_SECONDS)
    raise stalled


def redirected(target: Any, location: str) -> Any:
    """The URL that a server sends a request on to, with the user of the first on its own server."""
    following = target.join(type(target)(location))
    if following.scheme not in ("http", "https"):
        raise RefusedError("the server redirects to another protocol", DOWNLOAD)
    if target.scheme == "https" and following.scheme == "http":
        raise RefusedError("the server redirects from https to http", DOWNLOAD)
    if following.origin() == target.origin() and target.user and not following.user:
        following = following.with_user(target.user).with_password(target.password)
    return following


def check_status(response: Any, wanted: tuple[int, ...]) -> None:
    """Refuse an answer of another status, and one whose bytes are not those of the file."""
    if response.status not in wanted:
        if response.status < 400:
            raise RefusedError(f"the server answered with status {response.status}", BROWSER)
        raise StatusError(response.status)
    encoding = response.headers.get("Content-Encoding", "identity").lower()
    # Servers name the compression of a .gz file too, whose bytes are sent as they are.
    suffix = {"gzip": ".gz", "x-gzip": ".gz", "zstd": ".zst"}.get(encoding)
    compressed = suffix is not None and response.url.path.endswith(suffix)
    if encoding not in ("", "identity") and not compressed:
        raise RefusedError(
            f"the server sends it compressed (Content-Encoding: {encoding[:20]!r})", DOWNLOAD
        )


def check_same(headers: Mapping[str, str], expected: Answer) -> None:
    """Refuse an answer of another version of the file."""
    if not is_version(expected.etag, expected.modified, *validators(headers)):
        raise RefusedError(CHANGED, CHANGED_HINT)


def validators(headers: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The headers by which versions of a file are told apart."""
    return headers.get("ETag") or None, headers.get("Last-Modified") or None
