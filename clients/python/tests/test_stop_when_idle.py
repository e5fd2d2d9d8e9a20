"""``stop --when-idle``: trainers that reconnect continue with another daemon and binary.

The daemon waits until the other trainers have ended.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorcache
from daemon import ETTH1
from tensorcache._daemon.binary import find_binary

pytestmark = pytest.mark.portable

SPEC: dict[str, Any] = {
    "context_length": 24,
    "prediction_length": 6,
    "columns": ["HUFL", "OT"],
    "rows": (0, 900),
}
OPTIONS: dict[str, Any] = {"batch_size": 16, "order": "shuffle", "seed": 4, "slots": 6}


@pytest.fixture
def binary(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a private copy of the daemon's binary, which the test can replace."""
    copy = tmp_path / "tensorcache"
    shutil.copy(find_binary(), copy)
    monkeypatch.setenv("TENSORCACHE_BIN", str(copy))
    return copy


@pytest.fixture
def windows(binary: Path) -> tensorcache.Windows:
    data = tensorcache.connect().load(
        "etth1", ETTH1, time="date", dtype="float32", columns=["date", "HUFL", "OT"]
    )
    return data.windows(**SPEC)


def replace(binary: Path) -> int:
    """Replace the binary's file, as an upgrade does, and return the new inode."""
    new = binary.with_suffix(".new")
    shutil.copy(binary, new)
    new.replace(binary)
    return binary.stat().st_ino


def stop(binary: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [binary, "stop", "--when-idle"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_trainer_that_reconnects_goes_on_with_the_new_binary(
    windows: tensorcache.Windows, binary: Path
) -> None:
    def all_of(feed: tensorcache.Feed, upgrade: bool) -> list[Any]:
        got: list[Any] = []
        for epoch in range(3):
            for n, batch in enumerate(feed):
                got.append((batch.start.tolist(), np.array(batch.context), np.array(batch.target)))
                if upgrade and (epoch, n) == (1, 7):
                    inode = replace(binary)
                    old = tensorcache.connect().health()["pid"]
                    stdout, stderr = stop(binary).communicate(timeout=60)
                    # The daemon waits for no trainer.
                    assert (stdout, stderr) == (
                        f"stopped daemon {old}\n",
                        "",
                    )
        if upgrade:
            new = tensorcache.connect().health()["pid"]
            assert new != old
            if Path("/proc/self").exists():
                assert Path(f"/proc/{new}/exe").stat().st_ino == inode
        return got

    with windows.feed(**OPTIONS) as feed:
        want = all_of(feed, upgrade=False)
    with windows.feed(**OPTIONS, reconnect=True) as feed:
        got = all_of(feed, upgrade=True)
        assert feed.stats()["reconnects"] == 1
    np.testing.assert_equal(got, want)


def test_a_trainer_that_cannot_is_waited_for_and_new_ones_are_served(
    windows: tensorcache.Windows, binary: Path
) -> None:
    cache = tensorcache.connect()
    pid = cache.health()["pid"]
    with windows.feed(**OPTIONS) as feed:
        epoch = iter(feed)
        next(epoch)
        waiting = stop(binary)
        assert waiting.stderr is not None
        assert (
            waiting.stderr.readline()
            == f"daemon {pid} leaves once these have ended: feeds 1, jobs 0\n"
        )
        with windows.feed(batch_size=50) as validation:  # a running training opens another feed
            assert sum(batch.start.size for batch in validation) == len(windows)
        assert sum(batch.start.size for batch in epoch) == len(windows) - 16
        assert waiting.poll() is None
        assert cache.health()["pid"] == pid
    assert waiting.communicate(timeout=60)[0] == f"stopped daemon {pid}\n"
