"""The path of the daemon's binary."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from .._errors import DaemonError

NAME = "tensorcache"


def find_binary() -> str:
    """The path of the ``tensorcache`` binary.

    It is ``$TENSORCACHE_BIN`` if that is set. Else it is searched for where pip and uv install a
    wheel's scripts, then in ``$PATH``.

    Raises:
        DaemonError: there is none; the message lists the places.
    """
    named = os.environ.get("TENSORCACHE_BIN")
    if named:
        if is_executable(named):
            return str(Path(named).absolute())
        raise DaemonError(
            f'TENSORCACHE_BIN names "{named}", which is no executable file', type="binary_not_found"
        )
    tried: list[str] = []
    for folder in scripts():
        candidate = str(Path(folder, NAME))
        if candidate not in tried:
            if is_executable(candidate):
                return candidate
            tried.append(candidate)
    found = shutil.which(NAME)
    if found:
        return found
    raise DaemonError(
        f"the daemon's binary is missing: no {', '.join(tried)}, and no {NAME} in PATH",
        type="binary_not_found",
        hint="pip install tensorcache carries it; or set TENSORCACHE_BIN to the one you built",
    )


def scripts() -> Iterator[str]:
    """The scripts directories this package may have been installed with, nearest first."""
    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", vars={"base": sys.base_prefix})
    package = Path(__file__).resolve().parents[1]
    # --prefix DIR puts the package at DIR/lib/python3.x/site-packages, --target DIR at DIR itself.
    if package.parent.name in ("site-packages", "dist-packages") and len(package.parents) > 3:
        yield str(package.parents[3] / "bin")
    yield str(package.parent / "bin")
    yield sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user"))


def is_executable(path: str) -> bool:
    """Reports whether this process may run the file ``path``."""
    return Path(path).is_file() and os.access(path, os.X_OK)
