"""Web servers, good and bad: the staged bytes are those of the file, or the load is refused."""

from __future__ import annotations

import gzip
import random
import re
import traceback
import warnings
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yarl

import tensorcache
from stager import staged_bytes, staging, with_holes
from tensorcache._remote import fetch, requests
from tensorcache._remote import web as web_client
from tensorcache._remote.files import web_source
from tensorcache._remote.problems import RefusedError
from web_server import WebServer

CONTENT = random.Random(7).randbytes(5_000_000)
READS = [(1_000_000, 1_100_000), (3_000_000, 3_000_001), (3_010_000, 3_500_000)]


def basic_auth(word: str) -> Any:
    """The user and password of a session, as fsspec documents it; aiohttp 4 will not have it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return aiohttp.BasicAuth(word, word)


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A cache directory without a daemon."""
    return tmp_path


def stage(home: Path, urls: list[str], **options: Any) -> None:
    with staging(home, urls, **options):
        pass


def refused(home: Path, url: str, **options: Any) -> str:
    with pytest.raises(tensorcache.TensorcacheError) as caught:
        stage(home, [url], **options)
    assert "?" not in str(caught.value)
    return str(caught.value)


def test_only_the_ranges_are_fetched(one: Path, web: WebServer) -> None:
    url = web.add("/a/x.bin", CONTENT)
    with staging(one, [url], READS) as body:
        (origin,) = body["origins"]
        assert staged_bytes(body) == [with_holes(CONTENT, origin["ranges"])]
        assert origin["ranges"] == [list(r) for r in READS]
    asked = 2  # bytes, which tell the version before and after
    assert web.sent == sum(b - a for a, b in READS) + asked
    assert origin["url"] == url
    assert (origin["etag"], origin["size"]) == ('"a"', len(CONTENT))
    assert origin["mtime"] == "2026-06-01T10:00:00Z"
    assert Path(origin["path"]).name == "x.bin"


@pytest.mark.parametrize(
    "mode",
    [
        {},
        {"ranges": False},
        {"etag": False},
        {"etag": False, "modified": False},
        {"ranges": False, "length": False},
        {"pause": 0.01},
        {"status": 500, "times": 2},
        {"status": 429, "times": 2},
        {"cut": 70_000, "times": 2},
        {"ranges": False, "cut": 70_000, "times": 2},
        {"ranges": False, "length": False, "cut": 70_000, "times": 3},
        {"ranges_until": 3},
        {"encoding": "identity"},
        {"weak_after": 2},
        {"weak_after": 1, "ranges": False},
    ],
    ids=str,
)
def test_the_whole_file_is_staged(one: Path, web: WebServer, mode: dict[str, Any]) -> None:
    url = web.add("/x.bin", CONTENT, **mode)
    with staging(one, [url]) as body:
        assert staged_bytes(body) == [CONTENT]
        assert body["origins"][0]["ranges"] == [[0, len(CONTENT)]]


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ({"status": 404}, "not found (status 404)\nhint: check the URL"),
        ({"status": 410}, "not found (status 410)"),
        ({"status": 401}, "access is denied (status 401)\nhint: give the server's credentials"),
        ({"status": 403}, "access is denied (status 403)"),
        ({"status": 500}, "answered with status 500"),
        ({"status": 503}, "answered with status 503"),
        ({"status": 304}, "answered with status 304"),
        ({"cut": 70_000}, "ended its answer too early"),
        ({"cut": 70_000, "ranges": False}, "ended its answer too early"),
        ({"cut": 70_000, "ranges": False, "length": False}, "ended its answer too early"),
        ({"shift": 1}, "ranges without the size"),
        ({"length": False, "chunked": False, "ranges": False}, "names no size"),
        ({"encoding": "gzip"}, "compressed (Content-Encoding: 'gzip')"),
        ({"encoding": "gzip", "ranges": False}, "compressed (Content-Encoding: 'gzip')"),
        ({"change_after": 3}, "the file changed while it was fetched"),
        ({"change_after": 3, "etag": False}, "the file changed while it was fetched"),
        ({"change_after": 1, "ranges": False}, "the file changed while it was fetched"),
        ({"change_after": 2, "ranges": False}, "the file changed while it was fetched"),
    ],
    ids=str,
)
def test_a_bad_server_is_refused(
    one: Path, web: WebServer, mode: dict[str, Any], message: str
) -> None:
    url = web.add("/x.bin", CONTENT, **mode)
    text = refused(one, f"{url}?token=s3cr3t")
    assert message in text
    assert "\nhint: " in text
    assert url in text
    assert "s3cr3t" not in text


