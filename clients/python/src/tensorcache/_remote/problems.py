"""What goes wrong with servers, as errors that have no secret in them.

The text of another library's error may have a URL with its query, or an option's value. So the
errors here are made from its class and status alone, and do not refer to it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import socket
import ssl
from collections.abc import Iterator
from typing import Any

from .._errors import SourceError, TensorcacheError

TIMEOUTS = (TimeoutError, asyncio.TimeoutError, concurrent.futures.TimeoutError)
DENIED = {401, 403, 407}
GONE = {404, 410}
BUSY = {408, 425, 429}

TRIES = 3
"""How often a request is sent that fails in a way that may pass."""

CREDENTIALS = "give the server's credentials in storage_options"
DOWNLOAD = "download the file, and load that"
BROWSER = f"open the URL in a browser, or {DOWNLOAD}"
NETWORK = "check the network, and try again"
LATER = f"the server refused {TRIES} requests; try again later"
CHANGED = "the file changed while it was fetched"
CHANGED_HINT = "load again when it is complete"


class StalledError(Exception):
    """A request took longer than it may, or its server sent nothing for as long."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class StatusError(Exception):
    """A web server answered with a status that is no success."""

    def __init__(self, status: int, reason: str = "") -> None:
        super().__init__()
        self.status = status
        self.reason = reason


class RefusedError(Exception):
    """An answer that no further try mends.

    Attributes:
        detail: what is wrong, without the URL.
        hint: what to do.
    """

    def __init__(self, detail: str, hint: str = "") -> None:
        super().__init__()
        self.detail = detail
        self.hint = hint


class CutOffError(Exception):
    """An answer has another number of bytes than was asked for."""


class NoRangesError(Exception):
    """A web server sends the whole file instead of a range."""


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that caused it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def status_of(error: BaseException) -> int:
    """The HTTP status that an error of any library tells of, or 0."""
    for link in chain(error):
        response: Any = getattr(link, "response", None)
        if isinstance(response, dict):  # botocore
            response = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        else:
            response = getattr(response, "status_code", None)
        for value in (
            response,
            getattr(link, "status", None),
            getattr(link, "status_code", None),
            # Elsewhere it is another number, or a property that warns.
            getattr(link, "code", None) if type(link).__module__.startswith("gcsfs") else None,
        ):
            if isinstance(value, int) and 400 <= value < 600:
                return value
    return 0


def is_final(error: BaseException) -> bool:
    """Whether no further try mends an error."""
    if isinstance(error, (CutOffError, *TIMEOUTS)):
        return False
    if isinstance(error, (RefusedError, NoRangesError, StalledError, TensorcacheError)):
        return True
    status = status_of(error)
    if status:
        return status < 500 and status not in BUSY
    if any(isinstance(link, ssl.SSLCertVerificationError) for link in chain(error)):
        return True
    if isinstance(error, (FileNotFoundError, PermissionError)):
        return True
    return not (isinstance(error, (OSError, EOFError)) or is_network(error))


def is_network(error: BaseException) -> bool:
    """Whether an error is one of a library of networks, of which not all are OSErrors."""
    return type(error).__module__.partition(".")[0] in (
        "aiohttp", "aiobotocore", "botocore", "azure", "gcsfs", "httpx", "httpcore", "requests",
        "urllib3",
    )  # fmt: skip


def refusal(error: BaseException, url: str) -> TensorcacheError:
    """The error that a user gets, which names the URL."""
    if isinstance(error, TensorcacheError):
        return error
    detail, hint = described(error)
    return SourceError(f'"{url}": {detail}', hint=hint, field="sources")


def described(error: BaseException) -> tuple[str, str]:
    """What an error means and what to do, without its text."""
    if isinstance(error, RefusedError):
        return error.detail, error.hint
    if isinstance(error, (StalledError, *TIMEOUTS)):
        seconds = f" for {error.seconds:g} s" if isinstance(error, StalledError) else " in time"
        return f"the server sent nothing{seconds}", NETWORK
    if isinstance(error, CutOffError) or type(error).__name__ == "ClientPayloadError":
        return "the server ended its answer too early, or sent another range", (
            f"{NETWORK}, or {DOWNLOAD}"
        )
    status = status_of(error)
    names = {type(link).__name__ for link in chain(error)}
    if status in GONE or (not status and isinstance(error, FileNotFoundError)):
        return f"not found{f' (status {status})' if status else ''}", "check the URL"
    if status in DENIED or isinstance(error, PermissionError):
        return f"access is denied{f' (status {status})' if status else ''}", CREDENTIALS
    if names & {"NoCredentialsError", "PartialCredentialsError", "DefaultCredentialsError"}:
        return (
            "no credentials were found",
            f'{CREDENTIALS}; for public data of S3, {{"anon": True}}',
        )
    if status in (412, 416):
        return CHANGED, CHANGED_HINT
    if status:
        hint = LATER if status >= 500 or status in BUSY else BROWSER
        return f"the server answered with status {status}", hint
    if any(isinstance(link, ssl.SSLCertVerificationError) for link in chain(error)):
        return "the server's certificate is not trusted", "check the URL, or set SSL_CERT_FILE"
    if any(isinstance(link, socket.gaierror) for link in chain(error)):
        return "the server's name was not found", "check the URL and the connection"
    if isinstance(error, (TypeError, ValueError)) or "ParamValidationError" in names:
        return (
            f"the file system refuses the URL or its options ({type(error).__name__})",
            "check the URL, and the names and values in storage_options",
        )
    numbers = [link.errno for link in chain(error) if isinstance(link, OSError) and link.errno]
    why = (
        f"{os.strerror(numbers[0])} ({type(error).__name__})" if numbers else (type(error).__name__)
    )
    return f"cannot be read: {why}", "check the URL and the connection"
