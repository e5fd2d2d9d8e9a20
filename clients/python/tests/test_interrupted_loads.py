"""Loads that are interrupted, as by Ctrl-C, at any instruction."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import tensorcache
from tensorcache._daemon import jobs

PLACES = (str(Path(jobs.__file__).parents[1]), threading.__file__)


class Interrupt:
    """Runs a call, and raises KeyboardInterrupt at the n-th instruction of the client in it.

    A timer and a signal would interrupt where the machine happens to be. Instructions of the
    standard library are not counted, but for threads, since an interrupt leaves some of it broken.
    """

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0

    def run(self, call: Callable[[], object]) -> bool:
        """Whether the call was interrupted; it has ended otherwise."""
        before = sys.gettrace()
        sys.settrace(self.trace)
        try:
            call()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        frame.f_trace_opcodes = frame.f_code.co_filename.startswith(PLACES)
        if event == "opcode":
            self.count += 1
            if self.count == self.at:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self.trace


class Daemon:
    """A daemon with one job, which runs until it is asked for it or it is cancelled."""

    def __init__(self) -> None:
        self.job = {"job": "j1", "state": "none"}

    def post(self, _: str, __: dict[str, Any]) -> dict[str, Any]:
        self.job["state"] = "running"
        return dict(self.job)

    def get(self, _: str) -> dict[str, Any]:
        self.job["state"] = "done"
        return dict(self.job)

    def delete(self, _: str) -> None:
        self.job["state"] = "cancelled"


def test_an_interrupt_at_any_instruction_leaves_no_job() -> None:
    states = []
    for at in range(10_000):  # 0 is not interrupted; Python 3.12 counts from the second call on
        daemon: Any = Daemon()
        interrupted = Interrupt(at).run(
            lambda daemon=daemon: jobs.run_job(daemon, "/load", {}, None)
        )
        assert daemon.job["state"] != "running", f"instruction {at}"
        if at > 0 and not interrupted:
            break
        states.append(daemon.job["state"])
    assert len(states) > 100
    assert set(states) == {"none", "cancelled", "done"}  # done: at the last instructions


@pytest.mark.portable
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of a socket that nobody has got yet
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"  # Python drops an interrupt of a finalizer
)
def test_the_daemon_ends_loads_that_are_interrupted(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "1.25,2.5\n" * 1_000_000)
    for name in ("first", "whole"):
        whole = Interrupt(0)
        assert not whole.run(lambda name=name: cache.load(name, path))
    assert whole.count > 100
    interrupted = 0
    for n in range(40):
        at = whole.count * (n + 1) // 41
        # A new name, because a load that ended would make the next one a hit.
        interrupted += Interrupt(at).run(lambda name=f"interrupted-{n}": cache.load(name, path))
        gc.collect()  # such a socket goes now, and not in another test
        running = cache._server.control.pages("/v1/jobs", "jobs")
        assert not [job for job in running if job["state"] in ("queued", "running")], at
    assert interrupted > 0
    assert "cancelled" in {job["state"] for job in running}
