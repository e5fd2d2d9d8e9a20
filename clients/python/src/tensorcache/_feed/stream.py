"""One connection of a feed to the daemon: its socket, its ring, descriptors and credits."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from .._daemon import frames
from .._daemon.frames import NO_SLOT
from .._daemon.http import Control
from .._errors import DaemonError, FeedError, NotFoundError, ProtocolError, TensorcacheError
from .._warnings import warn
from . import fork
from .batch import Layout
from .errors import forked
from .mapped_windows import MappedWindows
from .numpy_delivery import Deliver, Deliveries
from .queue import Queue, usable
from .ring import Ring
from .wait_meter import Meter

Descriptor = tuple[int, int, int, int, int, int, int]
"""Slot, rows, stream, flags, epoch, consumed, and for a run of windows the dataset's row of the
first."""

DESCRIPTOR = struct.Struct("<IIIIQqq")
SEEK = struct.Struct("<IIQq")
WAIT = struct.Struct("<IIQ")
WAKE = frames.HEADER.pack(0, frames.CREDIT)
"""A CREDIT frame without slots: the credits are in the queue."""
STATUS_ATTEMPTS = 20
"""How often to ask for a feed's status until the daemon has read the meter's latest report."""
TICK_SECONDS = 0.5
"""How often a blocked read checks whether the process still wants the batch."""


class Stream:
    """A feed's connection.

    Attributes:
        reply: the daemon's REPLY.
        layout: the layout of a slot.
        slots: the number of slots.
        ring: the ring in this process.
        pending: descriptors that were received and not delivered, at most as many as are delivered
            before slots go back.
        meter: counts the seconds that are spent blocked for descriptors.
        deliver: makes a batch from a slot, a number of windows, flags and a row.
    """

    def __init__(
        self,
        path: str,
        body: dict[str, Any],
        mapped: MappedWindows,
        deliveries: Deliveries,
        meter: Meter,
    ) -> None:
        sock = frames.dial(path)
        fds: list[int] = []
        try:
            frames.request(sock, {**body, "queue": usable()})
            self.reply, fds = frames.receive_reply(sock)
            if len(fds) != 1:
                raise ProtocolError(
                    f"the daemon sent {len(fds)} descriptors with a feed, want the ring's"
                )
            sock.setsockopt(
                socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, int(TICK_SECONDS * 1e6))
            )
            self.layout = Layout(self.reply, mapped)
            self.slots = int(self.reply["slots"])
            self.ring = Ring(fds.pop(), self.slots, self.layout.slot_bytes)
            queue = self.reply.get("queue")
            self._queue = (
                Queue(self.ring.memory(), queue, self.slots, DESCRIPTOR.size) if queue else None
            )
            self.deliver: Deliver = deliveries[str(self.reply["delivery"])](self.ring, self.layout)
            self.ring.ready()
            warn(self.reply, once_for=str(self.reply["digest"]))
        except BaseException:
            sock.close()
            frames.close_all(fds)
            raise
        self.pending: Iterator[Descriptor] = iter(())
        self._following: Iterator[Descriptor] = iter(())  # those after the pending ones
        self.meter = meter
        # On a clock that runs between passes only.
        self._began = time.perf_counter() - meter.seconds()
        # A CREDIT frame wakes the daemon and costs the trainer 10 µs, so slots are given back in
        # bulk; the remaining ones must last until the daemon answers. A credit in the queue rarely
        # wakes it, so slots are given back sooner.
        self._give_back_from = max(
            1, self.slots * 5 // 16 if self._queue is not None else self.slots * 5 // 8
        )
        self._give_back_least = max(1, self.slots // 4)
        self._number = int(self.reply.get("stream", 0))
        self._seeking = False  # until descriptors of the new place arrive
        self._sock = sock
        self._closed = False
        self._forked = False
        self._view = memoryview(bytearray(1 << 16))
        self._filled = 0
        self._failed: TensorcacheError | None = None
        self._finalize = weakref.finalize(self, sock.close)
        fork.watch(self)

    def receive(self) -> Iterator[Descriptor]:
        """The next descriptors; perhaps none, if only a part of a frame has arrived.

        Slots are given back before this blocks, so the daemon has all slots that the trainer does
        not use.

        Raises:
            TensorcacheError: the daemon sent ERROR, or went away.
        """
        if self._failed is not None:
            raise self._failed
        if len(self.ring.lent) + len(self.ring.freed) >= self._give_back_from:
            self.give_back(self._give_back_least)
        pending = list(islice(self._following, self._give_back_from))
        if not pending:
            more = (
                self._receive()
                if self._queue is None
                else DESCRIPTOR.iter_unpack(self._take(self._queue))
            )
            self._following = self._skip(more) if self._seeking else more
            pending = list(islice(self._following, self._give_back_from))
        return iter(pending)

    def _receive(self) -> Iterator[Descriptor]:
        """Descriptors from the socket."""
        view = self._view[self._filled :] if self._filled else self._view
        try:
            n = self._sock.recv_into(view, 0, socket.MSG_DONTWAIT)
        except BlockingIOError:
            n = self._receive_blocking(view)
        except OSError as error:
            raise self._connection_error(error) from error
        if n == 0:
            raise self._connection_error(None)
        self._filled += n
        return self._parse()

    def _take(self, queue: Queue) -> bytes:
        """Descriptors from the queue; blocks until there are some."""
        taken = queue.take()
        if not taken:
            self.give_back()
            taken = queue.take()
        while not taken:
            self._send(WAIT.pack(8, frames.WAIT, queue.read))
            n = self._receive_blocking(self._view[self._filled :])
            if n == 0:
                raise self._connection_error(None)
            self._filled += n
            self._parse()
            taken = queue.take()
        return taken

    def give_back(self, least: int = 1) -> None:
        """Send the freed slots as one CREDIT, if ``least`` or more, and a METER frame if due."""
        ring = self.ring
        freed = ring.freed
        if ring.lent:
            ring.collect()
        if len(freed) < least:
            return
        if self._queue is not None:
            asleep = self._queue.give(freed)
            freed.clear()
            meter = self.meter.frame()  # sending it also finds out whether the daemon is gone
            if asleep or meter:
                self._send(WAKE + meter)
        else:
            credit = struct.pack(f"<{2 + len(freed)}I", 4 * len(freed), frames.CREDIT, *freed)
            freed.clear()
            self._send(credit + self.meter.frame())

    @property
    def queued(self) -> bool:
        """Whether descriptors and credits use the ring's memory."""
        return self._queue is not None

    def report(self) -> None:
        """Send the meter's values to the daemon, if it is still there."""
        with contextlib.suppress(TensorcacheError):
            self._send(self.meter.frame(always=True))

    def status(
        self, control: Control, timeout: float, attempts: int = STATUS_ATTEMPTS
    ) -> dict[str, Any]:
        """The daemon's status of the feed after it has read our meter; empty if it does not answer.

        Args:
            control: the daemon's control API.
            timeout: seconds to wait for each answer.
            attempts: how often to ask until the daemon has read the meter; after the last, the
                status has our own meter's values.
        """
        self.report()
        reported, reply = self.meter.reported, {}
        try:
            for _ in range(attempts):
                reply = control.get(f"/v1/feeds/{self.reply['feed']}", timeout=timeout)
                if round(reply["pass_s"] * 1e9) >= reported:
                    return reply
        except (DaemonError, NotFoundError):
            return {}
        return {**reply, "pass_s": self.meter.seconds(), "wait_data_s": self.meter.waited}

    def idle_in_passes(self, waited: float | None) -> float | None:
        """The part inside passes of the seconds that the daemon waited for the trainer.

        Between passes the ring is full, whichever side was slower in them.
        """
        between = time.perf_counter() - self.meter.seconds() - self._began
        return None if waited is None else max(0.0, waited - between)

    def seek(self, epoch: int, consumed: int) -> None:
        """Continue at another place.

        Descriptors from before are skipped and their slots given back.
        """
        self._number += 1
        self._seeking = True
        left = chain(self.pending, self._following)
        self.ring.freed += [descriptor[0] for descriptor in left if descriptor[0] != NO_SLOT]
        self._send(
            frames.HEADER.pack(SEEK.size, frames.SEEK) + SEEK.pack(self._number, 0, epoch, consumed)
        )

    def close(self) -> None:
        """End the feed, and wake a thread that waits in it."""
        if self._finalize.alive:
            self._closed = True
            with contextlib.suppress(OSError):
                self._sock.send(frames.HEADER.pack(0, frames.DONE), socket.MSG_DONTWAIT)
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
            self._finalize()
            fork.forget(self)

    def before_fork(self) -> None:
        """See :meth:`Ring.before_fork`."""
        self.ring.before_fork()

    def after_fork_in_parent(self) -> None:
        """See :meth:`Ring.after_fork_in_parent`."""
        self.ring.after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        """Leave the feed to the parent.

        Close the child's copy of the socket without a DONE frame, and keep the values of its
        batches.
        """
        self._forked, self._failed = True, forked()
        deque(chain(self.pending, self._following), 0)  # drops the descriptors
        self._finalize()
        self.ring.after_fork_in_child()

    def _receive_blocking(self, view: memoryview) -> int:
        self.give_back()
        began = time.perf_counter()
        try:
            while True:
                try:
                    return self._sock.recv_into(view)
                except BlockingIOError:
                    if self._closed or not threading.main_thread().is_alive():
                        raise FeedError(
                            "the feed was closed while a batch was waited for"
                        ) from None
                except OSError as error:
                    raise self._connection_error(error) from error
        finally:
            self.meter.waited += time.perf_counter() - began

    def _skip(self, descriptors: Iterator[Descriptor]) -> Iterator[Descriptor]:
        """The descriptors that were sent after a seek."""
        kept = []
        for descriptor in descriptors:
            if descriptor[2] == self._number:
                kept.append(descriptor)
            elif descriptor[0] != NO_SLOT:
                self.ring.freed.append(descriptor[0])
        self._seeking = not kept
        return iter(kept)

    def _parse(self) -> Iterator[Descriptor]:
        at, chunks, view = 0, [], self._view
        if self._filled >= frames.HEADER.size:
            size, kind = frames.HEADER.unpack_from(view)
            if (
                kind == frames.BATCHES
                and size == self._filled - frames.HEADER.size
                and not size % DESCRIPTOR.size
            ):
                self._filled = 0  # the usual case: one whole frame
                return DESCRIPTOR.iter_unpack(
                    bytes(view[frames.HEADER.size : frames.HEADER.size + size])
                )
        while self._filled - at >= frames.HEADER.size:
            size, kind = frames.HEADER.unpack_from(view, at)
            end = at + frames.HEADER.size + size
            if size > frames.MAX_JSON or (kind == frames.BATCHES and size % DESCRIPTOR.size):
                raise ProtocolError(f"the daemon sent a frame of kind {kind} and {size} bytes")
            if end > self._filled:
                break
            payload = bytes(view[at + frames.HEADER.size : end])
            if kind == frames.BATCHES:
                chunks.append(payload)
            elif kind == frames.ERROR:
                self._failed = frames.error_of(payload)
            else:
                raise ProtocolError(f"the daemon sent a frame of kind {kind} into a feed")
            at = end
        else:
            end = 0
        rest = bytes(view[at : self._filled])
        if end - at > len(view):
            self._view = view = memoryview(bytearray(end - at))
        view[: len(rest)] = rest
        self._filled = len(rest)
        if self._failed is not None and not chunks:
            raise self._failed
        return DESCRIPTOR.iter_unpack(chunks[0] if len(chunks) == 1 else b"".join(chunks))

    def _send(self, data: bytes) -> None:
        try:
            self._sock.sendall(data)
        except OSError as error:
            raise self._connection_error(error) from error

    def _connection_error(self, error: OSError | None) -> TensorcacheError:
        if self._forked:
            return forked()
        if self._closed:
            return FeedError("the feed is closed", type="closed")
        return self._final_error() or frames.connection_error(error)

    def _final_error(self) -> TensorcacheError | None:
        """The ERROR frame that the daemon may have sent before it closed."""
        with contextlib.suppress(OSError, TensorcacheError):
            while n := self._sock.recv_into(self._view[self._filled :], 0, socket.MSG_DONTWAIT):
                self._filled += n
                self._parse()
        return self._failed
