"""Trainers in another container than the daemon: another process namespace and another user."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorcache
from daemon import ETTH1, directories, wait_until
from tensorcache._daemon.binary import find_binary

pytestmark = pytest.mark.portable

ALLOWED, OTHER = 12345, 12346
NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]

TRAINER = """
import sys, time
import tensorcache
cache = tensorcache.connect(sys.argv[1], autostart=False)
windows = cache.dataset("etth1").windows(context_length=24, prediction_length=6, rows=(0, 900))
with windows.feed(batch_size=16, order="shuffle", seed=4, delivery=sys.argv[2], slots=16) as feed:
    got = [int(n) for batch in feed for n in batch.start]
    assert sorted(got) == list(range(871)), len(got)
    total = sum(float(batch.context.sum()) for batch in feed)
    print(total, flush=True)
    if sys.argv[3:] == ["stay"]:
        batches = iter(feed)
        next(batches)
        time.sleep(600)
cache.put("mine", {"x": [1.0, 2.0]})
"""

LOADER = """
import sys
import tensorcache
cache = tensorcache.connect(sys.argv[1], autostart=False)
print(len(cache.load("loaded", sys.argv[2], time="date")))
"""


def why_not() -> str:
    if (
        not sys.platform.startswith("linux")
        or not shutil.which("unshare")
        or not shutil.which("setpriv")
    ):
        return "needs Linux with unshare and setpriv"
    if os.geteuid() != 0:
        return "needs root, to become other users"
    if subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode:
        return "process namespaces are not permitted here"
    probe = as_user(OTHER, "import tensorcache", [])
    probe.communicate()
    return "another user cannot run this Python" if probe.returncode else ""


def as_user(uid: int, script: str, args: list[str]) -> subprocess.Popen[str]:
    """Run Python as another user in a process namespace of its own."""
    user = ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"]
    return subprocess.Popen(
        [*NAMESPACE, *user, sys.executable, "-B", "-c", script, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        env={
            **os.environ,
            "HOME": "/nonexistent",
            "PYTHONPATH": str(Path(tensorcache.__file__).parents[1]),
        },
    )


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    """The cache directory of a daemon in another process namespace; every user can reach it."""
    if reason := why_not():
        pytest.skip(reason)
    place = Path(tempfile.mkdtemp(prefix="tcc"))
    place.chmod(0o711)
    (place / "data").mkdir(mode=0o755)
    shutil.copy(ETTH1, place / "data" / "ETTh1.csv")
    (place / "secret.csv").write_text("date,x\n2020-01-01,1\n")
    (place / "secret.csv").chmod(0o600)
    directory = place / "cache"
    directories[:] = [directory]
    serve = [
        find_binary(),
        "serve",
        "--dir",
        directory,
        "--allow-uid",
        str(ALLOWED),
        "--root",
        place / "data",
    ]
    read, write = os.pipe()
    daemon = subprocess.Popen(
        [*NAMESPACE, *map(str, serve), "--ready-fd", str(write)],
        pass_fds=[write],
        stderr=subprocess.PIPE,
    )
    os.close(write)
    with os.fdopen(read) as ready:
        assert ready.readline() == "ok\n"
    yield directory
    cache = tensorcache.connect(directory, autostart=False)
    wait_until(lambda: not cache.feeds(), "feeds are left")
    cache.stop()
    daemon.communicate(timeout=60)
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def total(directory: Path) -> float:
    """The sum that the trainer must print, from a client in this process."""
    data = tensorcache.connect(directory, autostart=False).load("etth1", ETTH1, time="date")
    windows = data.windows(context_length=24, prediction_length=6, rows=(0, 900))
    with windows.feed(batch_size=16, order="shuffle", seed=4) as feed:
        list(feed)
        return sum(float(batch.context.sum()) for batch in feed)


@pytest.mark.parametrize("delivery", ["slot", "local"])
def test_another_container_and_user_trains(directory: Path, total: float, delivery: str) -> None:
    trainer = as_user(ALLOWED, TRAINER, [str(directory), delivery])
    out, err = trainer.communicate(timeout=60)
    assert trainer.returncode == 0, err
    assert float(out) == pytest.approx(total, rel=1e-12)
    assert "mine" in str(tensorcache.connect(directory, autostart=False).datasets())


def test_the_end_of_a_container_is_noticed(directory: Path, total: float) -> None:
    del total
    cache = tensorcache.connect(directory, autostart=False)
    trainer = as_user(ALLOWED, TRAINER, [str(directory), "slot", "stay"])
    assert trainer.stdout is not None
    assert trainer.stdout.readline()
    # The daemon reports 0, because a pid of another namespace would name another process here.
    assert [f["pid"] for f in cache.feeds()] == [0]
    feeds = subprocess.run(
        [find_binary(), "feeds", "--dir", directory], capture_output=True, text=True, timeout=60
    )
    assert feeds.stdout.split("\n")[1].split()[1:3] == ["etth1", "elsewhere"], feeds
    container = Path(f"/proc/{trainer.pid}/task/{trainer.pid}/children").read_text().split()
    os.kill(int(container[0]), signal.SIGKILL)  # the container's first process
    trainer.communicate(timeout=60)
    wait_until(lambda: not cache.feeds(), "the daemon still serves a trainer that is gone")


def test_others_are_refused(directory: Path, total: float) -> None:
    del total
    trainer = as_user(OTHER, TRAINER, [str(directory), "slot"])
    assert "user id 12346 may not use this daemon" in trainer.communicate(timeout=60)[1]
    assert trainer.returncode == 1


def test_an_allowed_user_has_files_loaded_from_below_the_roots_only(directory: Path) -> None:
    def loads(path: Path) -> tuple[str, str]:
        return as_user(ALLOWED, LOADER, [str(directory), str(path)]).communicate(timeout=60)

    out, err = loads(directory.parent / "data" / "ETTh1.csv")
    assert out == "17420\n", err
    for path in (directory.parent / "secret.csv", directory / "token"):
        out, err = loads(path)
        assert "is outside the folders" in err, (out, err)


def test_what_others_see_of_the_cache(directory: Path) -> None:
    modes: dict[str, Any] = {e.name: oct(e.stat().st_mode & 0o777) for e in directory.iterdir()}
    assert modes.pop("control.sock") == modes.pop("feed.sock") == "0o666"
    assert modes.pop("daemon.json") == "0o644"
    assert set(modes.values()) <= {"0o700", "0o600"}, modes
    assert oct(directory.stat().st_mode & 0o777) == "0o711"
    address = json.loads((directory / "daemon.json").read_text())
    assert address["pid"] == 1  # in its own namespace
