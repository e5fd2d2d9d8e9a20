"""The errors of feeds: closed, crossed by a fork, without a daemon."""

from __future__ import annotations

from .._errors import DaemonError, FeedError, ProtocolError


def forked() -> FeedError:
    """The error of a feed in a process that was forked after it was made."""
    return FeedError(
        "the feed belongs to the process that this one was forked from",
        type="forked",
        hint="the windows are good here too: windows.feed(...) makes a feed of this process",
    )


def closed() -> FeedError:
    """The error of a pass over a feed that is closed."""
    return FeedError("the feed is closed", type="closed", hint="windows.feed(...) makes another")


def pass_over(closed: bool) -> FeedError:
    """The error of a pass that was ended by closing the feed, or by another pass."""
    if closed:
        return FeedError("the feed was closed during the pass", type="closed")
    return FeedError(
        "another pass over the feed began; a feed is one stream",
        type="pass_over",
        hint="make a second feed of the windows for a pass inside a pass",
    )


def lost(error: DaemonError, place: str) -> DaemonError:
    """The error of a feed whose daemon went away.

    Args:
        error: the error of the connection.
        place: where the loop is, in words.
    """
    return DaemonError(
        f"the feed ended in {place}: {error.detail}",
        type=error.type,
        hint="state = feed.state_dict() has the place: tensorcache.connect() again, make the "
        "feed anew, and load_state_dict(state) goes on exactly there; feeds made with "
        "reconnect=True do so by themselves",
    )


def is_final(error: DaemonError) -> bool:
    """Reports whether another daemon would give the same error."""
    return isinstance(error, ProtocolError)
