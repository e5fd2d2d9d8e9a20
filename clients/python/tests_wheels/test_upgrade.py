"""``pip install --upgrade`` while a daemon of the newest release serves."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from installs import REPOSITORY, Release, Venv, previous_release, run

TRAINER = """
import sys
import tensorcache

cache = tensorcache.connect()
data = cache.load("etth1", sys.argv[1], time="date")
windows = data.windows(context_length=96, prediction_length=24)
with windows.feed(batch_size=32, order="shuffle", seed=0) as feed:
    rows, passes = 0, 0
    while passes < 2:
        for step, batch in enumerate(feed):
            rows += len(batch.context)
            if step == 3 and passes == 0:
                print("training", flush=True)
                assert sys.stdin.readline() == "upgraded\\n"
        passes += 1
assert rows == 2 * len(windows), rows
print(tensorcache.__version__, rows, flush=True)
"""

CONNECT = """
import warnings
import tensorcache
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    cache = tensorcache.connect()
print(tensorcache.__version__, len(cache.dataset("etth1")), len(caught))
for warning in caught:
    print(warning.message)
"""


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory, wheelhouse: Path) -> tuple[str, Path]:
    """The newest release in docs/releases.md: its version, and a wheel built from its commit."""
    version, commit = previous_release(REPOSITORY)
    folder = tmp_path_factory.mktemp("previous")
    archive = subprocess.run(
        ["git", "archive", commit], cwd=REPOSITORY, capture_output=True, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as opened:
        opened.extractall(folder / "sources", filter="data")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    run(
        *[*pip, "--find-links", wheelhouse, "--wheel-dir", folder / "wheels", "./clients/python"],
        env=dict(os.environ),
        cwd=folder / "sources",
    )
    return version, folder / "wheels"


def test_trainers_go_on_and_the_next_client_says_how_to_change_over(
    venv: Venv, release: Release, previous: tuple[str, Path]
) -> None:
    old, wheels = previous
    venv.run("pip", "install", "--quiet", "--no-deps", "numpy", *wheels.glob("*.whl"))
    data = REPOSITORY / "examples" / "data" / "ETTh1.csv"
    trainer = venv.start(
        *("python", "-c", TRAINER, data), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert trainer.stdin is not None
    assert trainer.stdout is not None
    with trainer:
        assert trainer.stdout.readline() == "training\n"

        venv.run("pip", "install", "--quiet", "--upgrade", "tensorcache")
        assert venv.run("tensorcache", "version").startswith(f"tensorcache {release.version} (")
        # The next client uses the old daemon, and says so.
        said = venv.run("python", "-c", CONNECT)
        assert said == (
            f"{release.version} 17420 1\n"
            f'the daemon of "{venv.env["TENSORCACHE_DIR"]}" is tensorcache {old}, this client '
            f"{release.version}: it was started before the upgrade, and goes on\n"
            "hint: end it with tensorcache stop when no trainer needs it; the next client starts "
            "the new one\n"
        )
        doctor = venv.run("tensorcache", "doctor")
        assert f"tensorcache {old} runs (pid " in doctor
        assert "fix: tensorcache stop --when-idle ends it once no trainer needs it" in doctor
        # A load by the old daemon starts its own program, whose file pip has replaced.
        venv.run("tensorcache", "load", "again", data, "--time", "date")

        waiting = venv.start("tensorcache", "stop", "--when-idle", stdout=subprocess.DEVNULL)
        with waiting:
            assert trainer.communicate("upgraded\n", timeout=120)[0] == f"{old} 34602\n"
            assert trainer.returncode == 0
            assert waiting.wait(timeout=120) == 0
    assert venv.run("python", "-c", CONNECT) == f"{release.version} 17420 0\n"
    assert f"tensorcache {release.version}, pid " in venv.run("tensorcache", "doctor")