@pytest.mark.parametrize("etag", [True, False])
@pytest.mark.parametrize("ranges", [True, False])
def test_a_server_that_no_longer_names_the_version_is_refused(
    one: Path, web: WebServer, ranges: bool, etag: bool
) -> None:
    for after in (1, 2, 3, 4) if ranges else (1, 2):
        mode = {"ranges": ranges, "etag": etag, "change_after": after, "forget_after": after}
        # Each has its own path, because requests of the one before may still arrive.
        url = web.add(f"/{after}.bin", CONTENT, **mode)
        assert "the file changed while it was fetched" in refused(one, url), after


def test_a_range_that_lies_elsewhere_is_refused(one: Path, web: WebServer) -> None:
    url = web.add("/x.bin", CONTENT)

    class Shifted(dict[str, int]):
        def get(self, key: str, default: Any = None) -> Any:
            count = super().get(key, default)
            web.modes[key].shift = int(count > 0)
            return count

    web.counts = Shifted()
    assert "sent another range" in refused(one, url)


@pytest.mark.parametrize("mode", [{}, {"ranges": False}, {"ranges": False, "length": False}])
def test_a_link_that_stops_is_refused_in_time(
    one: Path, web: WebServer, mode: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "STALL_SECONDS", 0.3)
    url = web.add("/x.bin", CONTENT, stop=100_000, **mode)
    assert "the server sent nothing" in refused(one, url)
    size = 10 << 30
    web.modes["/x.bin"] = type(web.modes["/x.bin"])(stop=100_000)
    web.files["/x.bin"] = Huge(size)
    assert "the server sent nothing" in refused(one, url)


class Huge(bytes):
    """A file of 10 GB, of which only what is sent is in memory."""

    def __new__(cls, size: int) -> Huge:
        made = super().__new__(cls)
        made.size = size
        return made

    size: int

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, key: Any) -> bytes:
        start, end, _ = key.indices(self.size)
        return bytes(min(end - start, 8 << 20))


