"""A client that is newer than the daemon that runs, as after pip install --upgrade."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tensorcache


@pytest.fixture
def call_itself(home: Path, cache: tensorcache.Cache) -> Iterator[Callable[[str], None]]:
    """Makes the daemon of this module say that it is of another version."""
    file = home / "daemon.json"
    said = file.read_text()

    def write(version: str) -> None:
        file.write_text(json.dumps({**json.loads(said), "version": version}))

    yield write
    file.write_text(said)


@pytest.mark.parametrize("version", ["0.0.9", "0.0.10", "0.0.9+0123456789ab"])
def test_connect_warns_of_an_older_daemon_and_uses_it(
    home: Path, call_itself: Callable[[str], None], version: str
) -> None:
    call_itself(version)
    with pytest.warns(UserWarning, match="before the upgrade") as caught:
        cache = tensorcache.connect()
    assert str(caught[0].message) == (
        f'the daemon of "{home}" is tensorcache {version}, this client {tensorcache.__version__}: '
        "it was started before the upgrade, and goes on\n"
        "hint: end it with tensorcache stop when no trainer needs it; the next client starts the "
        "new one"
    )
    assert caught[0].filename == __file__
    assert cache.datasets() == []


def test_connect_says_nothing_of_the_same_or_a_newer_daemon(
    call_itself: Callable[[str], None],
) -> None:
    first = int(re.findall(r"^\d+", tensorcache.__version__)[0])
    for version in (tensorcache.__version__, f"{first + 1}.0.0", f"{first + 10}.0.0+0123456789ab"):
        call_itself(version)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tensorcache.connect()
