"""The client finds the daemon, starts it, and explains failures."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorcache
from daemon import children, leave, processes, wait_until
from tensorcache import _cache
from tensorcache._daemon import binary, cache_dir, connect


@pytest.fixture
def empty(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a cache directory for this test alone, in which no daemon runs."""
    directory = tmp_path / "own"
    monkeypatch.setenv("TENSORCACHE_DIR", str(directory))
    yield directory
    if directory.exists():
        leave(directory)


def test_none_runs_and_none_may_be_started(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(tensorcache.DaemonError, match="no daemon runs for") as caught:
        tensorcache.connect(autostart=False)
    assert str(empty) in caught.value.detail
    assert caught.value.type == "not_running"
    assert "tensorcache serve" in caught.value.hint
    monkeypatch.setenv("TENSORCACHE_AUTOSTART", "0")
    with pytest.raises(tensorcache.DaemonError, match="no daemon runs for"):
        tensorcache.connect()
    assert not empty.exists(), "nothing was made"
    assert tensorcache.connect(autostart=True).health()["dir"] == str(empty)


def test_a_daemon_is_started_once_and_found_after(empty: Path) -> None:
    cache = tensorcache.connect()
    pid = cache.health()["pid"]
    assert empty.stat().st_mode & 0o777 == 0o700
    assert tensorcache.connect().health()["pid"] == pid
    assert tensorcache.connect(str(empty)).health()["pid"] == pid
    assert os.getsid(pid) != os.getsid(0), "Ctrl-C here does not reach it"
    cache.stop()
    wait_until(lambda: not processes(str(empty)), "the daemon lives")
    with pytest.raises(tensorcache.DaemonError):
        cache.health()
    assert tensorcache.connect().health()["pid"] != pid


def test_twelve_clients_at_once_get_one_daemon(empty: Path) -> None:
    code = "import tensorcache; print(tensorcache.connect().health()['pid'])"
    for _ in range(2):  # the second time, a killed daemon has left a stale socket
        clients = [
            subprocess.Popen(
                [sys.executable, "-W", "error", "-c", code], stdout=subprocess.PIPE, text=True
            )
            for _ in range(12)
        ]
        pids = {client.communicate()[0] for client in clients}
        assert [client.returncode for client in clients] == [0] * 12
        assert len(pids) == 1
        os.kill(int(pids.pop()), 9)
        wait_until(lambda: not processes(str(empty)), "the daemon lives")


def test_a_daemon_that_holds_the_directory_but_does_not_listen_yet_is_waited_for(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty.mkdir(mode=0o700)
    lock = os.open(empty / "daemon.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    looks: list[bool] = []

    def look(directory: str) -> bool:
        looks.append(_cache.lock_is_free(directory))
        if len(looks) == 3:
            os.close(lock)
        return looks[-1]

    monkeypatch.setattr(connect, "lock_is_free", look)
    cache = tensorcache.connect()
    assert looks == [False, False, False, True], "it was waited for"
    assert cache.health()["status"] == "ok"


def test_who_starts_one_without_the_lock_may_be_first(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = connect.start

    def slower(binary: str, directory: str) -> None:
        start(binary, directory)  # as a service manager would
        start(binary, directory)

    monkeypatch.setattr(connect, "start", slower)
    assert tensorcache.connect().health()["status"] == "ok"
    assert "in use" in Path(empty, "daemon.log").read_text()
    assert len(processes(str(empty))) == 1


def test_stopping_while_others_connect(empty: Path) -> None:
    tensorcache.connect()
    # The next stop may follow at once, so the clients only connect.
    code = "import tensorcache; tensorcache.connect(); print('ok')"
    clients = []
    for _ in range(4):
        tensorcache.connect().stop()
        clients += [
            subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
    assert {client.communicate()[0] for client in clients} == {"ok\n"}


def test_stopping_returns_where_somebody_starts_the_next_daemon_at_once(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tensorcache.connect()
    started: list[int] = []

    def look(directory: str) -> bool:
        if not started and connect.lock_is_free(directory):
            started.append(tensorcache.connect().health()["pid"])
        return False  # the client misses the moment between two daemons

    with monkeypatch.context() as patch:
        patch.setattr(_cache, "lock_is_free", look)
        cache.stop()
    assert tensorcache.connect(autostart=False).health()["pid"] == started[0]


def test_stopping_returns_where_the_next_daemon_has_the_same_pid(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In containers every daemon may have the same pid, because each is the first process."""
    cache = tensorcache.connect()
    before = cache_dir.read_address(cache.dir)
    assert before is not None
    addresses = iter([before, before, dataclasses.replace(before, started="2001-02-03T04:05:06Z")])
    with monkeypatch.context() as patch:
        # The next daemon has the lock.
        patch.setattr(_cache, "lock_is_free", lambda directory: False)
        patch.setattr(_cache, "read_address", lambda directory: next(addresses))
        cache.stop()
    wait_until(lambda: connect.lock_is_free(cache.dir), "it does not leave")


def test_a_deep_cache_directory(tmp_path: Path, home: Path) -> None:
    directory = tmp_path / ("d" * 60) / ("e" * 60)
    cache = tensorcache.connect(directory)
    data = cache.put("deep", {"v": [1.0, 2.0]})
    assert data["v"].tolist() == [1, 2]
    del data
    leave(directory)


def test_a_binary_that_is_not_there(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORCACHE_BIN", "/nowhere/tensorcache")
    with pytest.raises(
        tensorcache.DaemonError, match='TENSORCACHE_BIN names "/nowhere/tensorcache"'
    ):
        tensorcache.connect()
    monkeypatch.delenv("TENSORCACHE_BIN")
    monkeypatch.setattr(binary, "scripts", lambda: iter(["/nowhere/bin"]))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(tensorcache.DaemonError, match="no /nowhere/bin/tensorcache") as caught:
        tensorcache.connect()
    assert "TENSORCACHE_BIN" in caught.value.hint


def test_the_binary_is_looked_for_where_installers_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TENSORCACHE_BIN", raising=False)
    places = [tmp_path / name for name in ("venv", "base", "path")]
    for place in places:
        place.mkdir()
    monkeypatch.setattr(binary, "scripts", lambda: iter([str(places[0]), str(places[1])]))
    monkeypatch.setenv("PATH", str(places[2]))
    for place in reversed(places):
        (place / "tensorcache").touch(mode=0o755)
        assert binary.find_binary() == str(place / "tensorcache")


def test_a_binary_that_fails_shows_its_log(
    empty: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "broken"
    script.write_text("#!/bin/sh\necho the reason is here >&2\nexit 3\n")
    script.chmod(0o755)
    monkeypatch.setenv("TENSORCACHE_BIN", str(script))
    with pytest.raises(tensorcache.DaemonError, match=r"did not start:\nthe reason is here$"):
        tensorcache.connect()
    script.write_text("no program")
    with pytest.raises(tensorcache.DaemonError, match=r"cannot be run"):
        tensorcache.connect()


def test_a_binary_that_does_not_end_is_killed(
    empty: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "stuck"
    script.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(600)\n")
    script.chmod(0o755)
    monkeypatch.setattr(connect, "START_SECONDS", 0.0)
    monkeypatch.setenv("TENSORCACHE_BIN", str(script))
    with pytest.raises(tensorcache.DaemonError, match="neither started a daemon nor ended"):
        tensorcache.connect()
    wait_until(lambda: not processes(str(empty)), "the script lives")


def test_a_process_that_has_the_directory_but_does_not_listen_is_an_error_with_the_log(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty.mkdir(mode=0o700)
    Path(empty, "daemon.log").write_text("the reason is here\n")
    monkeypatch.setattr(connect, "START_SECONDS", 0.0)
    with Path(empty, "daemon.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(
            tensorcache.DaemonError,
            match=r"neither listens nor leaves .*\n.*ends with:\nthe reason",
        ):
            tensorcache.connect()


def test_a_daemon_is_no_child_and_outlives_the_process_that_started_it(empty: Path) -> None:
    code = "import tensorcache; print(tensorcache.connect().health()['pid'], flush=True); input()"
    starter = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert starter.stdout
    pid = int(starter.stdout.readline())
    assert not children(starter.pid), "what ends its children ends no daemon"
    os.killpg(starter.pid, signal.SIGKILL)
    starter.communicate()
    assert tensorcache.connect(autostart=False).health()["pid"] == pid


def test_a_directory_that_cannot_be_made(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(tensorcache.DaemonError, match="cannot be made"):
        tensorcache.connect(tmp_path / "file" / "cache")


def test_daemon_json_of_a_dead_daemon_is_stale(empty: Path) -> None:
    empty.mkdir(mode=0o700)
    gone = {
        "pid": 1,
        "version": "9.9.9",
        "protocol": 99,
        "control": str(empty / "c"),
        "feed": str(empty / "f"),
    }
    (empty / "daemon.json").write_text(json.dumps(gone))
    with pytest.raises(tensorcache.DaemonError, match="no daemon runs"):
        tensorcache.connect(autostart=False)
    for torn in ("", "{", "[]", '{"pid": 1}'):
        (empty / "daemon.json").write_text(torn)
        with pytest.raises(tensorcache.DaemonError, match="no daemon runs"):
            tensorcache.connect(autostart=False)
    (empty / "daemon.json").write_text(json.dumps(gone))
    assert tensorcache.connect().health()["protocol"] == 1
