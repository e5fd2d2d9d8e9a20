"""One attachment to the daemon: the socket that descriptors come from and credits go to, and the ring."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

from . import _fork, _wire
from ._batch import Layout
from ._deliver import Deliver, Makers
from ._errors import FeedError, ProtocolError, TensorcacheError
from ._meter import Meter
from ._ring import Ring
from ._source import Source
from ._wire import NO_SLOT, RUN

Descriptor = tuple[int, int, int, int, int, int]
"""Slot, rows, stream, flags, epoch, consumed."""

DESCRIPTOR = struct.Struct("<IIIIQq")
SEEK = struct.Struct("<IIQq")
TICK_SECONDS = 0.5
"""How often a wait looks up whether the process still wants the batch."""


class Stream:
    """A feed's connection.

    Attributes:
        said: the daemon's REPLY.
        pending: descriptors that are here and were not handed out.
        row_of: for each slot the dataset's row at which the run begins that was announced in it last.
        due: how many slots are delivered before those that are free again are given back, if they are ``least``.
        meter: counts the seconds that are spent blocked for descriptors.
        deliver: makes a batch of a slot, a number of windows and flags.
    """

    def __init__(self, path: str, body: dict[str, Any], source: Source, makers: Makers, meter: Meter) -> None:
        sock = _wire.dial(path)
        fds: list[int] = []
        try:
            _wire.request(sock, body)
            self.said, fds = _wire.receive_reply(sock)
            if len(fds) != 1:
                raise ProtocolError(f"the daemon sent {len(fds)} descriptors with a feed, want the ring's")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, int(TICK_SECONDS * 1e6)))
            self.layout = Layout(self.said, source)
            self.slots = int(self.said["slots"])
            self.ring = Ring(fds.pop(), self.slots, self.layout.slot_bytes)
            self.row_of = [0] * self.slots
            self._words: memoryview | None = None  # of the ring, where only rows are read from it
            if self.said["delivery"] == "view":
                self._words, self._row_at = self._places()
            self.deliver: Deliver = makers[str(self.said["delivery"])](self, source)
            self.ring.ready()
        except BaseException:
            sock.close()
            _wire.close_all(fds)
            raise
        self.pending: Iterator[Descriptor] = iter(())
        self.meter = meter
        # A credit wakes the daemon, which takes the trainer 10 µs; what is left must last until it has answered.
        self._bulk = self.due = self.slots * 5 // 8
        self.least = max(self.slots // 4, 1)
        self._number = int(self.said.get("stream", 0))
        self._sought = False  # descriptors of before a seek may still come
        self._sock = sock
        self._closed = False
        self._forked = False
        self._view = memoryview(bytearray(1 << 16))
        self._filled = 0
        self._failed: TensorcacheError | None = None
        self._finalize = weakref.finalize(self, sock.close)
        _fork.watch(self)

    def receive(self) -> Iterator[Descriptor]:
        """At least some bytes more of what the daemon sends: its descriptors, perhaps none yet.

        Slots are given back before this blocks, so the daemon always has what the trainer does not hold.

        Raises:
            TensorcacheError: the daemon sent ERROR, or went away.
        """
        if self._failed is not None:
            raise self._failed
        view = self._view[self._filled :] if self._filled else self._view
        try:
            n = self._sock.recv_into(view, 0, socket.MSG_DONTWAIT)
        except BlockingIOError:
            n = self._receive_blocking(view)
        except OSError as error:
            raise self._gone(error) from error
        if n == 0:
            raise self._gone(None)
        self._filled += n
        descriptors = self._parse()
        if self._sought:
            descriptors = self._skip(descriptors)
        return descriptors if self._words is None else self._take_runs(self._words, descriptors)

    def give_back(self, least: int = 1) -> None:
        """Send the freed slots, if there are so many, as one CREDIT, and now and then what the meter says."""
        ring = self.ring
        ring.collect()
        freed = ring.freed
        if len(freed) >= least:
            credit = struct.pack(f"<{2 + len(freed)}I", 4 * len(freed), _wire.CREDIT, *freed)
            freed.clear()
            self._send(credit + self.meter.frame())
        self.due = max(self._bulk, len(ring.taken) + len(freed) + self.least)

    def report(self) -> None:
        """Tell the daemon what the meter says, if it still listens."""
        with contextlib.suppress(TensorcacheError):
            self._send(self.meter.frame(always=True))

    def seek(self, epoch: int, consumed: int) -> None:
        """Go on at another place; what is under way from before is skipped and given back."""
        self._number += 1
        self._sought = True
        for slot, _, _, flags, _, _ in self.pending:
            if slot != NO_SLOT and not flags & RUN:  # those of runs went back when they came
                self.ring.freed.append(slot)
        self._send(_wire.HEADER.pack(SEEK.size, _wire.SEEK) + SEEK.pack(self._number, 0, epoch, consumed))

    def close(self) -> None:
        """End the feed; a thread that waits in it wakes up."""
        if self._finalize.alive:
            self._closed = True
            with contextlib.suppress(OSError):
                self._sock.send(_wire.HEADER.pack(0, _wire.DONE), socket.MSG_DONTWAIT)
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
            self._finalize()
            _fork.forget(self)

    def before_fork(self) -> None:
        """See :meth:`Ring.before_fork`."""
        self.ring.before_fork()

    def after_fork_in_parent(self) -> None:
        """See :meth:`Ring.after_fork_in_parent`."""
        self.ring.after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        """Leave the feed to the parent: close our copy of its socket without a word, keep our batches as they are."""
        self._forked = True
        deque(self.pending, 0)  # none of them is handed out
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
                        raise FeedError("the feed was closed while a batch was waited for") from None
                except OSError as error:
                    raise self._gone(error) from error
        finally:
            self.meter.waited += time.perf_counter() - began

    def _skip(self, descriptors: Iterator[Descriptor]) -> Iterator[Descriptor]:
        """What comes after a seek, without what was under way."""
        kept = []
        for descriptor in descriptors:
            if descriptor[2] == self._number:
                kept.append(descriptor)
            elif descriptor[0] != NO_SLOT:
                self.ring.freed.append(descriptor[0])
        self._sought = not kept
        return iter(kept)

    def _places(self) -> tuple[memoryview, list[int]]:
        """The ring as int64, and for each slot where in it the dataset's row of a batch's first window is told."""
        words, at = self.layout.slot_bytes // 8, self.layout.parts["row"].offset // 8
        return self.ring.words(), [slot * words + at for slot in range(self.slots)]

    def _take_runs(self, words: memoryview, descriptors: Iterator[Descriptor]) -> Iterator[Descriptor]:
        """Read where the runs begin: all there is in their slots, which so go back before they are delivered."""
        kept, row_of, row_at, put = list(descriptors), self.row_of, self._row_at, self.ring.freed.append
        for slot, _, _, flags, _, _ in kept:
            if flags & RUN:
                row_of[slot] = words[row_at[slot]]
                put(slot)
        self.give_back(self._bulk)
        return iter(kept)

    def _parse(self) -> Iterator[Descriptor]:
        at, chunks, view = 0, [], self._view
        if self._filled >= _wire.HEADER.size:
            size, kind = _wire.HEADER.unpack_from(view)
            if kind == _wire.BATCHES and size == self._filled - _wire.HEADER.size and not size % DESCRIPTOR.size:
                self._filled = 0  # one whole frame, as nearly always
                return DESCRIPTOR.iter_unpack(bytes(view[_wire.HEADER.size : _wire.HEADER.size + size]))
        while self._filled - at >= _wire.HEADER.size:
            size, kind = _wire.HEADER.unpack_from(view, at)
            end = at + _wire.HEADER.size + size
            if size > _wire.MAX_JSON or (kind == _wire.BATCHES and size % DESCRIPTOR.size):
                raise ProtocolError(f"the daemon sent a frame of kind {kind} and {size} bytes")
            if end > self._filled:
                break
            payload = bytes(view[at + _wire.HEADER.size : end])
            if kind == _wire.BATCHES:
                chunks.append(payload)
            elif kind == _wire.ERROR:
                self._failed = _wire.problem_of(payload)
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
            raise self._gone(error) from error

    def _gone(self, error: OSError | None) -> TensorcacheError:
        if self._forked:
            return forked()
        if self._closed:
            return FeedError("the feed is closed", type="closed")
        return self._last_words() or _wire.gone(error)

    def _last_words(self) -> TensorcacheError | None:
        """The ERROR frame that the daemon may have left before it closed."""
        with contextlib.suppress(OSError, TensorcacheError):
            while n := self._sock.recv_into(self._view[self._filled :], 0, socket.MSG_DONTWAIT):
                self._filled += n
                self._parse()
        return self._failed


def forked() -> FeedError:
    """The error of a feed in a process that was forked after it was made."""
    return FeedError(
        "the feed belongs to the process that this one was forked from",
        type="forked",
        hint="the windows are good here too: windows.feed(...) makes a feed of this process",
    )
