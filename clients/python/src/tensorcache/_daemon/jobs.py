"""Load jobs: asking for one and waiting for it."""

from __future__ import annotations

import _thread
import contextlib
import threading
from typing import Any

from .._errors import CancelledError, SourceError, TensorcacheError, from_problem
from .http import Control
from .progress import Display, Show

WAIT_MS = 1000
WAIT_MS_WITH_PROGRESS = 100

ANSWER_SECONDS = 10.0
"""How long an interrupted load waits for the name of its job, to cancel it."""


def run_job(
    control: Control, route: str, body: dict[str, Any], display: Show | None
) -> dict[str, Any]:
    """Ask for a job, and return it once it is done.

    An exception in between, such as Ctrl-C or one of ``display``, cancels the job, unless other
    clients wait for it too.

    Raises:
        TensorcacheError: the job failed.
    """
    request = Request(control, route, body)
    done = False
    try:
        job = wait_for(control, request.answer(), display)
        done = job["state"] == "done"
    except BaseException:
        request.withdraw()
        raise
    finally:
        if isinstance(display, Display):
            display.close(done)
    if job["state"] == "done":
        return job
    if job.get("error"):
        raise from_problem(job["error"])
    if job["state"] == "cancelled":
        raise CancelledError(f"{named(job)} was cancelled")
    raise SourceError(
        f"{named(job)} failed, and the daemon gave no reason",
        type="job_failed",
    )


def named(job: dict[str, Any]) -> str:
    """A job in messages."""
    what = "scaling into" if job.get("kind") == "scale" else "the load of"
    return f'{what} "{job.get("dataset", "")}"'


def wait_for(control: Control, job: dict[str, Any], display: Show | None) -> dict[str, Any]:
    """The job once it has ended."""
    wait = WAIT_MS if display is None else WAIT_MS_WITH_PROGRESS
    told = None
    while True:
        running = job["state"] in ("queued", "running")
        if display is not None and (not running or job != told):
            display(job)
            told = job
        if not running:
            return job
        job = control.get(f"/v1/jobs/{job['job']}?wait_ms={wait}")


class Request:
    """A request for a job.

    A thread of its own sends it. No interrupt reaches that thread, so that the answer with the name
    of the job is never lost.
    """

    def __init__(self, control: Control, route: str, body: dict[str, Any]) -> None:
        self._control, self._route, self._body = control, route, body
        self._started = self._withdrawn = False
        # Locked until the answer is there. An interrupt leaves this lock usable, but not those of
        # Thread.start, Thread.join (https://bugs.python.org/issue45274) and Event.wait, which then
        # raise RuntimeError.
        self._unanswered = threading.Lock()
        self._unanswered.acquire()
        self._job: dict[str, Any] = {}
        self._error: BaseException | None = None

    def _run(self) -> None:
        """Send the request and keep the answer."""
        self._started = True
        try:
            if not self._withdrawn:
                self._job = self._control.post(self._route, self._body)
        except BaseException as error:  # noqa: BLE001 - answer raises it
            self._error = error
        finally:
            self._unanswered.release()

    def answer(self) -> dict[str, Any]:
        """Send the request and return the job."""
        _thread.start_new_thread(self._run, ())
        self._unanswered.acquire()
        if self._error is not None:
            raise self._error
        return self._job

    def withdraw(self) -> None:
        """Cancel the job for this client, also one of which the answer is still on its way."""
        self._withdrawn = True  # before _started is read: a thread that starts later sends nothing
        if self._started and not self._job and self._error is None:
            self._unanswered.acquire(timeout=ANSWER_SECONDS)
        if self._job:
            with contextlib.suppress(TensorcacheError):
                owner = self._job.get("owner", "")
                self._control.delete(f"/v1/jobs/{self._job['job']}?owner={owner}")
