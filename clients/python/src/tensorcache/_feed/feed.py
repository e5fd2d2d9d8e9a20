"""A feed: one trainer's stream of batches."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Mapping, Sized
from typing import Any, cast

from .._checks import flag
from .._daemon.frames import LAST, NO_SLOT
from .._errors import DaemonError, FeedError, TensorcacheError
from .._index.index import WindowIndex
from .._repr.views import feed_html
from . import cursor
from .auto_delivery import Chooser
from .auto_slots import ANSWER_SECONDS as TUNING_SECONDS
from .auto_slots import Tuner
from .cursor import Place
from .errors import closed, forked, is_final, lost, pass_over
from .mapped_windows import MappedWindows
from .numpy_delivery import DELIVERIES, Deliveries
from .parts import Selection
from .passes import checked, passes_of
from .position import Position
from .stream import Stream
from .wait_meter import Meter

ATTEMPTS = 5
"""How often a feed tries to attach to another daemon; each waits for one that is stopping."""

ANSWER_SECONDS = 5.0
"""Seconds that statistics wait for a daemon, which may be stuck, or slow on a busy machine."""


class Feed:
    """One trainer's stream of batches, prepared ahead by the daemon in shared memory.

    A feed is a context manager. Each ``for batch in feed`` is one epoch, and the next loop is the
    next epoch. A pass counts when it ends, or when the loop leaves it after a batch; after an error
    of the feed, the next pass continues at the same place. ``len(feed)`` is this rank's number of
    batches in an epoch (for ``random_start``, of the running epoch or else of the next). With
    ``batches_per_epoch``, passes are so many batches of the sequence of the order's epochs.

    A batch's memory is reused once nothing refers to it. A loop that keeps many batches gets
    copies, so that the feed does not stall (``stats()["copied"]``).

    A feed belongs to the process that made it: after a fork the child's batches keep their values,
    and its feed raises FeedError. Pickle the windows instead and make a feed there.

    Attributes:
        windows: the windows that it serves.
        delivery: ``"slot"``, ``"view"``, ``"local"`` or ``"starts"``; with ``"auto"``, the one in
            use.
        path: how a context, or the first of the ``parts``, gets to the trainer: ``"memcpy"``,
            ``"transpose"`` or ``"view"``; "" if the daemon gathers no samples.

    Raises, while it is iterated:
        DaemonError: the daemon went away; :meth:`state_dict` still has the place to continue at.
            With ``reconnect=True``, only if no daemon can be found or started.
        FeedError: the feed was closed, here or through the control API (type ``feed_closed``, also
            with ``reconnect=True``), or another pass over it began.
    """

    def __init__(
        self,
        windows: WindowIndex,
        options: dict[str, Any],
        deliveries: Deliveries = DELIVERIES,
        chooser: Chooser | None = None,
        reconnect: bool = False,
        selection: Selection | None = None,
        batches_per_epoch: int | None = None,
    ) -> None:
        self.windows = cast(Any, windows)  # Windows, whose module imports this one
        self._options = options
        n = checked(batches_per_epoch, options["options"])
        self._deliveries = deliveries
        self._chooser: Chooser | None = None
        self._reconnect = flag("reconnect", reconnect)
        self._tuner = None if options["slots"] else Tuner()
        self._mapped = MappedWindows(windows, options["channels_first"], options["mask"], selection)
        self._pass_number = 0  # of the latest pass; those before are over
        self._closed = False
        self._pid = os.getpid()
        self._batches_served = self._copied = self._reconnects = 0
        self._meter = Meter()
        self._stream: Stream | None = None
        self._stream = stream = self._attach((0, 0))
        passes = passes_of(windows, options["options"], int(stream.reply["batches"]), n)
        self._position = Position(passes)
        # Only then is there a choice between the daemon's gather and the client's own.
        if stream.reply["delivery"] == "slot" and chooser and chooser.can_gather(self._mapped):
            self._chooser = chooser
        self._cursor: dict[str, Any] = dict(stream.reply["cursor"])

    def __len__(self) -> int:
        position = self._position
        place = position.of_loop() if self._meter.running else position.of_next_pass()
        return position.passes.length(place)

    def __iter__(self) -> Generator[Any, None, None]:
        """A pass's batches; where it begins is decided when the first one is asked for.

        Recovers from a daemon that goes away; the batches are those of :meth:`_batches`.
        """
        stream, pass_number = self._begin()
        following: Stream | None = stream
        try:
            while following is not None:
                stream = following
                try:
                    following = yield from self._batches(stream, pass_number)
                except DaemonError as error:
                    if self._pass_number != pass_number or not self._reconnect or is_final(error):
                        raise
                    self._drop(stream)
                    following = self._attach_to_another_daemon(self._position.of_stream())
        except GeneratorExit:
            raise
        except BaseException as error:
            if self._pass_number != pass_number:
                raise
            # An interrupted receive may have lost bytes: the next pass attaches again.
            self._drop(stream)
            if isinstance(error, Exception):  # and continues at the same place
                self._position.target = self._position.of_loop()
            if isinstance(error, DaemonError) and not is_final(error):
                raise lost(error, self._place_text(self.windows)) from error
            raise
        finally:
            if self._pass_number == pass_number:
                self._pause()

    def _batches(self, stream: Stream, pass_number: int) -> Generator[Any, None, Stream | None]:
        """The batches of a pass that one stream delivers.

        Returns the stream that the pass continues with, to try another delivery or number of
        slots; None at the end of the pass.
        """
        position, deliver = self._position, stream.deliver
        inside_epochs = position.passes.inside_epochs
        while True:
            if self._pass_number != pass_number:  # another pass began, or the feed was closed
                raise self._pass_error()
            chooser = None if self._chooser is None or self._chooser.settled else self._chooser
            for descriptor in stream.pending:
                slot, rows, _, flags, _, _, row = descriptor
                if slot == NO_SLOT:
                    position.end_without_batch(descriptor)
                    if position.is_over():
                        return None
                    continue
                batch = deliver(slot, rows, flags, row)
                self._batches_served += 1
                # Last thing before the yield: no signal handler runs between them, nor in yield
                # from, so the cursor counts exactly the batches that the loop got.
                position.last = descriptor
                yield batch
                del batch
                if self._pass_number != pass_number:
                    raise self._pass_error()
                changed = chooser is not None and chooser.step()
                if (flags & LAST or inside_epochs) and position.is_over():
                    return None
                if changed:
                    return self._reattach(stream)
            stream.pending = stream.receive()
            if self._tuner is not None and self._tuner.due(self._meter.seconds()):
                tuned = self._tune(self._tuner, stream)
                if tuned is not stream:
                    return tuned

    def set_epoch(self, epoch: int) -> None:
        """Make the next pass the given epoch, from its start."""
        self._position.target = self._position.passes.start(epoch)

    def __reduce__(self) -> tuple[Any, ...]:
        raise FeedError(
            "a feed cannot be pickled or copied: its batches come over a socket of this process",
            type="not_picklable",
            hint="pass its windows and state_dict() on; a feed that is made of them there goes on "
            "at the same place",
        )

    def state_dict(self) -> dict[str, Any]:
        """Where the loop is, as a few integers for JSON.

        The loop's current batch counts as consumed. After the last batch of an epoch, the state is
        the start of the next. Any rank's state resumes any number of ranks.
        """
        epoch, consumed = self._position.of_loop()
        return {**self._cursor, "epoch": epoch, "consumed": consumed}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next pass continue exactly where :meth:`state_dict` was called.

        Raises:
            CursorError: the state is of another dataset, spec, seed or order; the message says what
                differs.
        """
        self._position.target = cursor.place(state, self._cursor)

    def stats(self) -> dict[str, Any]:
        """What the feed did so far, and which side waited for the other.

        ``batches`` delivered to the loop; ``seconds`` inside passes; ``wait_s``, those of them in
        which the loop waited for data, and ``wait_share``, their share; ``wait_trainer_s`` and
        ``wait_trainer_share``, how long the daemon waited for the trainer, by its own clock, and
        its share of the time since the feed was attached; ``verdict``, the daemon's one line on
        what limits the feed and what to try (these three are None while no daemon serves the feed);
        ``reconnects``, how often another daemon took over; ``copied``, batches copied out because
        the loop kept nearly all slots; ``held``, slots of the ring that the loop uses now; its
        ``slots`` and ``slot_bytes``; ``delivery``, and ``path``, how a context gets to the trainer;
        ``step_s``, the mean seconds of a step with each delivery that ``"auto"`` tried.
        """
        control = self.windows.dataset._server.control
        theirs: dict[str, Any] = {}
        while not theirs and (stream := self._stream):
            theirs = stream.status(control, ANSWER_SECONDS)
            if stream is self._stream:  # else another stream serves the feed now
                break
        # All values are from one report, which the daemon's verdict is about.
        seconds = theirs.get("pass_s", self._meter.seconds())
        waited = theirs.get("wait_data_s", self._meter.waited)
        return {
            "batches": self._batches_served,
            "seconds": seconds,
            "wait_s": waited,
            "wait_share": waited / seconds if seconds else 0.0,
            "wait_trainer_s": theirs.get("wait_trainer_s"),
            "wait_trainer_share": theirs.get("wait_trainer_share"),
            "verdict": theirs.get("verdict"),
            "reconnects": self._reconnects,
            "copied": self._copied + (stream.ring.copied if stream else 0),
            "held": stream.ring.held if stream else 0,
            "slots": stream.slots if stream else 0,
            "slot_bytes": stream.layout.slot_bytes if stream else 0,
            "delivery": self.delivery,
            "path": self.path,
            "step_s": dict(self._chooser.seconds) if self._chooser else {},
        }

    def close(self) -> None:
        """End the feed, so that the daemon frees its ring.

        Batches that the loop kept stay valid. Calling it twice is fine.
        """
        self._closed = True
        self._pass_number += 1
        self._pause()
        if (stream := self._stream) is not None:
            self._drop(stream)

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self) -> tuple[Stream, int]:
        """Begin a pass: move the stream to the place where it begins."""
        if self._closed:
            raise closed()
        if os.getpid() != self._pid:
            raise forked()
        self._pause()
        here = self._position.of_stream()
        start, stream = self._position.of_next_pass(), self._stream
        try:
            if stream is None:
                self._stream = stream = self._attach(start)
            else:
                if self._chooser is not None and self._chooser.delivery != self.delivery:
                    stream = self._reattach(stream)
                # After two epochs without a batch for this rank the daemon waits for a seek.
                if start != here or self._position.empty:
                    stream.seek(*start)
        except BaseException as error:
            if (left := self._stream) is not None:
                self._drop(left)
            if not self._reconnect or not isinstance(error, DaemonError) or is_final(error):
                raise
            stream = self._attach_to_another_daemon(start)
        self._position.begin(start)
        self._pass_number = pass_number = self._pass_number + 1
        self._meter.begin()
        if self._closed:  # by another thread, before it could see this pass
            raise self._pass_error()
        return stream, pass_number

    def _attach(self, start: Place) -> Stream:
        if os.getpid() != self._pid:
            raise forked()
        request = {"request": "feed", **self.windows._request(), "cursor": None, **self._options}
        if self._chooser is not None:
            request["delivery"] = self._chooser.delivery
        if self._reconnect:
            request["reconnect"] = True
        if (served := self._stream) is not None:  # another thread may close the feed
            request["instead"] = served.reply["feed"]  # the daemon ends that one
        if start != (0, 0):
            request["cursor"] = {**self._cursor, "epoch": start[0], "consumed": start[1]}
        path = self.windows.dataset._server.feed_path
        stream = Stream(path, request, self._mapped, self._deliveries, self._meter)
        self.delivery = str(stream.reply["delivery"])
        self.path = str(stream.reply.get("path") or "")
        return stream

    def _reattach(self, stream: Stream, slots: int = 0) -> Stream:
        """Continue at the loop's place with the chooser's delivery, or another number of slots.

        The old stream is closed last, and is kept if the daemon gives no better one: because of
        memory or descriptors, or because the dataset, the feed or the daemon was closed.
        """
        was = self._options
        if slots:
            self._options = {**was, "slots": slots}
        attached = None
        with contextlib.suppress(TensorcacheError, OSError):
            attached = self._attach(self._position.of_stream())
        if attached is None or stream.slots >= attached.slots < slots:
            if attached is not None:
                attached.close()
            self._options = was
            if self._chooser is not None:
                self._chooser.settle_on(self.delivery)
            return stream
        self._stream = attached  # before the old one closes: other threads use it
        self._drop(stream)
        return attached

    def _tune(self, tuner: Tuner, stream: Stream) -> Stream:
        """Have more slots, or fewer, where the waiting of both sides says so."""
        choosing = self._chooser is not None and not self._chooser.settled
        if self.delivery != "slot" or choosing:
            return stream
        served, control = stream, self.windows.dataset._server.control

        def idle() -> float | None:
            status = served.status(control, TUNING_SECONDS, 1)
            return served.idle_in_passes(status.get("wait_trainer_s"))

        slots = tuner.decide(self._meter.seconds(), self._meter.waited, idle, stream.slots)
        if slots != stream.slots:
            stream = self._reattach(stream, slots)
            tuner.resized(stream.slots)
        return stream

    def _attach_to_another_daemon(self, place: Place) -> Stream:
        """Continue with a daemon that is found or started.

        Raises:
            DaemonError: none can be, or it goes away again and again.
            StaleError: it no longer has the generation.
        """
        server = self.windows.dataset._server
        for left in reversed(range(ATTEMPTS)):
            server.find_again(lambda: self._closed)
            try:
                self._stream = stream = self._attach(place)
            except DaemonError as error:
                if not left or is_final(error):
                    raise
            else:
                self._reconnects += 1
                return stream
        raise AssertionError("unreachable")

    def _pass_error(self) -> FeedError:
        if self._closed:
            self.close()  # also a stream that was attached after the feed was closed
        return pass_over(self._closed)

    def _drop(self, stream: Stream) -> None:
        """Close a stream; the next pass attaches again."""
        self._copied, stream.ring.copied = self._copied + stream.ring.copied, 0
        stream.close()
        if self._stream is stream:
            self._stream = None

    def _pause(self) -> None:
        """Stop the clock of the pass."""
        self._meter.pause()
        if self._chooser is not None:
            self._chooser.pause()

    def _place_text(self, windows: Sized = ()) -> str:
        epoch, consumed = self._position.of_loop()
        consumed_text = cursor.consumed_text(self._cursor, consumed, windows)
        ending = ", closed" * self._closed
        return f"{self._position.passes.epoch_name} {epoch} after {consumed_text}{ending}"

    def __repr__(self) -> str:
        of = f'"{self.windows.dataset.name}": {len(self):,} batches an epoch'
        return f"<Feed of {of}, at {self._place_text()}>"

    def _repr_html_(self) -> str:
        return feed_html(self, self._place_text(), self._options["options"])
