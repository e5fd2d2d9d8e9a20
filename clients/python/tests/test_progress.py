"""Progress of loads, as a terminal and a notebook show it."""

from __future__ import annotations

import io
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import tensorcache
from tensorcache._daemon import progress

pytestmark = pytest.mark.portable


class Terminal(io.StringIO):
    """Standard error that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n2\n")
    return path


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show progress of short loads too."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)


@pytest.fixture
def without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, load: Any, **options: Any) -> str:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        load(**options)
    return stream.getvalue()


@pytest.mark.usefixtures("soon", "without_tqdm")
def test_a_person_sees_it_and_a_log_does_not(
    cache: tensorcache.Cache, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(**options: Any) -> None:
        cache.load("seen", file, **options)

    def text(stream: io.StringIO, **options: Any) -> str:
        return shown(monkeypatch, stream, load, **options)

    assert 'load "seen": done after' in text(Terminal())
    assert text(Terminal(), progress=False) == ""
    assert text(io.StringIO()) == ""
    assert 'load "seen": done after' in text(io.StringIO(), progress=True)
    jobs: list[dict[str, Any]] = []
    assert text(Terminal(), progress=jobs.append) == ""
    assert jobs[-1]["state"] == "done"
    shell = types.SimpleNamespace(kernel=object())
    ipython = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert 'load "seen": done after' in text(io.StringIO())


@pytest.mark.usefixtures("soon")
def test_tqdm_draws_it_if_it_is_installed(
    cache: tensorcache.Cache, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(monkeypatch, Terminal(), lambda: cache.load("bar", file))
    assert 'load "bar": 100%' in text


@pytest.mark.usefixtures("without_tqdm")
def test_a_short_load_shows_nothing(
    cache: tensorcache.Cache, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "QUIET_SECONDS", 60.0)
    assert shown(monkeypatch, Terminal(), lambda: cache.load("short", file, progress=True)) == ""


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("bar", [False, True])
def test_showing_never_fails_a_load(
    cache: tensorcache.Cache, file: Path, monkeypatch: pytest.MonkeyPatch, bar: bool
) -> None:
    if not bar:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    closed = Terminal()
    closed.close()
    with monkeypatch.context() as patch:
        for stream in (closed, None):
            patch.setattr(sys, "stderr", stream)
            assert len(cache.load("unseen", file, progress=True)) == 2
            assert len(cache.load("unseen", file)) == 2


@pytest.mark.usefixtures("soon", "without_tqdm")
def test_a_failed_load_says_so(
    cache: tensorcache.Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1\n")

    def load() -> None:
        with pytest.raises(tensorcache.SourceError):
            cache.load("failed", path)

    assert 'load "failed": failed after' in shown(monkeypatch, Terminal(), load)


def test_another_value_is_refused(cache: tensorcache.Cache, file: Path) -> None:
    with pytest.raises(tensorcache.SpecError, match='progress: got "yes", want True'):
        cache.load("refused", file, progress="yes")  # type: ignore[typeddict-item]
    assert "refused" not in [d["dataset"] for d in cache.datasets()]
