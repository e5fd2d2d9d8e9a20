"""No message shows what of a URL may be secret, and every shown URL is one the daemon takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import examples
from tensorcache._remote.urls import check_url, object_url, shown

SECRET = "s3cr3t"

CASES = {
    "https://host/x.csv": "https://host/x.csv",
    "HTTPS://host:8443/a/b%20c.csv": "https://host:8443/a/b%20c.csv",
    f"https://user:{SECRET}@host/x.csv": "https://host/x.csv",
    f"https://{SECRET}@host/x.csv?v=1": "https://host/x.csv",
    f"https://user:a@{SECRET}@host/x": "https://host/x",
    f"https://host/x?token={SECRET}#{SECRET}": "https://host/x",
    f"https://host/x#{SECRET}?y": "https://host/x",
    f"https://host?{SECRET}": "https://host",
    f"https://host/x;jsessionid={SECRET}": "https://host/x",
    f"https://user:p/{SECRET}@host/x": "https://…",
    f"https://user:12/{SECRET}@host/x": "https://…",
    f"https://user:12?{SECRET}@host/x": "https://…",
    f"https://user:p?{SECRET}@host/x": "https://…",
    f"https://user:p#{SECRET}@host/x": "https://…",
    f"https:\\\\user:{SECRET}@host\\x": "…",
    f"https:/user:{SECRET}@host/x": "https://host/x",
    f"https:////user:{SECRET}@host/x": "https://host/x",
    f"https://user:{SECRET} @host/x": "https://host/x",
    "https://[::1]:80/x": "https://[::1]:80/x",
    "file:///tmp/x.csv": "file:///tmp/x.csv",
    "file:/tmp/x.csv": "file:///tmp/x.csv",
    "file://host/x.csv": "file://host/x.csv",
    f"http:///x.csv?{SECRET}": "http:///x.csv",
    "https://unpkg.com/pkg@1.0/x.csv": "https://unpkg.com/pkg@1.0/x.csv",
    "hf://datasets/org/name@main/x.parquet": "hf://datasets/org/name@main/x.parquet",
    "abfs://box@account.dfs.core.windows.net/a": "abfs://account.dfs.core.windows.net/box/a",
    "s3://b/x;y.parquet": "s3://b/x;y.parquet",
    "https://host/a\nb\x1b[2J": "https://host/a%0Ab%1B[2J",
    "https://host/50%": "https://host/50%25",
    f"simplecache::https://user:{SECRET}@host/x": "…",
    SECRET: "…",
    "": "…",
}


@pytest.mark.parametrize("url", CASES)
def test_a_shown_url_has_no_secret(url: str) -> None:
    assert shown(url) == CASES[url]
    assert SECRET not in shown(url)


@given(
    st.sampled_from(["http", "https", "s3", "hf"]),
    st.text("ab:@/?#;%\\ .[]", max_size=12),
    st.text("ab:@/?#;%\\ .[]", max_size=12),
)
@examples(100)
def test_a_password_or_query_is_never_shown(protocol: str, before: str, after: str) -> None:
    assert SECRET not in shown(f"{protocol}://user:{SECRET}@host/x")
    assert SECRET not in shown(f"{protocol}://{before}?{SECRET}{after}")
    assert SECRET not in shown(f"{protocol}://{before}#{SECRET}{after}")
    assert SECRET not in shown(f"{protocol}:///user:{SECRET}{after}@host")
    assert SECRET not in shown(f"{protocol}://user:{SECRET}{after}@host")
    assert SECRET not in shown(f"{protocol}://user:{before}{SECRET}@host/{after}")


@given(st.text(min_size=1), st.text())
@examples(100)
def test_names_of_objects_differ_in_their_urls(a: str, b: str) -> None:
    names = {a.lstrip("/"), b.lstrip("/")}
    urls = {object_url("s3", f"bucket/{name}") for name in names}
    assert len(urls) == len({n.encode("utf-8", "replace") for n in names})
    assert not any(set("?#") & set(url) for url in urls)


@pytest.mark.parametrize("protocol", ["s3", "gs", "az", "hf", "ftp", "memory"])
@pytest.mark.parametrize("query", ["?a={}", "?X-Amz-Date=1&b={}", "?{}=", "?versionId=1&a={}"])
def test_a_query_of_a_protocol_without_one_is_refused(protocol: str, query: str) -> None:
    with pytest.raises(tensorcache.SourceError, match=f"{protocol} URLs have no query") as caught:
        check_url(f"{protocol}://box/x.csv{query.format(SECRET)}")
    assert SECRET not in str(caught.value)
    assert "storage_options" in caught.value.hint


@pytest.mark.parametrize(
    "url",
    ["s3://box/x?.csv", "s3://box/k?/year=1/x.csv", "s3://box/x?versionId=v1", "http://h/?a=1"],
)
def test_other_question_marks_are_taken(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http:///x.csv", "want one with a host"),
        ("https://", "want one with a host"),
        (f"http://user:{SECRET}@/x.csv", "want one with a host"),
        (f"http://host:{SECRET}/x.csv", "a number as its port"),
        (f"http://user:a/{SECRET}@host/x.csv", "a number as its port"),
        ("http://host:65536/x.csv", "a port up to 65535"),
        (f"http://host:{'9' * 5000}/x.csv", "a port up to 65535"),
        ("s3://", "want one with a bucket"),
        ("gs:///x.csv", "want one with a bucket"),
        ("az://", "want one with a container"),
        ("s3://pri*/x.csv", "want the name of one bucket"),
        ("s3://p[ab]/x.csv", "want the name of one bucket"),
        (f"s3://user:{SECRET}@prices/x.csv", "neither user nor password"),
        (f"s3://user:a/{SECRET}@prices/x.csv", "neither user nor password"),
        (f"zip://x.csv::https://user:{SECRET}@host/x.zip", "want one protocol"),
        ("zip://x.csv::/tmp/x.zip", "want one protocol"),
    ],
)
def test_a_url_is_refused_for_what_is_wrong(url: str, problem: str) -> None:
    with pytest.raises(tensorcache.SourceError, match=problem) as caught:
        check_url(url)
    assert caught.value.hint
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://user:pass@[::1]:80/x", "http://host:/x", "https://h_t/x", "s3://my_bucket/a::b",
        "s3://arn:aws:s3:us-west-2:123456789012:accesspoint/points/x", "az://box@account.host/x",
        "hf://datasets/org/name@main/x", "memory:///x", "sftp://user:pass@host:22/x",
    ],
)  # fmt: skip
def test_urls_of_many_protocols_are_taken(url: str) -> None:
    check_url(url)
