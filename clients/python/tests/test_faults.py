"""Either side is killed at any time: errors say how to continue, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorcache
from daemon import ETTH1, children, paused_loads, processes, wait_until

pytestmark = pytest.mark.portable

B = 32

READS_PROCESSES = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="what another process does is read there"
)

TRAINER = f"""if True:
    import sys, tensorcache
    data = tensorcache.connect(autostart=False).dataset("etth1")
    windows = data.windows(context_length=24, prediction_length=6)
    feed = windows.feed(batch_size={B}, slots=4)
    passing = iter(feed)
    held = [next(passing), next(passing)]
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def windows(etth1: tensorcache.Dataset) -> Iterator[tensorcache.Windows]:
    """Windows of a running daemon, even if the test before killed it."""
    cache = tensorcache.connect()
    with cache.dataset("etth1") as data:
        yield data.windows(context_length=24, prediction_length=6)


def trainer(code: str = TRAINER) -> subprocess.Popen[str]:
    """A trainer in a separate process, whose feed is in the middle of a pass."""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def halt(pid: int) -> None:
    """Stop a process, and wait until its threads have stopped; ``kill`` returns earlier."""
    os.kill(pid, signal.SIGSTOP)
    threads = Path(f"/proc/{pid}/task")
    if threads.exists():
        wait_until(
            lambda: all(") T " in (thread / "stat").read_text() for thread in threads.iterdir()),
            "it goes on",
        )


def without_ticks(feed: tensorcache.Feed) -> None:
    """Set a long receive timeout, so that only the socket's events end a feed's waits."""
    assert feed._stream is not None
    feed._stream._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 600, 0))


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def test_a_killed_trainer_leaves_nothing_in_the_daemon(windows: tensorcache.Windows) -> None:
    cache = tensorcache.connect()
    pid = cache.health()["pid"]
    leases = [d["readers"] for d in cache.datasets()]
    before = None
    for _ in range(5):
        process = trainer()
        assert [feed["pid"] for feed in cache.feeds()] == [process.pid]
        process.kill()
        process.communicate()
        wait_until(lambda: not cache.feeds(), "the feed is still there")
        wait_until(
            lambda: [d["readers"] for d in cache.datasets()] == leases, "the lease is still there"
        )
        before = before or descriptors(pid)
        wait_until(lambda n=before: descriptors(pid) <= n, "descriptors are left")


@pytest.mark.skipif(
    "TENSORCACHE_PORTABLE" in os.environ, reason="without a pidfd only end-of-file tells"
)
def test_a_killed_trainer_whose_child_holds_the_socket_is_noticed(
    windows: tensorcache.Windows,
) -> None:
    cache = tensorcache.connect()
    code = """
    import os, subprocess
    for fd in os.listdir("/proc/self/fd"):
        if int(fd) > 2:
            try:
                os.set_inheritable(int(fd), True)
            except OSError:
                pass
    none = subprocess.DEVNULL
    child = subprocess.Popen(["sleep", "60"], close_fds=False, stdin=none, stdout=none)
    print("ready", flush=True)
    print(child.pid, flush=True)
"""
    process = trainer(TRAINER.replace('    print("ready", flush=True)', code))
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.kill()
    process.communicate()
    try:
        assert "socket:" in " ".join(
            str(fd.readlink()) for fd in Path(f"/proc/{child}/fd").iterdir()
        )
        wait_until(lambda: not cache.feeds(), "the feed is still there")
    finally:
        os.kill(child, signal.SIGKILL)


@READS_PROCESSES
@pytest.mark.parametrize("delivery", ["slot", "starts"])
@pytest.mark.parametrize("work", [0, 1000])
def test_a_stopped_trainer_costs_the_daemon_nothing(
    windows: tensorcache.Windows, delivery: str, work: int
) -> None:
    """The daemon sleeps after a trainer is stopped at full speed or at a slightly lower speed."""
    pid = tensorcache.connect().health()["pid"]
    code = TRAINER.replace("slots=4", f'order="random_start", delivery="{delivery}"')
    process = trainer(
        code.replace(
            "sys.stdin.read()", f"any(sum(range({work})) < 0 for _ in iter(int, 1) for _ in feed)"
        )
    )

    def woken() -> int:
        statuses = [
            task.joinpath("status").read_text() for task in Path(f"/proc/{pid}/task").iterdir()
        ]
        return sum(
            int(line.split()[1])
            for text in statuses
            for line in text.splitlines()
            if "ctxt_switches" in line
        )

    def sleeps() -> bool:
        before = woken()
        time.sleep(0.5)
        return woken() - before < 50

    try:
        wait_until(
            lambda: [feed["epoch"] > 5 for feed in tensorcache.connect().feeds()] == [True],
            "it does not run",
        )
        halt(process.pid)
        wait_until(sleeps, "the daemon works for a trainer that stands still")
    finally:
        process.kill()
        process.communicate()


