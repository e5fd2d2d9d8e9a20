"""The error of an optional library that is not installed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .._errors import DaemonError


@contextlib.contextmanager
def required(library: str, hint: str) -> Iterator[None]:
    """A context that imports a module of this package which imports an optional library.

    Args:
        library: the library's name, which is also that of the package's extra.
        hint: how to install it, or what to use instead.

    Raises:
        DaemonError: the import failed; its type is the library's name and ``_missing``.
    """
    try:
        yield
    except ImportError as error:
        raise DaemonError(
            f"{library} is not installed", type=f"{library}_missing", hint=hint
        ) from error
