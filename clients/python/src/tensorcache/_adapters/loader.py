"""The base of all loaders: a feed that is made in the process and at the time it is iterated."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from .._feed.feed import Feed
from .._warnings import callers_level
from .options import Settings


class Loader:
    """Batches of a framework's arrays.

    Each pass is one epoch, and ``len`` counts this rank's batches in it.

    A loader can be pickled, copied and used after a fork. There it makes a feed of its own, which
    begins where the next pass of the first one would have begun. If rank and number of trainers
    were not given, they are read whenever a pass begins, so a loader may be made before the
    processes are joined.

    Attributes:
        dataset: the windows.
        batch_size: the number of windows in a batch; None if each is a whole group.
        drop_last: whether the last, incomplete step is left out.
    """

    def __init__(self, given: Settings) -> None:
        self._settings = given
        self.dataset: Any = given.windows
        self.batch_size: int | None = given.batch_size
        self.drop_last = given.tail == "drop"
        self._state: Mapping[str, Any] | None = None  # at which the first pass begins
        self._feed: Feed | None = None
        self._of: tuple[int, tuple[int, int]] | None = None  # process and share of the feed
        self._closed = False

    @property
    def feed(self) -> Feed:
        """The feed of this process and its share of the windows; made if there is none."""
        of = os.getpid(), self.share()
        if self._feed is not None and (self._closed or of == self._of):
            return self._feed
        state = self._next()
        if self._feed is not None and self._of is not None and self._of[0] == of[0]:
            self._feed.close()
        made = self.make_feed(*of[1])
        if state is not None:
            made.load_state_dict(state)
        self._feed, self._of, self._state = made, of, None
        return made

    def share(self) -> tuple[int, int]:
        """This trainer's rank and the number of trainers."""
        given = self._settings
        if given.rank is not None and given.num_replicas is not None:
            return given.rank, given.num_replicas
        return self.find_share()

    def find_share(self) -> tuple[int, int]:
        """The rank and number of trainers that the framework knows."""
        raise NotImplementedError

    def make_feed(self, rank: int, num_replicas: int) -> Feed:
        """A feed of the settings for one rank."""
        raise NotImplementedError

    def as_kind(self, kind: type[Loader]) -> Any:
        """The same loader, with its feed, as another class of loader; drop this one afterwards."""
        other = kind(self._settings)
        other.__dict__.update({**self.__dict__, **other.extra()})
        return other

    def extra(self) -> dict[str, Any]:
        """Attributes of the class itself, for :meth:`as_kind`."""
        return {}

    def _next(self) -> Mapping[str, Any] | None:
        """The state at which the next pass begins; None at the start of the first epoch."""
        if self._feed is None:
            return self._state
        epoch, consumed = self._feed._position.of_next_pass()
        return {**self._feed._cursor, "epoch": epoch, "consumed": consumed}

    def __len__(self) -> int:
        return len(self.feed)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.feed)

    def set_epoch(self, epoch: int) -> None:
        """Make the next pass the given epoch, from its start.

        If a loaded state is in the middle of that epoch, or an error of the feed ended a pass
        there, the pass continues there: trainers load a state first and then set its epoch.
        """
        feed, position = self.feed, self.feed._position
        if position.target is not None:
            number, batches = position.passes.at(position.target)
            if number == epoch:
                return
            if batches and position.passes.inside_epochs:
                warnings.warn(
                    f"set_epoch({epoch}) leaves epoch {number}, which the next pass would have "
                    f"continued after {batches} of {len(feed)} batches\n"
                    "hint: a state that another batches_per_epoch or number of trainers saved is "
                    "in an epoch of another number here",
                    UserWarning,
                    stacklevel=callers_level(),
                )
        feed.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the loop is; see :meth:`Feed.state_dict`."""
        return self.feed.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue where a state was saved; see :meth:`Feed.load_state_dict`."""
        self.feed.load_state_dict(state)

    def stats(self) -> dict[str, Any]:
        """What the feed did so far; see :meth:`Feed.stats`."""
        return self.feed.stats()

    def close(self) -> None:
        """End the feed. Arrays that were kept stay valid, and calling it twice is fine."""
        self.feed.close()
        self._closed = True

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._settings,), {"next": self._next()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._state = state["next"]

    def __repr__(self) -> str:
        return f"<Loader over {self.feed!r}>"
