"""The fixtures: one real daemon per test module, started as a user starts it.

The daemon is checked when the module ends.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

import tensorcache

REPOSITORY = Path(__file__).resolve().parents[3]
ETTH1 = REPOSITORY / "examples" / "data" / "ETTh1.csv"

directories: list[Path] = []
"""The cache directories of the module; ``conftest.py`` shows the logs in them."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache directory for this module, without the caller's settings of TensorCache.

    The fixture checks the directory when the module ends.
    """
    directory = tmp_path_factory.mktemp("cache")
    directories[:] = [directory]
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("TENSORCACHE_") and name not in (
                "TENSORCACHE_BIN",
                "TENSORCACHE_PORTABLE",
                "TENSORCACHE_TEST_RUN",
            ):
                patch.delenv(name)
        patch.delenv("XDG_CACHE_HOME", raising=False)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("TENSORCACHE_DIR", str(directory))
        # By default, a binary with the race detector sleeps for one second at each exit, and
        # nothing reports a race in a process that loads.
        patch.setenv("GORACE", "atexit_sleep_ms=0 halt_on_error=1")
        # For paused_loads; a load does not wait while there is no such pipe.
        patch.setenv("TENSORCACHE_FAULT", "HOLD@ingest.fill")
        patch.setenv("TENSORCACHE_HOLD", str(directory / "pause"))
        yield directory
        leave(directory)
        shutil.rmtree(directory / "datasets", ignore_errors=True)  # the log stays


@pytest.fixture(scope="module")
def cache(home: Path) -> tensorcache.Cache:
    """The cache of the module's own daemon."""
    return tensorcache.connect()


@pytest.fixture(scope="module")
def etth1(cache: tensorcache.Cache) -> tensorcache.Dataset:
    """ETTh1, loaded without transformations."""
    return cache.load("etth1", ETTH1, time="date")


@contextmanager
def paused_loads(home: Path) -> Iterator[Callable[[], None]]:
    """Make loads wait before they read rows. The function that it yields lets one of them go on.

    The daemon must be a build with faults that was started below ``home``.
    """
    pipe = home / "pause"
    os.mkfifo(pipe)  # a load waits until another process opens it for writing

    def resume() -> bool:
        try:
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:  # no load waits
            return False
        return True

    try:
        yield lambda: wait_until(resume, "no load waits")
    finally:
        resume()
        pipe.unlink()


def leave(directory: Path) -> None:
    """Stop the daemon if one runs, and check that it leaves nothing behind."""
    gc.collect()
    try:
        cache = tensorcache.connect(directory, autostart=False)
    except tensorcache.DaemonError:
        pass
    else:
        wait_until(lambda: not cache.feeds(), "feeds are left")
        cache.stop()
    left = list((directory / "tmp").glob("*"))
    assert not left, f"left in tmp/: {left}"
    wait_until(lambda: not processes(str(directory)), "processes are left")
    logs = sorted(directory.glob("daemon.log*"))
    lines = [line for log in logs for line in log.read_text().splitlines()]
    # A library's panic over a damaged file is a refused load, whose message says what is damaged.
    text = "\n".join(line for line in lines if 'msg="a decoder panicked"' not in line)
    assert "DATA RACE" not in text, text
    assert "panic" not in text, text


def processes(words: str) -> list[int]:
    """The ids of the running processes whose command line contains the words."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if words.encode() in (entry / "cmdline").read_bytes().replace(b"\0", b" "):
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def children(pid: int) -> list[int]:
    """The process ids of the children of a process."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in task.read_text().split()]
        except OSError:
            continue
    return found


def wait_until(true: Callable[[], object], why: str, seconds: float = 60.0) -> None:
    """Wait until a condition is true that has no event; ``seconds`` allows for slow machines."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, why
        time.sleep(0.005)


def example_named(name: str) -> ModuleType:
    """The module of an example."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
