"""The fixtures: a release made by ``make release``, twice, and the packages that it needs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from installs import Release, Venv, commit, copy_of_sources, raise_version, run, targets


def make_release(folder: Path, umask: str, **env: str) -> Release:
    """Make a release of a copy of the working tree, of a version above the sources'."""
    folder.mkdir(parents=True, exist_ok=True)
    copy_of_sources(folder)
    version = raise_version(folder)
    commit(folder, date="2026-01-02T03:04:05Z")
    chosen = targets()
    make = f"umask {umask}; make release VERSION={version} TARGETS='{' '.join(chosen)}'"
    run("sh", "-c", make, env={**os.environ, **env}, cwd=folder)
    return Release(version, folder, chosen)


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The files of a release."""
    return make_release(tmp_path_factory.mktemp("sources"), "022")


@pytest.fixture(scope="session")
def again(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The same release, made later, in another directory and by another user's settings."""
    folder = tmp_path_factory.mktemp("other") / "longer" / "path"
    return make_release(folder, "077", GOFLAGS="-tags=faults", GOARM64="v8.2", TZ="Asia/Tokyo")


@pytest.fixture(scope="session")
def wheelhouse() -> Path:
    """A folder with the packages that ours needs: to run, and to be built from source."""
    folder = Path(sys.prefix) / "wheelhouse"
    assert folder.exists(), "make test-wheels downloads it"
    return folder


@pytest.fixture
def venv(tmp_path: Path, release: Release, wheelhouse: Path) -> Iterator[Venv]:
    """A fresh environment for which the release is the only source of tensorcache."""
    made = Venv(tmp_path / "venv", only_packages(release, tmp_path), wheelhouse)
    yield made
    made.stop_daemon()


def only_packages(release: Release, folder: Path) -> Path:
    """The wheels of a release in a folder of their own: no source package to fall back to."""
    wheels = folder / "wheels"
    wheels.mkdir()
    for wheel in release.dist.glob("*.whl"):
        shutil.copy(wheel, wheels)
    return wheels
