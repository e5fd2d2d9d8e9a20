"""Requests to servers, several at once: with bounds for each, retries, and none left at the end."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time as clock
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from .problems import TRIES, StalledError, is_final, refusal

STALL_SECONDS = 30.0
"""How long a web server may send nothing, and how long a request to another store may take."""

RETRY_SECONDS = (0.5, 2.0)
"""How long to wait before each further try."""

AT_ONCE = 16
"""How many requests run at a time."""

POLL_SECONDS = 0.05
"""How often requests are looked at that have not ended."""


@dataclass
class Request:
    """Something to ask a server for.

    Attributes:
        start: sends it.
        url: the URL that messages name.
        weight: how many bytes it fetches.
        seconds: how long it may take; None is ``STALL_SECONDS``.
        smaller: makes several requests of it if it has taken too long.
        about: what the one who asks wants to know of it.
        tries: how often it has failed.
    """

    start: Callable[[], Future[Any]]
    url: str
    weight: int = 0
    seconds: float | None = None
    smaller: Callable[[], list[Request]] | None = None
    about: Any = None
    tries: int = 0
    began: float = 0.0


def answers(
    requests: Iterator[Request], limit: Callable[[], int] = lambda: 0
) -> Iterator[tuple[Request, Any, float]]:
    """Each request with its answer and the seconds it took, in the order of the answers.

    Args:
        requests: what to ask for; they are taken one by one.
        limit: how many bytes may be on the way at a time; one request is always sent.

    Raises:
        TensorcacheError: a request failed in a way that no further try mends, or too often.
    """
    running: dict[Future[Any], Request] = {}
    again: deque[tuple[float, Request]] = deque()
    coming: deque[Request] = deque()
    try:
        while True:
            while len(running) < AT_ONCE:
                request = next_of(again, coming, requests)
                if request is None:
                    break
                weight = sum(other.weight for other in running.values())
                if running and weight + request.weight > limit() > 0:
                    coming.appendleft(request)
                    break
                request.began = clock.monotonic()
                running[request.start()] = request
            if not running and not again:
                return
            if not running:
                clock.sleep(POLL_SECONDS)
                continue
            done, _ = concurrent.futures.wait(
                running, POLL_SECONDS, concurrent.futures.FIRST_COMPLETED
            )
            now = clock.monotonic()
            late = [f for f, r in running.items() if f not in done and now - r.began > bound(r)]
            for future in [*done, *late]:
                request = running.pop(future)
                error = future.exception() if future in done else StalledError(bound(request))
                if error is None:
                    yield request, future.result(), now - request.began
                    continue
                future.cancel()
                request.tries += 1
                parts = [request]
                if isinstance(error, StalledError) and request.smaller is not None:
                    parts = request.smaller()  # the link may be slow
                elif is_final(error):
                    request.tries = TRIES
                if request.tries >= TRIES:
                    problem = refusal(error, request.url)
                    error = None  # its text may have what no message may have
                    raise problem
                for part in parts:
                    part.tries = request.tries
                    again.append((now + RETRY_SECONDS[request.tries - 1], part))
    finally:
        for future in running:
            future.cancel()


def next_of(
    again: deque[tuple[float, Request]], coming: deque[Request], requests: Iterator[Request]
) -> Request | None:
    """The next request to send, or None if there is none now."""
    if again and again[0][0] <= clock.monotonic():
        return again.popleft()[1]
    return coming.popleft() if coming else next(requests, None)


def bound(request: Request) -> float:
    """The seconds that a request may take."""
    return STALL_SECONDS if request.seconds is None else request.seconds


def answer(start: Callable[[], Future[Any]], url: str, seconds: float | None = None) -> Any:
    """The answer to one request.

    Raises:
        TensorcacheError: it failed in a way that no further try mends, or too often.
    """
    return next(answers(iter([Request(start, url, seconds=seconds)])))[1]


def on_loop(filesystem: Any, coroutine: Any) -> Future[Any]:
    """Run a coroutine on the event loop of a file system."""
    return asyncio.run_coroutine_threadsafe(coroutine, filesystem.loop)


def call(filesystem: Any, method: str, *args: Any, **options: Any) -> Future[Any]:
    """Call a method of a file system of fsspec without waiting for it."""
    if getattr(filesystem, "async_impl", False):
        return on_loop(filesystem, getattr(filesystem, f"_{method}")(*args, **options))
    return in_thread(lambda: getattr(filesystem, method)(*args, **options))


def in_thread(function: Callable[[], Any]) -> Future[Any]:
    """Run a function in a thread that does not keep the process alive."""
    future: Future[Any] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = function()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name="tensorcache-remote", daemon=True).start()
    return future