def test_a_killed_daemon_is_an_error_at_once_and_the_state_resumes(
    windows: tensorcache.Windows,
) -> None:
    def starts(feed: tensorcache.Feed) -> list[int]:
        return [start for batch in feed for start in batch.start.tolist()]

    options = {"batch_size": B, "order": "shuffle", "seed": 3}
    with windows.feed(**options) as feed:  # type: ignore[arg-type]
        want = starts(feed)
    feed = windows.feed(**options)  # type: ignore[arg-type]
    without_ticks(feed)
    seen: list[int] = []
    assert windows[5].start == 5
    with pytest.raises(tensorcache.DaemonError) as caught:
        for batch in feed:
            seen += batch.start.tolist()
            if len(seen) == 10 * B:
                os.kill(tensorcache.connect().health()["pid"], signal.SIGKILL)
    assert "connect()" in caught.value.hint
    assert "load_state_dict" in caught.value.hint
    assert f"after {len(seen):,} of" in caught.value.detail
    state = feed.state_dict()
    assert (state["epoch"], state["consumed"]) == (0, len(seen))
    feed.close()

    with pytest.raises(tensorcache.DaemonError, match="cannot be reached"):
        windows.where(rows=(0, 100))
    assert windows[6].start == 6, "random access needs no daemon once the runs are here"
    cache = tensorcache.connect()
    again = cache.dataset("etth1").windows(context_length=24, prediction_length=6)
    with again.feed(**options) as feed:  # type: ignore[arg-type]
        feed.load_state_dict(state)
        assert seen + starts(feed) == want


def test_the_same_feed_goes_on_where_it_was_once_a_daemon_runs_again(
    windows: tensorcache.Windows,
) -> None:
    feed = windows.feed(batch_size=B)
    passing = iter(feed)
    first = next(passing).start.tolist()
    os.kill(tensorcache.connect().health()["pid"], signal.SIGKILL)
    seen = list(first)
    with pytest.raises(tensorcache.DaemonError):
        for batch in passing:
            seen += batch.start.tolist()
    with pytest.raises(tensorcache.DaemonError):
        next(iter(feed))
    tensorcache.connect()
    rest = [start for batch in feed for start in batch.start.tolist()]
    assert seen + rest == list(range(len(windows)))
    feed.close()


