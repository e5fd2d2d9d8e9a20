"""Builds the Go daemon and puts it into the wheel's scripts, beside the package that starts it.

A wheel is ``py3-none-<platform>``: pure Python plus one static binary, for every CPython. It is
built for this machine, or for ``$TENSORCACHE_TARGET``: one of ``TARGETS``. The source package
carries the Go sources that the binary is made of, in the folder ``go``.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# A static binary needs neither glibc nor musl, so one wheel serves both; musllinux_1_2 systems take
# musllinux_1_1 too. 12.0 is the deployment target that Go 1.26 writes into the binary; the tests
# compare the two.
TARGETS = {
    "linux-amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux-arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin-arm64": "macosx_12_0_arm64",
    "darwin-amd64": "macosx_12_0_x86_64",
}

# The terms of the libraries in the binary, most of which ask that a binary comes with them.
LICENSES = "THIRD_PARTY_LICENSES.txt"
IS_LICENSE = re.compile(r"(?i)(licen[cs]e|copying|notice|patents)(\W.*)?$")

# Settings that change the bytes of a binary; releases are built with their defaults.
DEFAULTS = {"GOFLAGS": "", "GOAMD64": "v1", "GOARM64": "v8.0", "GOEXPERIMENT": "", "GOFIPS140": ""}


class GoBinary(BuildHookInterface):  # type: ignore[type-arg]
    """Runs ``go build ./cmd/tensorcache``, or collects the Go sources for the source package."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the binary as a shared script, or the sources as files of the source package."""
        refuse_windows()
        repository = go_sources(Path(self.root).resolve())
        if self.target_name == "sdist":
            for path in module_files(repository):
                build_data["force_include"][str(repository / path)] = f"go/{path}"
            return
        target = os.environ.get("TENSORCACHE_TARGET") or this_target()
        self._scratch = tempfile.mkdtemp(prefix="tensorcache-build-")
        binary = Path(self._scratch, "tensorcache")
        try:
            build(repository, binary, target)
            licenses = Path(self._scratch, LICENSES)
            licenses.write_text(licenses_of(repository, target), "utf-8")
        except BaseException:
            self.finalize(version, build_data, "")  # hatchling calls it only after a success
            raise
        build_data["force_include"][str(licenses)] = f"tensorcache/{LICENSES}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TARGETS[target] if target else native_tag()}"
        build_data["shared_scripts"][str(binary)] = "tensorcache"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the build left in the system's temporary directory."""
        if self.target_name != "sdist":
            shutil.rmtree(self._scratch, ignore_errors=True)


def refuse_windows() -> None:
    """Refuse an installation on Windows, in one line."""
    if platform.system() == "Windows":
        raise SystemExit(
            "tensorcache runs on Linux and macOS, not on Windows; in WSL, install it as on Linux"
        )


def go_sources(root: Path) -> Path:
    """Return the folder of ``go.mod``: of the source package, or of the clone around ``root``."""
    for folder in (root / "go", root.parent.parent):
        if (folder / "cmd" / "tensorcache").is_dir():
            return folder
    raise SystemExit(
        f'the Go sources are not there: no "{root}/go" and no "{root.parent.parent}/cmd"; install '
        "from a clone of the repository (pip install ./clients/python), with pip 21.3 or newer"
    )


def module_files(repository: Path) -> list[str]:
    """Return what a build of the binary reads for any target, below ``repository``; no tests."""
    files = {"go.mod", "go.sum", "LICENSE"}
    for target in TARGETS:
        for package in packages(repository, target):
            if package.get("Module", {}).get("Main"):
                folder = Path(package["Dir"]).relative_to(repository)
                for kind in ("GoFiles", "SFiles", "HFiles", "EmbedFiles"):
                    files.update((folder / name).as_posix() for name in package.get(kind, []))
    return sorted(files)


def packages(repository: Path, target: str | None) -> list[dict[str, Any]]:
    """Return the packages that the binary of a target is made of, as ``go list`` prints them."""
    fields = "Dir,Module,GoFiles,SFiles,HFiles,EmbedFiles"
    out = run_go(repository, target, "list", "-deps", f"-json={fields}", "./cmd/tensorcache")
    found, place, decoder = [], 0, json.JSONDecoder()
    while place < len(out):
        package, place = decoder.raw_decode(out, place)
        found.append(package)
        place += 1  # the newline between two packages
    return found


def licenses_of(repository: Path, target: str | None) -> str:
    """Return the licences of Go's library and of each module in the binary of a target."""
    modules = [package.get("Module", {}) for package in packages(repository, target)]
    folders = {f"{m['Path']} {m['Version']}": Path(m["Dir"]) for m in modules if "Version" in m}
    folders["Go"] = Path(run_go(repository, target, "env", "GOROOT").strip())
    parts = []
    for name, folder in sorted(folders.items()):
        files = [path for path in sorted(folder.iterdir()) if IS_LICENSE.match(path.name)]
        if not files:
            if name != "Go":
                raise SystemExit(f"{name}: no licence was found in {folder}")
            continue  # distributions of Linux keep Go's elsewhere
        for path in files:
            text = path.read_text("utf-8", "replace").strip()
            parts.append(f"==== {name}: {path.name}\n\n{text}\n")
    return "\n".join(parts)


def build(repository: Path, binary: Path, target: str | None) -> None:
    """Compile the daemon of ``repository`` to ``binary``, static, mode 0755."""
    # No path, commit or identifier of this build: the same sources give the same bytes.
    reproducible = ["-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid="]
    run_go(repository, target, "build", *reproducible, "-o", str(binary), "./cmd/tensorcache")
    binary.chmod(0o755)


def run_go(repository: Path, target: str | None, *arguments: str) -> str:
    """Run ``go`` in ``repository`` for a target, or for this machine, and return its output."""
    go = shutil.which("go")
    if go is None:
        raise SystemExit(
            "Go is missing: this package carries a daemon written in Go; install Go 1.26 or newer "
            "(https://go.dev/dl), or a wheel, which needs none"
        )
    env = {**os.environ, "CGO_ENABLED": "0"}
    if target:
        if target not in TARGETS:
            raise SystemExit(
                f'TENSORCACHE_TARGET: got "{target}", want one of {", ".join(TARGETS)}'
            )
        system, machine = target.split("-")
        env.update(DEFAULTS, GOOS=system, GOARCH=machine, GOWORK="off")
    done = subprocess.run(
        [go, *arguments], cwd=repository, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"go {' '.join(arguments)} failed in {repository}:\n{done.stderr}")
    return done.stdout


def this_target() -> str | None:
    """Return the target of this machine's Python, or None for one that has no release."""
    system, _, machine = sysconfig.get_platform().partition("-")
    if system == "macosx":
        machine = machine.rpartition("-")[2]
        machine = platform.machine() if machine == "universal2" else machine
    wanted = {"linux": "linux", "macosx": "darwin"}.get(system, system)
    named = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)
    return f"{wanted}-{named}" if f"{wanted}-{named}" in TARGETS else None


def native_tag() -> str:
    """Return the wheel's platform on a machine without a target, as pip writes it."""
    return re.sub(r"[^0-9a-zA-Z_]", "_", sysconfig.get_platform())
