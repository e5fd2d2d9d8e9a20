"""The file systems of fsspec for the protocols of URLs."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Mapping
from typing import Any

from .._errors import MissingExtraError, SourceError, SpecError, TensorcacheError
from . import requests
from .problems import refusal
from .urls import WEB, shown
from .web import PERSONAL

PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs",
    "abfss": "adlfs", "http": "aiohttp", "https": "aiohttp", "hf": "huggingface_hub",
}  # fmt: skip
"""The packages that protocols need besides fsspec."""

EXTRA = ("fsspec", "aiohttp", "s3fs")
"""What the extra ``remote`` installs."""

KNOWN = "s3://, gs://, az://, http://, https:// or hf://"


def filesystem_class(protocol: str, url: str) -> Any:
    """The class of fsspec for a protocol.

    Raises:
        MissingExtraError: fsspec, or the package for this protocol, is not installed.
        SourceError: fsspec does not know the protocol.
    """
    package = "fsspec"
    try:
        fsspec = importlib.import_module("fsspec")
        importlib.import_module("fsspec.asyn")
        package = PACKAGES.get(protocol, "")
        if package and protocol not in fsspec.registry:
            importlib.import_module(package)
        return fsspec.get_filesystem_class(protocol)
    except ImportError as error:
        named = package or missing_package(error)
        extra = 'pip install "tensorcache[remote]"'
        raised = MissingExtraError(
            f"{named or f'a package for {protocol}://'} is not installed",
            hint=extra if named in EXTRA else f"pip install {named}" if named else "",
        )
        raised.name = named
        raise raised from error
    except ValueError:
        problem = SourceError(
            f'sources: got the URL "{shown(url)}", want the path of a file or a URL {KNOWN}',
            field="sources",
        )
    raise problem


def missing_package(error: BaseException | None) -> str:
    """The top module that was not found."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            return error.name.partition(".")[0]
        error = error.__cause__
    return ""


class FileSystems:
    """The file systems of one load; a context that closes their connections."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._made: dict[tuple[str, str], Any] = {}

    def __enter__(self) -> FileSystems:
        return self

    def __exit__(self, *_: object) -> None:
        for (protocol, *_rest), filesystem in self._made.items():
            session = getattr(filesystem, "_session", None)
            if protocol in WEB and session is not None:
                with contextlib.suppress(Exception):
                    requests.on_loop(filesystem, session.close()).result(1.0)
        self._made.clear()

    def of(self, protocol: str, url: str) -> Any:
        """The file system for a URL."""
        made_by = filesystem_class(protocol, url)
        from_url = {} if protocol in WEB else options_in(made_by, url)
        key = ("http" if protocol in WEB else protocol, repr(sorted(from_url.items())))
        if key not in self._made:
            options = {**from_url, **self._options}
            if protocol in WEB:
                options = web_options(options)
            self._made[key] = make(made_by, options, url)
        return self._made[key]


def options_in(made_by: Any, url: str) -> dict[str, Any]:
    """The options of a file system that are in a URL, such as a host."""
    try:
        found: dict[str, Any] = made_by._get_kwargs_from_urls(url)
        made_by._strip_protocol(url)
    except Exception as error:  # noqa: BLE001 - of any library
        problem = SourceError(
            f'sources: got "{shown(url)}", which is no URL of {made_by.__name__} '
            f"({type(error).__name__})",
            field="sources",
        )
    else:
        return found
    raise problem


def make(made_by: Any, options: dict[str, Any], url: str) -> Any:
    """A file system with options; some connect to the server of the URL.

    Raises:
        SpecError: it does not take the options; the message has none of their values.
        TensorcacheError: its server cannot be reached.
    """
    try:
        return made_by(**options, skip_instance_cache=True)
    except Exception as error:  # noqa: BLE001 - of any library
        problem: TensorcacheError
        name = re.search(r"unexpected keyword argument '(\w+)'", str(error))
        if name or (options and isinstance(error, (TypeError, ValueError, KeyError))):
            problem = SpecError(
                f"storage_options: {made_by.__name__} of {made_by.__module__.partition('.')[0]} "
                f"does not take {f'the key {name[1]}' if name else 'them'} "
                f"({type(error).__name__})",
                field="storage_options",
                hint="check the names and values in storage_options",
            )
        else:
            problem = refusal(error, shown(url))
    raise problem


def web_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the file system for HTTP: bytes as they are sent, and a bound for silence.

    Credentials are given to each request instead of to the session, which sends them everywhere.
    """
    client = given.get("client_kwargs") or {}
    if not isinstance(client, Mapping):
        raise SpecError(
            "storage_options: want a mapping for client_kwargs", field="storage_options"
        )
    aiohttp: Any = importlib.import_module("aiohttp")
    seconds = requests.STALL_SECONDS
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds)
    options = dict(given)
    for name in set(PERSONAL) & set(client):
        options.setdefault(name, client[name])
    auth = options.pop("auth", None)
    if auth is not None:  # later versions of aiohttp warn of it in a request
        options["headers"] = {"Authorization": auth.encode(), **(options.get("headers") or {})}
    check_headers(options.get("headers") or {})
    for_session = {name: client[name] for name in client if name not in PERSONAL}
    options["client_kwargs"] = {"timeout": timeout, **for_session, "auto_decompress": False}
    return options


def check_headers(headers: Any) -> None:
    """Refuse headers that no request can have; the message has none of their values.

    Raises:
        SpecError: it names the header.
    """
    if not isinstance(headers, Mapping) or not all(isinstance(name, str) for name in headers):
        raise SpecError(
            "storage_options: want a mapping of names to text for headers", field="storage_options"
        )
    for name, value in headers.items():
        if not isinstance(value, str) or set("\r\n\0") & set(name + value):
            got = "a line break" if isinstance(value, str) else type(value).__name__
            raise SpecError(
                f"storage_options: got {got} in the header {name!r}, want text of one line",
                field="storage_options",
            )