def waits(feed: tensorcache.Feed, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """An event that is set when the feed's loop waits for a batch."""
    stream, waiting = feed._stream, threading.Event()
    assert stream is not None
    receive = stream._receive_blocking

    def receive_blocking(view: memoryview) -> int:
        waiting.set()
        return receive(view)

    monkeypatch.setattr(stream, "_receive_blocking", receive_blocking)
    return waiting


def test_a_waiting_loop_hears_of_the_daemons_death_at_once(
    windows: tensorcache.Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = windows.feed(batch_size=B, slots=3)
    without_ticks(feed)
    pid = tensorcache.connect().health()["pid"]
    halt(pid)
    waiting = waits(feed, monkeypatch)

    def kill() -> None:
        waiting.wait()
        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(tensorcache.DaemonError):
        for _ in feed:
            pass
    killer.join()
    feed.close()
    tensorcache.connect()


def test_interrupting_a_waiting_loop_attaches_anew_at_the_same_place(
    windows: tensorcache.Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = windows.feed(batch_size=B, slots=3)
    pid = tensorcache.connect().health()["pid"]
    seen: list[int] = []

    def interrupt(waiting: threading.Event) -> None:
        waiting.wait()
        os.kill(os.getpid(), signal.SIGINT)

    # Background jobs of a shell ignore SIGINT.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            for batch in feed:
                seen += batch.start.tolist()
                if len(seen) == 5 * B:
                    halt(pid)
                    interrupter = threading.Thread(
                        target=interrupt, args=(waits(feed, monkeypatch),)
                    )
                    interrupter.start()
        interrupter.join()
    finally:
        os.kill(pid, signal.SIGCONT)
        signal.signal(signal.SIGINT, before)
    state = feed.state_dict()
    assert state["consumed"] == len(seen)
    feed.load_state_dict(state)
    rest = [start for batch in feed for start in batch.start.tolist()]
    assert seen + rest == list(range(len(windows)))
    feed.close()


def test_stopping_the_daemon_ends_feeds_with_a_word(windows: tensorcache.Windows) -> None:
    feed = windows.feed(batch_size=B)
    passing = iter(feed)
    next(passing)
    tensorcache.connect().stop()
    with pytest.raises(tensorcache.DaemonError):
        for _ in passing:
            pass
    feed.close()


def test_a_file_that_is_cut_off_ends_its_feeds_and_nobody_elses(
    windows: tensorcache.Windows, home: Path
) -> None:
    cache = tensorcache.connect()
    cut = cache.load("cut", ETTH1, time="date").windows(context_length=24, prediction_length=6)
    path = home / "datasets" / "cut" / str(cut.dataset.generation) / "data.arrow"
    with (
        windows.feed(batch_size=32) as other,
        cut.feed(batch_size=32, order="shuffle", delivery="slot") as feed,
    ):
        batches, others = iter(feed), iter(other)
        next(batches), next(others)
        os.truncate(path, path.stat().st_size // 2)
        with pytest.raises(
            tensorcache.SourceError, match=r"cut, generation \d+: .*data\.arrow: no byte"
        ) as raised:
            for _ in range(10):
                for _ in feed:
                    pass
        assert raised.value.type == "corrupt"
        assert "tensorcache rm cut" in raised.value.hint
        assert sum(len(batch) for batch in others) > 0
    cache.remove("cut")


def loads_of(daemon: int) -> set[int]:
    """The process ids of a daemon's loads."""
    return {*children(daemon)} & {*processes("ingest")}


@READS_PROCESSES
def test_a_killed_load_leaves_nothing_and_the_daemon_lives(
    cache: tensorcache.Cache, home: Path, tmp_path: Path
) -> None:
    cache = tensorcache.connect()
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    daemon = cache.health()["pid"]
    loads: set[int] = set()

    def kill(job: dict[str, object]) -> None:
        if not loads:
            wait_until(lambda: loads.update(loads_of(daemon)) or loads, "no load runs")
            for pid in loads:
                os.kill(pid, signal.SIGKILL)

    with paused_loads(home), pytest.raises(tensorcache.TensorcacheError) as caught:
        cache.load("killed", path, progress=kill)
    assert "killed" in caught.value.detail or "signal" in caught.value.detail
    assert cache.health()["pid"] == daemon
    assert "killed" not in [d["dataset"] for d in cache.datasets()]
    wait_until(lambda: not list((home / "tmp").glob("*")), "the load left files")


@READS_PROCESSES
def test_killing_the_daemon_ends_its_load_and_loses_nothing(
    home: Path, tmp_path: Path, etth1: tensorcache.Dataset
) -> None:
    cache = tensorcache.connect()
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")

    daemon = cache.health()["pid"]
    loads: set[int] = set()

    def kill(job: dict[str, object]) -> None:
        wait_until(lambda: loads.update(loads_of(daemon)) or loads, "no load runs")
        os.kill(daemon, signal.SIGKILL)

    with paused_loads(home):
        with pytest.raises(tensorcache.DaemonError):
            cache.load("half", path, progress=kill)
        wait_until(lambda: not loads & {*processes("ingest")}, "a load of the dead daemon goes on")
    cache = tensorcache.connect()
    assert [d["dataset"] for d in cache.datasets()] == ["etth1"]
    wait_until(lambda: not list((home / "tmp").glob("*")), "the load left files")
    again = cache.load("etth1", ETTH1, time="date")
    assert again.digest == etth1.digest


def test_a_program_that_ends_with_live_feeds_is_silent() -> None:
    code = TRAINER.replace("sys.stdin.read()", "assert held")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
