"""A wheel and the source package, installed as users do, where no Go is on the path."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

from installs import REPOSITORY, Release, Venv, clean_env, go_env, path_without_go, run

DEMO = REPOSITORY / "examples" / "nlinear_numpy.py"


def test_the_wheel_runs_the_demo_and_uninstalls_without_a_trace(
    venv: Venv, release: Release
) -> None:
    venv.run("pip", "install", "--quiet", "numpy")
    venv.run("python", "-c", "import numpy.random")
    before = venv.files()
    venv.run("pip", "install", "--quiet", "tensorcache")
    # One thread: on a busy machine the threads of BLAS wait for each other.
    said = venv.run("python", DEMO, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    assert "windows: train 8,209, val 2,785, test 2,785" in said
    assert venv.run("tensorcache", "version").startswith(f"tensorcache {release.version} (")
    assert venv.run("tensorcache", "ls").splitlines()[1].startswith("etth1 ")
    venv.run("tensorcache", "stop")
    cache = Path(venv.env["TENSORCACHE_DIR"])
    assert sorted(p.name for p in cache.iterdir()) == [
        "daemon.lock",
        "daemon.log",
        "datasets",
        "start.lock",
        "tmp",
    ]
    shutil.rmtree(cache)
    venv.run("pip", "uninstall", "--quiet", "--yes", "tensorcache")
    assert venv.files() == before


def test_uvx_runs_the_command_line(release: Release, wheelhouse: Path, tmp_path: Path) -> None:
    uvx = Path(sys.executable).with_name("uvx")
    tags = {"linux-x86_64": "*_x86_64.musllinux*", "linux-aarch64": "*_aarch64.musllinux*"}
    wanted = tags.get(sysconfig.get_platform(), f"*macosx*{os.uname().machine}")
    (wheel,) = release.dist.glob(f"{wanted}.whl")
    env = clean_env(
        tmp_path / "home", PATH=path_without_go(tmp_path / "path"), UV_OFFLINE="1", UV_NO_INDEX="1"
    )
    env |= {"UV_FIND_LINKS": str(wheelhouse), "UV_PYTHON": sys.executable}
    said = run(uvx, "--quiet", "--from", wheel, "tensorcache", "version", env=env, cwd=tmp_path)
    assert re.fullmatch(
        rf"tensorcache {re.escape(release.version)} \(protocol \d+, format \d+, go\S+\)\n", said
    )


def test_the_source_package_builds_a_wheel_outside_a_clone(
    venv: Venv, release: Release, tmp_path: Path
) -> None:
    # With Go, and the modules that this machine has.
    go = go_env(tmp_path / "go-home")
    sources = release.dist / f"tensorcache-{release.version}.tar.gz"
    with_go = {name: go[name] for name in ("GOCACHE", "GOMODCACHE", "GOPROXY")}
    with_go["PATH"] = f"{venv.bin}{os.pathsep}{os.environ['PATH']}"
    venv.run("pip", "install", "--quiet", sources, **with_go)
    assert venv.run("tensorcache", "version").startswith(f"tensorcache {release.version} (")
    said = venv.run(
        *("python", "-c"),
        "import tensorcache; print(tensorcache.__version__, tensorcache.connect().datasets())",
    )
    assert said == f"{release.version} []\n"
    venv.run("tensorcache", "stop")


def test_the_source_package_refuses_without_go_in_one_line(venv: Venv, release: Release) -> None:
    sources = release.dist / f"tensorcache-{release.version}.tar.gz"
    before = venv.files()
    said = venv.run("pip", "install", sources, fails=True)
    assert (
        "Go is missing: this package carries a daemon written in Go; install Go 1.26 or newer "
        "(https://go.dev/dl), or a wheel, which needs none\n"
    ) in said
    assert "Traceback" not in said
    assert venv.files() == before


BUILD = """
import json, platform, sys
import hatchling.build
platform.system = lambda: "Windows"
hatchling.build.build_wheel(sys.argv[1])
"""


def test_the_source_package_refuses_windows_in_one_line(release: Release, tmp_path: Path) -> None:
    with tarfile.open(release.dist / f"tensorcache-{release.version}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path / "out")],
        cwd=tmp_path / f"tensorcache-{release.version}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "tensorcache runs on Linux and macOS, not on Windows; in WSL, install it as on Linux\n"
    )
    assert not list((tmp_path / "out").iterdir())


def test_an_unknown_target_is_refused(tmp_path: Path) -> None:
    env = clean_env(tmp_path / "home", TENSORCACHE_TARGET="plan9-arm")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist"]
    said = run(*build, env=env, cwd=REPOSITORY / "clients" / "python", fails=True)
    assert (
        'TENSORCACHE_TARGET: got "plan9-arm", want one of linux-amd64, linux-arm64, '
        "darwin-arm64, darwin-amd64\n"
    ) in said
    assert "Traceback" not in said


def test_pip_prefers_the_wheel_of_its_machine(venv: Venv, release: Release) -> None:
    report = venv.run(
        *("pip", "install", "--quiet", "--dry-run", "--no-deps", "--report", "-", "tensorcache")
    )
    (chosen,) = json.loads(report)["install"]
    assert os.uname().machine in chosen["download_info"]["url"]
    assert chosen["metadata"]["version"] == release.version
