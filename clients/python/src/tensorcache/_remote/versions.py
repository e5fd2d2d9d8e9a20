"""Entity tags and times of change, by which versions of a remote file are told apart."""

from __future__ import annotations

import contextlib
import email.utils
from datetime import datetime, timedelta, timezone
from typing import Any

SETTLED = timedelta(seconds=2)
"""Times of change may have whole seconds: a file that is younger may change with the same time."""


def is_settled(changed: Any, now: Any) -> bool:
    """Whether a further change of a file would change its time of change.

    Args:
        changed: that time.
        now: when the server said so.
    """
    then, at = time_of(now), time_of(changed)
    if then is None or at is None:
        return False
    return datetime.fromisoformat(then[:-1]) - datetime.fromisoformat(at[:-1]) >= SETTLED


def is_version(
    etag: str | None, modified: str | None, later_etag: str | None, later_modified: str | None
) -> bool:
    """Whether a later answer about a file can be about the version of the first one.

    What told the version of the first must be in the later one: the tag, else the time of change.
    """
    if etag:
        # One server may call the same tag weak and strong.
        return bool(later_etag) and strong(etag) == strong(later_etag or "")
    return not modified or modified == later_modified


def strong(etag: str) -> str:
    """An entity tag without the mark of a weak one."""
    return etag.removeprefix("W/")


def time_of(value: Any) -> str | None:
    """A time of a file system in RFC 3339, or None if it is in no known form."""
    with contextlib.suppress(ValueError, TypeError, OverflowError, OSError):
        if isinstance(value, str):
            try:
                value = datetime.fromisoformat(value.replace("Z", "+00:00"))
            except ValueError:
                value = email.utils.parsedate_to_datetime(value)
        elif isinstance(value, (int, float)):
            value = datetime.fromtimestamp(value, timezone.utc)
        if isinstance(value, datetime):
            if value.tzinfo is None:
                value = value.replace(tzinfo=timezone.utc)
            value = value.astimezone(timezone.utc)
            if 1678 <= value.year < 2262:  # what nanoseconds in 64 bits can say
                return str(value.replace(tzinfo=None).isoformat()) + "Z"
    return None
