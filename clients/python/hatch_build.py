"""Builds the Go daemon and puts it into the wheel's scripts, beside the package that starts it.

The wheel is ``py3-none-<platform>``: pure Python plus one static binary, for every CPython.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GoBinary(BuildHookInterface):  # type: ignore[type-arg]
    """Runs ``go build ./cmd/tensorcache`` in the repository that this package lies in."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the binary and name it as a shared script, for standard and editable wheels."""
        self._scratch = tempfile.mkdtemp(prefix="tensorcache-build-")
        binary = Path(self._scratch, "tensorcache")
        build(Path(self.root).resolve().parent.parent, binary)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"
        build_data["shared_scripts"][str(binary)] = "tensorcache"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the build left in the system's temporary directory."""
        shutil.rmtree(self._scratch, ignore_errors=True)


def build(repository: Path, binary: Path) -> None:
    """Compile the daemon of ``repository`` to ``binary``, static, mode 0755."""
    if not (repository / "cmd" / "tensorcache").is_dir():
        raise SystemExit(
            f'the Go sources are not there: no "{repository}/cmd/tensorcache"\n'
            "hint: install from a clone of the repository (pip install ./clients/python), with pip "
            "21.3 or newer"
        )
    go = shutil.which("go")
    if go is None:
        raise SystemExit(
            "Go is missing: this package carries a daemon written in Go\nhint: https://go.dev/dl, "
            "1.26 or newer"
        )
    command = [
        go,
        "build",
        "-trimpath",
        "-ldflags",
        "-s -w",
        "-o",
        str(binary),
        "./cmd/tensorcache",
    ]
    done = subprocess.run(
        command,
        cwd=repository,
        env={**os.environ, "CGO_ENABLED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed in {repository}:\n{done.stderr}")
    binary.chmod(0o755)


def platform_tag() -> str:
    """The wheel's platform: this machine's, as pip writes it."""
    return re.sub(r"[^0-9a-zA-Z_]", "_", sysconfig.get_platform())
