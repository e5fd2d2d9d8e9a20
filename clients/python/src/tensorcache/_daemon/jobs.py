"""Waiting for a load job."""

from __future__ import annotations

import contextlib
from typing import Any

from .._errors import CancelledError, SourceError, TensorcacheError, from_problem
from .http import Control
from .progress import Display, Show

WAIT_MS = 1000
WAIT_MS_WITH_PROGRESS = 100


def wait_for(control: Control, job: dict[str, Any], display: Show | None) -> dict[str, Any]:
    """The job once it is done.

    An exception in between, such as Ctrl-C or one of ``display``, cancels the job, unless other
    clients wait for it too.

    Raises:
        TensorcacheError: the job failed.
    """
    route = f"/v1/jobs/{job['job']}"
    owner = job.get("owner", "")
    wait = WAIT_MS if display is None else WAIT_MS_WITH_PROGRESS
    told = None
    try:
        while True:
            running = job["state"] in ("queued", "running")
            if display is not None and (not running or job != told):
                display(job)
                told = job
            if not running:
                break
            job = control.get(f"{route}?wait_ms={wait}")
    except BaseException:
        with contextlib.suppress(TensorcacheError):
            control.delete(f"{route}?owner={owner}")
        raise
    finally:
        if isinstance(display, Display):
            display.close(job["state"] == "done")
    if job["state"] == "done":
        return job
    if job.get("error"):
        raise from_problem(job["error"])
    if job["state"] == "cancelled":
        raise CancelledError(f'the load of "{job.get("dataset", "")}" was cancelled')
    raise SourceError(
        f'the load of "{job.get("dataset", "")}" failed, and the daemon gave no reason',
        type="job_failed",
    )
