"""How many slots a feed's ring shall have.

More only where waiting says that they would help, and did.
"""

from __future__ import annotations

from collections.abc import Callable

INTERVAL = 1.0
"""Seconds inside passes between two looks."""
ANSWER_SECONDS = INTERVAL / 4
"""How long a look waits for the daemon's word, while the loop stands still."""
LOW_WAIT_SHARE = 0.02
"""A trainer that waits a smaller share of its time has slots enough."""
LOW_IDLE_SHARE = 0.2
"""Where the daemon waits a smaller share for the trainer it is busy: more slots would be filled no
sooner."""
HELPED = 0.9
"""More slots helped where less than this share of the waiting is left."""
MAX_SLOTS = 512


class Tuner:
    """Doubles the slots while both sides wait in turn, and undoes a step that did not help.

    After tf.data's autotuning (Murray et al., 2021), which changes one parameter at a time by what
    it measures; here there is one, and its cost is memory, so that the fewest slots that do are
    kept.

    Attributes:
        settled: whether nothing is tried any more.
    """

    def __init__(self) -> None:
        self.settled = False
        self._seconds = self._waited = self._idle = 0.0  # at the last look
        self._before: tuple[int, float] | None = (
            None  # slots, and the share of waiting with them, before more were tried
        )

    def due(self, seconds: float) -> bool:
        """Whether it is time for a look, after so many seconds inside passes."""
        return not self.settled and seconds - self._seconds >= INTERVAL

    def decide(
        self, seconds: float, waited: float, idle: Callable[[], float | None], slots: int
    ) -> int:
        """The slots that the ring shall have from here on.

        Args:
            seconds: inside passes, in all.
            waited: those of them in which the trainer waited for data.
            idle: asks how many seconds inside passes the daemon waited for the trainer, since the
                ring was made; None: it is silent.
            slots: that the ring has.
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
        """The ring was made anew, with so many slots.

        Fewer than were wanted where memory did not allow more.
        """
        self._idle = 0.0
        if self._before is not None and slots <= self._before[0]:
            self._before, self.settled = None, True
