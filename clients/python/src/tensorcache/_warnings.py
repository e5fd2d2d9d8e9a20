"""Warnings of the daemon about requests and loads that can be done and may not be meant."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ._errors import LoadWarning, printable_lines
from ._option_text import with_keywords

PACKAGE = str(Path(__file__).parent)

_warned: set[tuple[str, str]] = set()


def warn(reply: dict[str, Any], once_for: str = "") -> None:
    """Warn of what a reply has as ``warnings``, at the line that called this package.

    Args:
        reply: a reply of the daemon.
        once_for: the digest of a generation for which the same is said once; "" says it again.
    """
    for text in texts_of(reply.get("warnings") or ()):
        if once_for and (once_for, text) in _warned:
            continue
        _warned.add((once_for, text))
        warnings.warn(text, UserWarning, stacklevel=callers_level())


def warn_of_load(notes: Sequence[str]) -> None:
    """Warn of the notes of a generation, at the line that called this package."""
    for text in notes:
        warnings.warn(text, LoadWarning, stacklevel=callers_level())


def texts_of(found: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    """Warnings of the daemon, or notes of a load, as texts with a hint."""
    return tuple(
        printable_lines(with_keywords(f"{each['detail']}\nhint: {each['hint']}")) for each in found
    )


def callers_level() -> int:
    """The ``stacklevel`` of the first frame outside this package, for :func:`warn`."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
