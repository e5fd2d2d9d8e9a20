"""Optional libraries, which extras of the package install."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ._errors import MissingExtraError


@contextlib.contextmanager
def required(library: str, extra: str = "") -> Iterator[None]:
    """A context that imports an optional library.

    Args:
        library: the library's name.
        extra: the extra of this package that installs it; "" is the extra of the same name.

    Raises:
        MissingExtraError: the import failed.
    """
    try:
        yield
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        found = not isinstance(error, ModuleNotFoundError) or not missing
        raised = MissingExtraError(
            f"{library} cannot be imported: {error}" if found else f"{missing} is not installed",
            hint=f'pip install "tensorcache[{extra or library}]"',
        )
        raised.name = error.name
        raise raised from error
