"""The Go module as its tag would publish it: from a proxy of files, made of a release's commit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from installs import REPOSITORY, Release, git, go_env, run

MODULE = "github.com/tensorcache/tensorcache"
PROGRAM = f"""
package main

import (
	"context"
	"fmt"
	"os"

	tensorcache "{MODULE}/clients/go"
)

func main() {{
	ctx := context.Background()
	cache, err := tensorcache.Connect(ctx, tensorcache.Options{{}})
	if err != nil {{
		panic(err)
	}}
	options := tensorcache.LoadOptions{{Time: "date"}}
	data, err := cache.Load(ctx, "etth1", os.Args[1:], options)
	if err != nil {{
		panic(err)
	}}
	fmt.Println(data.Rows())
}}
"""


@pytest.fixture(scope="module")
def go(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a user whose Go finds the release, and what this machine has fetched."""
    folder = tmp_path_factory.mktemp("go")
    env = go_env(folder / "home")
    run(
        *["go", "run", "./modproxy", "-repository", release.sources, "-commit", "HEAD"],
        *["-version", f"v{release.version}", "-out", folder / "proxy"],
        env=dict(os.environ),
        cwd=REPOSITORY / "internal" / "release",
    )
    # A module cache of its own: the release must not stay in this machine's.
    fetched = Path(env["GOMODCACHE"], "cache", "download")
    proxies = [(folder / "proxy").as_uri(), fetched.as_uri(), env["GOPROXY"]]
    env |= {"GOPROXY": ",".join(proxies), "GOMODCACHE": str(folder / "modules")}
    env |= {"GONOSUMDB": MODULE, "GOBIN": str(folder / "bin")}
    # With -trimpath the packages of libraries are those that the wheels are built of.
    env |= {"GOFLAGS": "-trimpath -modcacherw", "CGO_ENABLED": "0"}
    yield env
    stop = [folder / "bin" / "tensorcache", "stop"]
    subprocess.run(stop, env=env, check=False, timeout=60)


@pytest.fixture(scope="module")
def binary(go: dict[str, str], release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The daemon, as ``go install`` makes it."""
    package = f"{MODULE}/cmd/tensorcache@v{release.version}"
    run("go", "install", package, env=go, cwd=tmp_path_factory.mktemp("install"))
    return Path(go["GOBIN"], "tensorcache")


def test_go_install_makes_the_command_line(
    binary: Path, go: dict[str, str], release: Release, tmp_path: Path
) -> None:
    said = run(binary, "version", env=go, cwd=tmp_path)
    assert said.startswith(f"tensorcache {release.version} (")
    built = run("go", "version", "-m", binary, env=go, cwd=tmp_path)
    assert f"\tmod\t{MODULE}\tv{release.version}\t" in built


def test_a_users_module_requires_the_client(
    binary: Path, go: dict[str, str], release: Release, tmp_path: Path
) -> None:
    (tmp_path / "main.go").write_text(PROGRAM)
    run("go", "mod", "init", "example.org/user", env=go, cwd=tmp_path)
    run("go", "get", f"{MODULE}/clients/go@v{release.version}", env=go, cwd=tmp_path)
    assert f"{MODULE} v{release.version}" in (tmp_path / "go.mod").read_text()
    data = REPOSITORY / "examples" / "data" / "ETTh1.csv"
    path = f"{binary.parent}{os.pathsep}{go['PATH']}"
    said = run("go", "run", ".", data, env={**go, "PATH": path}, cwd=tmp_path)
    assert said.splitlines()[-1] == "17420"


def test_the_modules_zip_has_what_git_has_of_the_module(
    go: dict[str, str], binary: Path, release: Release
) -> None:
    folder = Path(go["GOMODCACHE"], *MODULE.split("/")).with_name(f"tensorcache@v{release.version}")
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    known = set(git(release.sources, "ls-files").splitlines())
    left_out = known - found
    assert found <= known
    assert all(name.startswith("internal/release/") for name in left_out), left_out
