"""The container image, without a container engine.

The tests run what the Dockerfile copies into ``scratch``, as the image's user in new namespaces.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import tensorcache
from daemon import ETTH1, REPOSITORY, directories, wait_until
from tensorcache._daemon.binary import find_binary
from test_containers import ALLOWED, OTHER, TRAINER, as_user, why_not

DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
IMAGE_USER = 65532


def is_static(binary: str) -> bool:
    """Return whether an ELF program needs no dynamic loader: the image has none."""
    head = Path(binary).read_bytes()[:4096]
    begin, size, count = (
        int.from_bytes(head[a:b], "little") for a, b in [(32, 40), (54, 56), (56, 58)]
    )
    return 3 not in [int.from_bytes(head[begin + i * size :][:4], "little") for i in range(count)]


@pytest.fixture(scope="module")
def image() -> Iterator[Path]:
    """The root of a container: the image's files, and the directories that engines mount."""
    if reason := why_not():
        pytest.skip(reason)
    binary = find_binary()
    # A binary with the race detector needs a loader. The installed binary is built as in the
    # Dockerfile.
    if not is_static(binary):
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("TENSORCACHE_BIN", raising=False)
            try:
                binary = find_binary()
            except tensorcache.DaemonError as error:
                pytest.skip(f"only a binary that needs a loader is here: {error}")
    if not is_static(binary):
        pytest.skip(f"{binary} needs a loader, and the image has none")
    root = Path(tempfile.mkdtemp(prefix="tci"))
    root.chmod(0o755)
    directories[:] = [root / "cache"]
    final = DOCKERFILE.split("\nFROM scratch\n")[1]
    copied = dict(re.findall(r"^COPY .*?(/out/\S+) (/\S+)$", final, re.M))
    assert copied == {
        "/out/tensorcache": "/tensorcache",
        "/out/tmp": "/tmp",
        "/out/cache": "/cache",
    }, copied
    shutil.copy(binary, root / "tensorcache")
    for place, mode in {"tmp": 0o1777, "cache": 0o711, "proc": 0o755, "data": 0o755}.items():
        (root / place).mkdir()
        (root / place).chmod(mode)
    os.chown(root / "cache", IMAGE_USER, IMAGE_USER)
    shutil.copy(ETTH1, root / "data" / "ETTh1.csv")
    yield root
    shutil.rmtree(root)


def contained(root: Path, *words: str) -> list[str]:
    """The command line that runs tensorcache with these words in a container of the image."""
    own = [
        "unshare",
        "--mount",
        "--uts",
        "--ipc",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        f"--mount-proc={root}/proc",
    ]
    user = f"--userspec={IMAGE_USER}:{IMAGE_USER}"
    return [*own, "chroot", user, "--groups=", str(root), "/tensorcache", *words]


@pytest.fixture(scope="module")
def daemon(image: Path) -> Iterator[Path]:
    """A daemon in a container.

    The fixture yields the cache directory, as processes outside the container see the volume.
    """
    env = dict(re.findall(r"(TENSORCACHE_\w+)=(\S+)", DOCKERFILE))
    assert env == {"TENSORCACHE_DIR": "/cache", "TENSORCACHE_AUTOSTART": "0"}
    env["PATH"] = os.environ["PATH"]  # for unshare and chroot
    read, write = os.pipe()
    serve = contained(
        image, "serve", "--allow-uid", str(ALLOWED), "--root", "/data", "--ready-fd", str(write)
    )
    daemon = subprocess.Popen(serve, pass_fds=[write], env=env, stderr=subprocess.PIPE, text=True)
    os.close(write)
    with os.fdopen(read) as ready:
        assert ready.readline() == "ok\n", daemon.communicate(timeout=60)[1]
    health = subprocess.run(
        contained(image, "ls"), env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert health.returncode == 0, health.stderr
    yield image / "cache"
    cache = tensorcache.connect(image / "cache", autostart=False)
    wait_until(lambda: not cache.feeds(), "feeds are left")
    cache.stop()
    assert "panic" not in daemon.communicate(timeout=60)[1]


LOADER = """
import sys
import tensorcache
cache = tensorcache.connect(sys.argv[1], autostart=False)
print(len(cache.load("etth1", "/data/ETTh1.csv", time="date")))
"""


def test_trainers_outside_load_and_train(image: Path, daemon: Path) -> None:
    assert not Path("/data/ETTh1.csv").exists()  # the path exists only in the daemon's container
    out, err = as_user(ALLOWED, LOADER, [str(daemon)]).communicate(timeout=60)
    assert out == "17420\n", err
    for delivery in ("slot", "local"):
        trainer = as_user(ALLOWED, TRAINER, [str(daemon), delivery])
        assert trainer.communicate(timeout=60)[1] == ""
        assert trainer.returncode == 0
    assert (
        "user id 12346 may not" in as_user(OTHER, LOADER, [str(daemon)]).communicate(timeout=60)[1]
    )
    owners = {
        path: (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) for path in daemon.iterdir()
    }
    assert {uid for uid, _ in owners.values()} == {IMAGE_USER}, owners
    assert not list((image / "tmp").iterdir())
