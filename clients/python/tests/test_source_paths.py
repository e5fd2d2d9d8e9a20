"""Paths of sources, recipes and the cache: the home directory is found, and URLs are named."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

import tensorcache

URLS = ["https:/example.com/x.csv", "file:///tmp/x.csv"]


@pytest.mark.parametrize("url", URLS)
def test_a_url_is_named_as_one(cache: tensorcache.Cache, url: str) -> None:
    for sources in (url, [url], Path(url)):
        with pytest.raises(tensorcache.SourceError, match="got the URL") as caught:
            cache.load("frame", sources)
        assert caught.value.field == "sources"
        assert caught.value.hint


def test_the_slashes_of_a_url_are_shown(cache: tensorcache.Cache) -> None:
    with pytest.raises(tensorcache.SourceError, match=r'"file:///tmp/x\.csv"'):
        cache.load("frame", "file:///tmp/x.csv")


def test_options_do_not_hide_that_a_path_is_a_url(cache: tensorcache.Cache) -> None:
    with pytest.raises(tensorcache.SourceError, match="got the URL") as caught:
        cache.load("frame", Path("s3://prices/a.csv"), storage_options={"anon": True})
    assert caught.value.hint == "give a URL as text, with two slashes and one protocol"


def test_an_open_file_is_refused(cache: tensorcache.Cache, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n")
    with (tmp_path / "x.csv").open() as text, (tmp_path / "x.csv").open("rb") as binary:
        for sources in (text, binary, [text], io.BytesIO(b"a\n1\n")):
            for read in (cache.load, cache.append):
                with pytest.raises(tensorcache.SpecError, match="got an open file") as caught:
                    read("frame", sources)
                assert "path" in caught.value.hint


def test_chained_protocols_are_refused(cache: tensorcache.Cache) -> None:
    with pytest.raises(tensorcache.SourceError, match="got the URL") as caught:
        cache.load("frame", "simplecache::s3://user:s3cr3t@bucket/x.csv")
    assert "one protocol" in caught.value.hint
    assert "s3cr3t" not in str(caught.value)


def test_names_that_are_not_utf8_are_refused(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"a\xff.csv")
    try:
        path.write_text("v\n1\n")
    except OSError:
        pytest.skip("the file system has only names that are UTF-8")
    for sources in (path, str(path), tmp_path / "*.csv"):
        with pytest.raises(tensorcache.SourceError, match="the name is not UTF-8") as caught:
            cache.load("odd", sources)
        assert caught.value.hint.startswith("rename it")
    with pytest.raises(
        tensorcache.SourceError, match=r'holds "a\\xff.csv", a name that is not UTF-8'
    ):
        cache.load("odd", tmp_path)


def test_the_home_directory_is_found(
    cache: tensorcache.Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x.csv").write_text("a\n1\n2\n4\n")
    (tmp_path / "recipe.json").write_text('{"scale": "standard"}')
    for path in ("~/x.csv", "~/x*.csv", Path("~/x.csv")):
        assert len(cache.load("home", path, recipe="~/recipe.json")["a"]) == 3
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tensorcache.DaemonError, match=str(tmp_path / "cache")):
        tensorcache.connect("~/cache", autostart=False)
    assert not Path("~").exists()
