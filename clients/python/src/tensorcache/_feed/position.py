"""Where a feed's loop is, and where its next pass begins."""

from __future__ import annotations

from .._daemon.frames import LAST
from .cursor import Place
from .passes import Passes
from .stream import Descriptor


class Position:
    """The place of a feed's loop in its order.

    Attributes:
        passes: where passes begin and end.
        last: the descriptor of the latest batch of the pass; None before its first.
        target: where the next pass is to begin, if the caller asked for a place.
        empty: whether an epoch of the order ended without a batch for this rank in the latest pass.
    """

    def __init__(self, passes: Passes) -> None:
        self.passes = passes
        self.last: Descriptor | None = None
        self.target: Place | None = None
        self.empty = False
        self._start: Place = (0, 0)  # where the latest pass began
        self._end = passes.end(self._start)

    def begin(self, start: Place) -> None:
        """Begin a pass at a place."""
        self._start, self.last, self.target, self.empty = start, None, None, False
        self._end = self.passes.end(start)

    def end_without_batch(self, descriptor: Descriptor) -> None:
        """End an epoch of the order in which this rank gets no batch, or no more."""
        self.empty = True
        if self.last is None:  # nothing of the pass was delivered: it begins there
            self._start = descriptor[4] + 1, 0
        else:
            self.last = (*descriptor[:3], descriptor[3] | LAST, *descriptor[4:])

    def is_over(self) -> bool:
        """Whether the pass has had its last batch."""
        return self.of_stream() >= self._end

    def of_loop(self) -> Place:
        """Where the loop is, or the place that the caller asked for."""
        return self.of_stream() if self.target is None else self.target

    def of_stream(self) -> Place:
        """Where the stream is, whatever the caller asked for since."""
        if self.last is None:
            return self._start
        _, _, _, flags, epoch, consumed, _ = self.last
        return (epoch + 1, 0) if flags & LAST else (epoch, consumed)

    def of_next_pass(self) -> Place:
        """Where the next pass begins: after this one if it delivered a batch."""
        if self.target is not None:
            return self.target
        return self._start if self.last is None else max(self.of_stream(), self._end)
