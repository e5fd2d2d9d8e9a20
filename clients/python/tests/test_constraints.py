"""The constraints have one version of each required package for every Python of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

tomllib = pytest.importorskip("tomllib", reason="needs Python 3.11, as make constraints")

CLIENT = Path(__file__).parents[1]
BENCH = CLIENT.parents[1] / "bench"
OF_PEERS = {"requirements-build.txt", "requirements-test.txt", "requirements-peers.txt"}
PYTHONS = ["3.11", "3.12", "3.13"]


def lines(path: Path) -> Iterator[Requirement]:
    """The requirements in a file of pip."""
    for line in path.read_text("utf-8").splitlines():
        if line and line.lstrip()[0] != "#":
            yield Requirement(line)


def of_project() -> Iterator[Requirement]:
    """The requirements of the client: to build it, to run it, and its extras."""
    project = tomllib.loads((CLIENT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    for group in (project["build-system"]["requires"], project["project"]["dependencies"], *extras):
        yield from map(Requirement, group)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("constraints", ["constraints.txt", "constraints-peers.txt"])
def test_constraints_pin_what_is_required(constraints: str, python: str) -> None:
    environment = {
        **default_environment(),
        "python_version": python,
        "python_full_version": f"{python}.0",
    }
    pinned: dict[str, str] = {}
    for pin in lines(CLIENT / constraints):
        if pin.marker is None or pin.marker.evaluate(environment):
            (one,) = pin.specifier
            assert one.operator == "==", pin
            assert canonicalize_name(pin.name) not in pinned
            pinned[canonicalize_name(pin.name)] = one.version
    files = {path for folder in (CLIENT, BENCH) for path in folder.glob("requirements-*.txt")}
    of_peers = constraints == "constraints-peers.txt"
    required = [] if of_peers else [("pyproject.toml", one) for one in of_project()]
    for path in files:
        if path.name in OF_PEERS if of_peers else path.name != "requirements-peers.txt":
            required += [(path.name, one) for one in lines(path)]
    assert len({name for name, _ in required}) >= 3
    for name, requirement in required:
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"{name}: {requirement}: run make constraints"
        assert version in requirement.specifier, (
            f"{name}: {requirement}: {version} is pinned: run make constraints"
        )
