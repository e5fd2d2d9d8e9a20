"""Warnings of the daemon about requests that can be done and may not be meant."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

from ._errors import printable_lines
from ._option_text import with_keywords

PACKAGE = str(Path(__file__).parent)

_warned: set[tuple[str, str]] = set()


def warn(reply: dict[str, Any], once_for: str = "") -> None:
    """Warn of what a reply has as ``warnings``, at the line that called this package.

    Args:
        reply: a reply of the daemon.
        once_for: the digest of a generation for which the same is said once; "" says it again.
    """
    for warning in reply.get("warnings") or ():
        text = with_keywords(f"{warning['detail']}\nhint: {warning['hint']}")
        if once_for and (once_for, text) in _warned:
            continue
        _warned.add((once_for, text))
        warnings.warn(printable_lines(text), UserWarning, stacklevel=callers_level())


def callers_level() -> int:
    """The ``stacklevel`` of the first frame outside this package, for :func:`warn`."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
