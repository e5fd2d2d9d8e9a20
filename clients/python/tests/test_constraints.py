"""``make constraints`` has pinned all that the tests install, so that a commit gets the same packages."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CLIENT = Path(__file__).parents[1]
BENCH = CLIENT.parents[1] / "bench"
OF_PEERS = {"requirements-build.txt", "requirements-test.txt", "requirements-peers.txt"}


def requirements(path: Path) -> list[Requirement]:
    """The requirements in a file of pip."""
    lines = path.read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and line.lstrip()[0] != "#"]


@pytest.mark.parametrize("constraints", ["constraints.txt", "constraints-peers.txt"])
def test_constraints_pin_what_is_required(constraints: str) -> None:
    pinned: dict[str, list[str]] = {}
    for requirement in requirements(CLIENT / constraints):
        (one,) = requirement.specifier
        assert one.operator == "==", requirement
        pinned.setdefault(canonicalize_name(requirement.name), []).append(one.version)
    files = {path for folder in (CLIENT, BENCH) for path in folder.glob("requirements-*.txt")}
    if constraints == "constraints-peers.txt":
        files = {path for path in files if path.name in OF_PEERS}
    else:
        files = {path for path in files if path.name != "requirements-peers.txt"}
    assert len(files) >= 3
    for path in files:
        for requirement in requirements(path):
            versions = pinned.get(canonicalize_name(requirement.name), [])
            assert versions, f"{path.name}: {requirement}: run make constraints"
            assert all(version in requirement.specifier for version in versions), (
                f"{path.name}: {requirement} does not allow {versions}: run make constraints"
            )
