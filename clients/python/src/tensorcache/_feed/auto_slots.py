"""The number of slots of a feed's ring, tuned by how long each side waits.

The number is doubled only if the waiting says that it would help, and kept only if it did.
"""

from __future__ import annotations

from collections.abc import Callable

INTERVAL = 1.0
"""Seconds inside passes between two decisions."""
ANSWER_SECONDS = INTERVAL / 4
"""Seconds that a decision waits for the daemon's answer, while the training loop stands still."""
LOW_WAIT_SHARE = 0.02
"""A trainer that waits for a smaller share of its time has enough slots."""
LOW_IDLE_SHARE = 0.2
"""A daemon that waits for the trainer for a smaller share of the time is busy: it would not fill
more slots any sooner."""
HELPED = 0.9
"""More slots helped if the share of waiting fell below this fraction of what it was."""
MAX_SLOTS = 512


class Tuner:
    """Doubles the slots while both sides wait in turn, and undoes a step that did not help.

    It follows tf.data's autotuning (Murray et al., 2021), which changes one parameter at a time by
    what it measures. Here there is one parameter, and its cost is memory, so the fewest slots that
    suffice are kept.

    Attributes:
        settled: whether the number of slots is final.
    """

    def __init__(self) -> None:
        self.settled = False
        self._seconds = self._waited = self._idle = 0.0  # at the latest decision
        # The slots before more were tried, and the share of waiting with them.
        self._before: tuple[int, float] | None = None

    def due(self, seconds: float) -> bool:
        """Whether a decision is due after so many seconds inside passes."""
        return not self.settled and seconds - self._seconds >= INTERVAL

    def decide(
        self, seconds: float, waited: float, idle: Callable[[], float | None], slots: int
    ) -> int:
        """The number of slots that the ring should have.

        Args:
            seconds: seconds inside passes, in all.
            waited: seconds of them in which the trainer waited for data.
            idle: returns the seconds inside passes in which the daemon waited for the trainer,
                since the ring was made; None if the daemon does not answer.
            slots: the slots of the ring.
        """
        span, share = seconds - self._seconds, (waited - self._waited) / (seconds - self._seconds)
        self._seconds, self._waited = seconds, waited
        if self._before is not None:
            few, was = self._before
            self._before = None
            if share > HELPED * was:
                self.settled = True
                return few
        if share < LOW_WAIT_SHARE:
            return slots
        now = idle()
        if now is None:
            return slots
        idled, self._idle = now - self._idle, now
        if idled < LOW_IDLE_SHARE * span or 2 * slots > MAX_SLOTS:
            return slots
        self._before = (slots, share)
        return 2 * slots

    def resized(self, slots: int) -> None:
        """Record the slots of a new ring: fewer than decided if the memory did not allow more."""
        self._idle = 0.0
        if self._before is not None and slots <= self._before[0]:
            self._before, self.settled = None, True
