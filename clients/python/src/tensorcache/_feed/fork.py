"""What happens to open feeds when the process forks.

The child's batches keep their values; its feeds end.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forkable(Protocol):
    """An object that acts before and after its process forks."""

    def before_fork(self) -> None:
        """Runs in the parent before the fork."""

    def after_fork_in_parent(self) -> None:
        """Runs in the parent after the fork."""

    def after_fork_in_child(self) -> None:
        """Runs in the child after the fork."""


_watched: weakref.WeakSet[Forkable] = weakref.WeakSet()
_registered = False


def watch(stream: Forkable) -> None:
    """Call a stream's methods at forks, until it is forgotten or collected."""
    global _registered
    if not _registered:
        os.register_at_fork(before=before, after_in_parent=in_parent, after_in_child=in_child)
        _registered = True
    _watched.add(stream)


def forget(stream: Forkable) -> None:
    """Stop watching a stream that is closed."""
    _watched.discard(stream)


def before() -> None:
    """Runs in the parent before a fork."""
    for stream in list(_watched):
        stream.before_fork()


def in_parent() -> None:
    """Runs in the parent after a fork."""
    for stream in list(_watched):
        stream.after_fork_in_parent()


def in_child() -> None:
    """Runs in the child after a fork."""
    for stream in list(_watched):
        stream.after_fork_in_child()
    _watched.clear()