def test_a_disk_without_room_is_refused_before_fetching(
    one: Path, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = web.add("/x.bin", b"")
    web.files["/x.bin"] = Huge(1 << 50)
    with pytest.raises(tensorcache.ResourceError, match=r"need .* bytes .* are free|too large"):
        stage(one, [url])
    assert web.sent < 100


@pytest.mark.parametrize(
    "options",
    [
        {"headers": {"Authorization": "s3cr3t"}},
        {"headers": {"X-Token": "s3cr3t"}},
        {"client_kwargs": {"headers": {"X-Token": "s3cr3t"}}},
        {"client_kwargs": {"auth": basic_auth("s3cr3t")}},
        {"client_kwargs": {"cookies": {"session": "s3cr3t"}}},
        {"cookies": {"session": "s3cr3t"}},
    ],
    ids=str,
)
def test_redirects_to_other_servers_lose_the_credentials(
    one: Path, web: WebServer, options: dict[str, Any]
) -> None:
    web.add("/x.bin", CONTENT)
    web.add("/there", b"", location="/again")
    web.add("/again", b"", location=web.url("/x.bin", "localhost"))
    with staging(one, [web.url("/there?token=1")], options=options) as body:
        assert staged_bytes(body) == [CONTENT]
        assert body["origins"][0]["url"] == web.url("/there")
    secret = ("s3cr3t", "czNjcjN0OnMzY3IzdA==")  # and as the server gets user and password
    for seen in web.seen:
        has = any(word in str(seen) for word in secret)
        assert has == (seen["path"] != "/x.bin"), seen


def test_ten_redirects_are_followed(one: Path, web: WebServer) -> None:
    web.add("/10", CONTENT)
    for number in range(10):
        web.add(f"/{number}", b"", location=f"/{number + 1}")
    with staging(one, [web.url("/0")]) as body:
        assert staged_bytes(body) == [CONTENT]


def test_bad_redirects_are_refused(one: Path, web: WebServer) -> None:
    web.add("/circle", b"", location="/circle")
    assert "redirects more than 10 times" in refused(one, web.url("/circle"))
    web.add("/file", b"", location="file:///etc/passwd")
    assert "redirects to another protocol" in refused(one, web.url("/file"))


def test_https_does_not_become_http() -> None:
    target = yarl.URL("https://user:s3cr3t@host/a/x.bin")
    for location, url in (
        ("y.bin", "https://user:s3cr3t@host/a/y.bin"),
        ("https://host/y.bin", "https://user:s3cr3t@host/y.bin"),
        ("https://other/y.bin", "https://other/y.bin"),
        ("https://host:444/y.bin", "https://host:444/y.bin"),
    ):
        assert str(web_client.redirected(target, location)) == url
    with pytest.raises(RefusedError) as caught:
        web_client.redirected(target, "http://host/y.bin")
    assert caught.value.detail == "the server redirects from https to http"


@pytest.mark.parametrize(
    ("etag", "query", "modified", "date", "told"),
    [
        (None, "", "10:00:00", "10:00:02", True),
        (None, "", "10:00:00", "10:00:01", False),
        (None, "", "10:00:00", "09:00:00", False),
        (None, "?id=1", "10:00:00", "11:00:00", False),
        ('"a"', "?id=1", "10:00:00", "10:00:00", True),
    ],
)
def test_times_that_do_not_tell_versions_apart(
    etag: str | None, query: str, modified: str, date: str, told: bool
) -> None:
    day = "Mon, 01 Jun 2026"
    answer = web_client.Answer(1, True, etag, f"{day} {modified} GMT", f"{day} {date} GMT")
    file = web_source(None, f"http://host/x{query}", answer, 0).files[0]
    assert (file.origin()["mtime"] is not None) == told


@pytest.mark.parametrize("mode", [{"modified": False}, {"young": True}], ids=str)
def test_a_file_without_a_version_is_fetched_by_one_request(
    one: Path, web: WebServer, mode: dict[str, Any]
) -> None:
    url = web.add("/x.bin", CONTENT, etag=False, change_after=2, **mode)
    with staging(one, [url], READS) as body:
        assert staged_bytes(body) == [CONTENT]
    assert len([seen for seen in web.seen if seen.get("Range") != "bytes=0-0"]) == 1


def test_ranges_of_one_time_are_fetched(one: Path, web: WebServer) -> None:
    with staging(one, [web.add("/x.bin", CONTENT, etag=False)], READS) as body:
        assert staged_bytes(body) == [with_holes(CONTENT, body["origins"][0]["ranges"])]
        assert body["origins"][0]["ranges"] == [list(r) for r in READS]


def test_no_range_is_asked_for_after_the_whole_file_is_staged(one: Path, web: WebServer) -> None:
    reads = [(at, at + 1) for at in range(0, len(CONTENT), 10_000)]
    url = web.add("/x.bin", CONTENT, ranges_until=3)
    with staging(one, [url], reads) as body:
        assert staged_bytes(body) == [CONTENT]
    on_the_way = requests.AT_ONCE
    assert len(web.seen) <= 3 + on_the_way + 2  # the whole file, and whether it has changed


def test_the_user_of_a_url_follows_on_its_server(one: Path, web: WebServer) -> None:
    web.add("/x.bin", CONTENT, headers={"Authorization": "Basic dXNlcjpzM2NyM3Q="})
    web.add("/there", b"", location=web.url("/x.bin"))
    with staging(one, [web.url("/there").replace("//", "//user:s3cr3t@")]) as body:
        assert staged_bytes(body) == [CONTENT]


def test_the_bytes_of_a_compressed_file_are_kept(one: Path, web: WebServer) -> None:
    for name, encoding in (("/x.csv.gz", "gzip"), ("/x.csv.zst", "zstd")):
        url = web.add(name, gzip.compress(CONTENT), encoding=encoding)
        with staging(one, [url]) as body:
            assert staged_bytes(body) == [web.files[name]]


def test_credentials_reach_the_server_and_nothing_else(one: Path, web: WebServer) -> None:
    header = {"Authorization": "Basic dXNlcjpzM2NyM3Q="}
    url = web.add("/x.bin", CONTENT, headers=header)
    for given, options in (
        (url.replace("//", "//user:s3cr3t@"), {}),
        (url, {"headers": header}),
        (url, {"client_kwargs": {"headers": header}}),
    ):
        with staging(one, [given], options=options) as body:
            assert staged_bytes(body) == [CONTENT]
            assert body["origins"][0]["url"] == url
            assert "s3cr3t" not in repr(body)
    wrong = url.replace("//", f"//user:{'wr0ng'}@") + f"?key={'wr0ng'}"
    with pytest.raises(tensorcache.SourceError, match="access is denied") as caught:
        stage(one, [wrong])
    error: BaseException = caught.value
    traced = [line for line in traceback.format_exception(error) if 'f"//user' not in line]
    assert "wr0ng" not in "".join(traced)
    while error.__context__ is not None:
        error = error.__context__
        assert "wr0ng" not in repr(error)


def test_no_more_than_a_bound_is_in_memory(
    one: Path, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "QUICK", 60.0)
    limits: list[int] = []
    weights: list[int] = []
    answers = requests.answers

    def watched(made: Any, limit: Any = lambda: 0) -> Any:
        def each() -> Any:
            for request in made:
                weights.append(request.weight)
                yield request

        for answer in answers(each(), limit):
            limits.append(limit())
            yield answer

    monkeypatch.setattr(requests, "answers", watched)
    content = CONTENT * 20
    url = web.add("/x.bin", content)
    with staging(one, [url]) as body:
        assert staged_bytes(body) == [content]
    assert max(weights) <= 8 << 20
    assert max(limits) <= 32 << 20


def test_a_server_that_is_not_there_is_named(one: Path) -> None:
    text = refused(one, "http://127.0.0.1:1/x.csv?token=s3cr3t")
    assert text.startswith('"http://127.0.0.1:1/x.csv": cannot be read: Connection refused')
    assert "the server's name was not found" in refused(one, "http://nowhere.invalid/x.csv?s3cr3t")


def test_options_are_refused_without_their_values(one: Path, web: WebServer) -> None:
    url = web.add("/x.bin", b"x")
    for options, message in (
        ("s3cr3t", "got str, want a mapping"),
        ({1: "s3cr3t"}, "got dict, want a mapping"),
        ({"client_kwargs": "s3cr3t"}, "want a mapping for client_kwargs"),
    ):
        with pytest.raises(tensorcache.SpecError, match=message) as caught:
            stage(one, [url], options=options)
        assert caught.value.field == "storage_options"
        assert "s3cr3t" not in str(caught.value)
    with pytest.raises(tensorcache.SpecError, match=re.escape("URLs of http and memory")):
        stage(one, [url, "memory://x"], options={"a": 1})


def test_what_fetching_shows_rises_to_all(one: Path, web: WebServer) -> None:
    steps: list[dict[str, Any]] = []
    with staging(one, [web.add("/x.bin", CONTENT)], READS, display=steps.append):
        pass
    assert {step["phase"] for step in steps} == {"fetch"}
    assert [step["bytes"] for step in steps] == sorted(step["bytes"] for step in steps)
    assert steps[-1]["bytes"] == steps[-1]["bytes_total"] > 0
    assert steps[-1]["progress"] == 1.0


def test_an_interrupt_leaves_nothing(one: Path, web: WebServer) -> None:
    def stop(job: dict[str, Any]) -> None:
        if job["bytes"] > 1_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stage(one, [web.add("/x.bin", CONTENT, pause=0.01)], display=stop)
