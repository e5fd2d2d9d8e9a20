"""Everything tensorcache raises.

TensorcacheError       what the daemon or the client refused; catches all of them
├── DaemonError        no daemon, it cannot be started, it went away    (also ConnectionError)
│   └── ProtocolError  it speaks another version, or not this protocol
├── NotFoundError      no such dataset, column, item, job               (also KeyError)
│   └── StaleError     a generation or handle that is gone: open it again
├── SpecError          a window spec, option or name that cannot be     (also ValueError)
├── SourceError        a file or array that cannot be loaded            (also ValueError)
│   └── CancelledError a load that was cancelled
├── ResourceError      not enough disk or memory; says need and have    (also OSError)
├── LeakageError       a fitted step saw rows that a model is judged by (also ValueError)
├── CursorError        a state made for another dataset, spec or order  (also ValueError)
├── FeedError          a feed that is closed, or was crossed by a fork  (also RuntimeError)
└── MissingExtraError  a library that an extra installs is missing      (also ImportError)

LeakageWarning         what check_leakage() would raise, from split() and backtest() (a UserWarning)
LoadWarning            what a load assumed or left out                      (a UserWarning)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from ._option_text import with_keywords


class TensorcacheError(Exception):
    """What went wrong and what to do about it.

    Attributes:
        type: a stable word, such as ``"dataset_not_found"``; HTTP.md lists the daemon's.
        detail: the message: where, what, and the value in quotes.
        hint: what to do, or "".
        field: the option or file that is to blame, or "".
    """

    default_type = "internal"

    def __init__(self, detail: str, *, type: str = "", hint: str = "", field: str = "") -> None:  # noqa: A002
        super().__init__(detail)
        self.type = type or self.default_type
        self.detail = detail
        self.hint = hint
        self.field = field

    def __str__(self) -> str:
        text = f"{self.detail}\nhint: {self.hint}" if self.hint else self.detail
        return printable_lines(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.__class__, self.detail, self.type, self.hint, self.field)


class DaemonError(TensorcacheError, ConnectionError):
    """No daemon runs and none may be or could be started, or the one that ran went away."""

    default_type = "daemon"


class ProtocolError(DaemonError):
    """The daemon speaks another protocol version, or sent what the protocol does not allow."""

    default_type = "protocol_error"


class NotFoundError(TensorcacheError, KeyError):
    """No dataset, column, item or job has the name; the message lists near ones."""

    default_type = "not_found"


class StaleError(NotFoundError):
    """The generation has left the cache, or the handle was closed: open the dataset again."""

    default_type = "generation_gone"


class SpecError(TensorcacheError, ValueError):
    """A window spec, option or name is impossible.

    ``field`` names it, the message says what is allowed.
    """

    default_type = "invalid_spec"


class SourceError(TensorcacheError, ValueError):
    """A file or array cannot be loaded.

    The message names file, row and column where there is one.
    """

    default_type = "source_error"


class CancelledError(SourceError):
    """The load was cancelled; nothing of it is left."""

    default_type = "cancelled"


class ResourceError(TensorcacheError, OSError):
    """The disk or the memory does not suffice.

    The message says what is needed and what there is.
    """

    default_type = "memory"


class LeakageError(TensorcacheError, ValueError):
    """A step of the load was fitted on prediction rows of windows that evaluate a model.

    The message names columns, items and rows.
    """

    default_type = "leakage"


class LeakageWarning(UserWarning):
    """What ``check_leakage()`` would raise, as a warning of ``split`` and ``backtest``."""


class LoadWarning(UserWarning):
    """What a load assumed or left out and its user may not have meant, with a hint.

    ``data.notes`` has the same texts. ``warnings.filterwarnings("ignore",
    category=tensorcache.LoadWarning)`` hides them.
    """


class CursorError(TensorcacheError, ValueError):
    """A state was saved from another dataset, spec, seed or order.

    The message says what differs.
    """

    default_type = "cursor_mismatch"


class FeedError(TensorcacheError, RuntimeError):
    """The feed is closed, belongs to the process that forked this one, or its pass is over."""

    default_type = "feed"


class MissingExtraError(TensorcacheError, ImportError):
    """A library that the method needs is not installed.

    The hint is the ``pip install`` line; ``name`` is the module that was not found.
    """

    default_type = "missing_extra"


CLASSES: dict[str, type[TensorcacheError]] = {
    "dataset_not_found": NotFoundError,
    "column_not_found": NotFoundError,
    "item_not_found": NotFoundError,
    "job_not_found": NotFoundError,
    "feed_not_found": NotFoundError,
    "generation_gone": StaleError,
    "invalid_spec": SpecError,
    "no_windows": SpecError,
    "invalid_request": SpecError,
    "invalid_name": SpecError,
    "source_error": SourceError,
    "job_failed": SourceError,
    "cancelled": CancelledError,
    "corrupt": SourceError,
    "feed_closed": FeedError,
    "no_space": ResourceError,
    "memory": ResourceError,
    "cursor_mismatch": CursorError,
    "protocol_mismatch": ProtocolError,
    "protocol_error": ProtocolError,
    "shutting_down": DaemonError,
    "busy": DaemonError,
    "timeout": DaemonError,
}
"""The daemon's problem types that have a class of their own; the others are a plain
TensorcacheError."""


def from_problem(problem: dict[str, Any]) -> TensorcacheError:
    """The exception for an RFC 9457 problem of the daemon."""
    kind = str(problem.get("type", "internal"))
    detail = str(problem.get("detail") or problem.get("title") or "the daemon gave no reason")
    error = CLASSES.get(kind, TensorcacheError)
    return error(
        with_keywords(detail),
        type=kind,
        hint=with_keywords(str(problem.get("hint") or "")),
        field=str(problem.get("field") or ""),
    )


def show(value: object) -> str:
    """A value as error messages quote it."""
    return f'"{printable(value)}"' if isinstance(value, str) else repr(value)


def printable(text: str) -> str:
    """A text of the data with escapes in place of what controls a terminal or breaks a line."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def printable_lines(text: str) -> str:
    """A text of several lines with escapes in place of what controls a terminal."""
    return "\n".join(map(printable, text.split("\n")))


def near(name: str, names: Iterable[str]) -> str:
    """The end of a "not found" message: ``"; near: a, b"``, or "" if no name is near.

    Names with blanks at an end are quoted.
    """
    matches = difflib.get_close_matches(name, list(names), n=3, cutoff=0.5)
    shown = [match if match == match.strip() else f'"{match}"' for match in matches]
    return f"; near: {', '.join(shown)}" if matches else ""


def _rebuild(
    cls: type[TensorcacheError], detail: str, kind: str, hint: str, field: str
) -> TensorcacheError:
    return cls(detail, type=kind, hint=hint, field=field)
