"""Progress of loads, shown to people: with tqdm if it is installed, else as lines."""

from __future__ import annotations

import contextlib
import sys
import time as clock
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

from .._errors import SpecError, show

Show: TypeAlias = Callable[[dict[str, Any]], None]
Progress: TypeAlias = "Show | bool"

QUIET_SECONDS = 1.0
"""A load that ends before shows nothing."""

LINE_SECONDS = 5.0
"""Seconds between lines without tqdm."""


class Display:
    """Shows a job on standard error while it runs; a failure of showing never fails the load."""

    def __init__(self) -> None:
        self._began = clock.monotonic()
        self._next_line = self._began + QUIET_SECONDS
        self._bar: Any = None
        self._shown = False

    def __call__(self, job: dict[str, Any]) -> None:
        """Show the job as it is now."""
        if sys.stderr is None or clock.monotonic() < self._began + QUIET_SECONDS:
            return
        with contextlib.suppress(Exception):
            self._show(job)

    def close(self, done: bool) -> None:
        """End the display; without success, a bar disappears."""
        with contextlib.suppress(Exception):
            if self._bar is not None:
                self._bar.leave = done
                self._bar.close()

    def _show(self, job: dict[str, Any]) -> None:
        if not self._shown:
            self._shown = True
            self._bar = new_bar(title_of(job))
        ended = job["state"] not in ("queued", "running")
        if self._bar is not None:
            self._bar.n = float(job["progress"])
            self._bar.set_postfix_str(str(job["phase"] or job["state"]), refresh=True)
        elif ended or clock.monotonic() >= self._next_line:
            self._next_line = clock.monotonic() + LINE_SECONDS
            print(line_of(job), file=sys.stderr, flush=True)


def new_bar(title: str) -> Any:
    """A bar of tqdm, or None if it is not installed."""
    with warnings.catch_warnings():
        # In a notebook without ipywidgets it warns, and draws with characters.
        warnings.simplefilter("ignore")
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return tqdm(
            total=1.0,
            desc=title,
            file=sys.stderr,
            bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}",
        )


def title_of(job: dict[str, Any]) -> str:
    """What a job does, and the bytes that a scaled copy takes."""
    if job.get("kind") != "scale":
        return f'load "{job["dataset"]}"'
    return f'scale into "{job["dataset"]}", {int(job["bytes_total"]) / 2**20:,.1f} MiB'


def line_of(job: dict[str, Any]) -> str:
    """A job as a line: what is done, and the seconds that are left."""
    what = title_of(job)
    if job["state"] not in ("queued", "running"):
        return f"{what}: {job['state']} after {float(job['seconds']):.1f} s"
    left = job.get("eta_s")
    return (
        f"{what}: {float(job['progress']):.0%}, {job['phase'] or job['state']}"
        f"{'' if left is None else f', about {float(left):.0f} s left'}"
    )


def display_of(progress: Progress | None) -> Show | None:
    """What is called with a job while it runs, or None.

    Raises:
        SpecError: ``progress`` is neither a function nor a bool.
    """
    if progress is None:
        progress = is_interactive()
    if isinstance(progress, bool):
        return Display() if progress else None
    if not callable(progress):
        raise SpecError(
            f"progress: got {show(progress)}, want True, False or a function", field="progress"
        )
    return progress


def is_interactive() -> bool:
    """Whether a person sees standard error: in a terminal or a notebook."""
    ipython = sys.modules.get("IPython")
    if ipython is not None:
        shell = getattr(ipython, "get_ipython", lambda: None)()
        if shell is not None and hasattr(shell, "kernel"):
            return True
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, OSError, ValueError):
        return False
