"""What the tests of a release share: its files, and virtual environments without Go."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
SECONDS = 600  # of any command; it bounds what hangs


@dataclass(frozen=True)
class Release:
    """A release that ``make release`` made in a copy of this working tree."""

    version: str
    sources: Path
    targets: tuple[str, ...]

    @property
    def dist(self) -> Path:
        """The folder of its files."""
        return self.sources / "dist"


def targets() -> tuple[str, ...]:
    """The targets of the release: this machine's, and the one that has nothing in common with it.

    ``make test-release`` names all four.
    """
    named = os.environ.get("TENSORCACHE_TEST_TARGETS")
    if named:
        return tuple(named.split())
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    here = f"{os.uname().sysname.lower()}-{machine}"
    pairs = (("linux-amd64", "darwin-arm64"), ("linux-arm64", "darwin-amd64"))
    return next(pair for pair in pairs if here in pair)


def run(*words: str | Path, env: dict[str, str], cwd: Path, fails: bool = False) -> str:
    """Run a command and return what it printed on both streams; fail if it ends otherwise."""
    done = subprocess.run(
        [str(word) for word in words],
        env=env,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    if (done.returncode != 0) != fails:
        pytest.fail(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def clean_env(home: Path, **more: str) -> dict[str, str]:
    """The environment of a user with this home directory, and no setting of TensorCache or pip."""
    unwanted = ("TENSORCACHE_", "PIP_", "UV_", "XDG_", "PYTHON", "VIRTUAL_ENV", "MAKE", "MFLAGS")
    env = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
    kept = ("PIP_CERT", "PIP_DEFAULT_TIMEOUT", "TENSORCACHE_TEST_RUN")
    env |= {k: v for k, v in os.environ.items() if k in kept}
    home.mkdir(exist_ok=True)
    return {**env, "HOME": str(home), "TENSORCACHE_DIR": str(home / "cache"), **more}


def path_without_go(folder: Path) -> str:
    """``$PATH`` without Go and tensorcache.

    A directory that has one of them, as ``/usr/bin`` may, is replaced by links to its other files,
    in ``folder``.
    """
    unwanted = ("go", "gofmt", "tensorcache")
    directories = []
    for directory in os.environ["PATH"].split(os.pathsep):
        if any(shutil.which(name, path=directory) for name in unwanted):
            links = folder / str(len(directories))
            links.mkdir(parents=True)
            for path in Path(directory).iterdir():
                if path.name not in unwanted:
                    (links / path.name).symlink_to(path)
            directory = str(links)
        directories.append(directory)
    return os.pathsep.join(directories)


class Venv:
    """A fresh virtual environment that finds packages in given folders only, and no Go."""

    def __init__(self, folder: Path, *packages: Path) -> None:
        self.folder = folder
        self.home = folder.with_name(folder.name + "-home")
        self.bin = folder / "bin"
        links = " ".join(map(str, packages))
        others = path_without_go(folder.with_name(folder.name + "-path"))
        path = f"{self.bin}{os.pathsep}{others}"
        assert shutil.which("go", path=path) is None
        self.env = clean_env(self.home, PATH=path, PIP_NO_INDEX="1", PIP_FIND_LINKS=links)
        self.env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
        run(sys.executable, "-m", "venv", folder, env=self.env, cwd=folder.parent)

    def run(self, *words: str | Path, fails: bool = False, **env: str) -> str:
        """Run a command that lies in the environment, in its parent directory."""
        command = [self.bin / words[0], *words[1:]]
        return run(*command, env={**self.env, **env}, cwd=self.folder.parent, fails=fails)

    def start(self, *words: str | Path, **options: Any) -> subprocess.Popen[str]:
        """Start a command that lies in the environment."""
        command = [str(self.bin / words[0]), *map(str, words[1:])]
        return subprocess.Popen(command, env=self.env, cwd=self.folder.parent, text=True, **options)

    def stop_daemon(self) -> None:
        """Stop the user's daemon, if one runs."""
        if (self.bin / "tensorcache").exists():
            self.run("tensorcache", "stop")

    def files(self) -> set[str]:
        """All files and folders of the environment, and of its user's home directory."""
        return {str(path) for top in (self.folder, self.home) for path in top.rglob("*")}


def go_env(home: Path, **more: str) -> dict[str, str]:
    """The environment of a user with Go, whose caches of builds and modules are this machine's."""
    names = ["GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB"]
    values = run("go", "env", *names, env=dict(os.environ), cwd=REPOSITORY).splitlines()
    return clean_env(home, **dict(zip(names, values, strict=True)), **more)


def copy_of_sources(folder: Path) -> Path:
    """Copy what git knows, and new files that it does not ignore, into a repository of its own."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = run(*listed, env=dict(os.environ), cwd=REPOSITORY).split("\0")
    for name in filter(None, names):
        if (REPOSITORY / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, folder / name, follow_symlinks=False)
    git(folder, "init", "--quiet")
    # The tools of make, which are newer than what they are made of: a copy installs nothing.
    (folder / Path(sys.prefix).name).symlink_to(sys.prefix)
    for path in (folder / "clients" / "python").glob("*.txt"):
        os.utime(path, (0, 0))
    (folder / ".git" / "info" / "exclude").write_text("/.venv*\n")
    return folder


def raise_version(folder: Path) -> str:
    """Raise the last number of the version of a copy, with its entry in the changelog."""
    module = folder / "clients/python/src/tensorcache/_version.py"
    found = re.search(r'__version__ = "(\d+)\.(\d+)\.(\d+)"', module.read_text())
    assert found is not None
    old = ".".join(found.groups())
    new = f"{found[1]}.{found[2]}.{int(found[3]) + 1}"
    for path in (module, folder / "cmd/tensorcache/main.go"):
        text = path.read_text()
        assert f'version__ = "{old}"' in text or f'var version = "{old}"' in text, path
        path.write_text(text.replace(f'"{old}"', f'"{new}"', 1))
    changelog = folder / "CHANGELOG.md"
    first, _, rest = changelog.read_text().partition("\n## ")
    changelog.write_text(f"{first}\n## {new}\n\n- [FIX] A line of the notes.\n\n## {rest}")
    return new


def commit(folder: Path, date: str) -> None:
    """Commit all of a copy, at a date."""
    git(folder, "add", "--all")
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    git(folder, *who, "commit", "--quiet", "-m", "Release", date=date)


def git(folder: Path, *words: str, date: str = "") -> str:
    """Run git in a folder."""
    env = dict(os.environ)
    if date:
        env |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    return run("git", *words, env=env, cwd=folder)


def previous_release(repository: Path) -> tuple[str, str]:
    """Version and commit of the newest release; fails if this clone does not have the commit."""
    listed = run(
        sys.executable,
        "internal/release/release.py",
        "previous",
        env=dict(os.environ),
        cwd=repository,
    )
    version, revision = listed.split()
    known = subprocess.run(
        ["git", "cat-file", "-e", f"{revision}^{{commit}}"],
        cwd=repository,
        capture_output=True,
        check=False,
    )
    if known.returncode != 0:
        pytest.fail(
            f"this clone lacks commit {revision}, of release {version} in docs/releases.md; if it "
            "is shallow: git fetch --unshallow"
        )
    return version, revision
