"""URLs of remote sources, and what of them may be shown."""

from __future__ import annotations

import re

from .._errors import SourceError

SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]+):/")
LOCAL = ("file", "local")
WEB = ("http", "https")
AZURE = ("az", "abfs", "abfss", "adl")
BUCKETS = ("s3", "s3a", "gs", "gcs")
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:@\[\]]*)(:[0-9]*)?")
BUCKET = re.compile(r"arn:[\w:.-]+|[\w.-]+")
CHAIN = re.compile(r"::([A-Za-z][A-Za-z0-9+.-]*:)?/")
BAD_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
# s3fs and adlfs take one query, the version of an object. A "?" without "=" is of a pattern.
QUERY = re.compile(r"\?(?!versionid=[^&/]*$)[^/#]*=", re.IGNORECASE)


def protocol_of(url: str) -> str:
    """The protocol of a URL in lower case, or "" if the text is none."""
    match = SCHEME.match(url)
    return match[1].lower() if match else ""


def check_url(url: str) -> None:
    """Refuse a URL that no file of its protocol has.

    Raises:
        SourceError: the message shows nothing of the URL that may be secret.
    """
    protocol, authority = protocol_of(url), re.split(r"[/\\?#]", url.partition("://")[2])[0]
    problem, hint = "", ""
    if protocol in WEB:
        host = HOST.fullmatch(authority.rpartition("@")[2])
        if host is None:
            problem = "want a host and a number as its port"
            hint = "write @, : and / in a user or a password as %40, %3A and %2F"
        elif not host[1]:
            problem, hint = "want one with a host", f"name the host after {protocol}://"
        elif host[2] and int(host[2][1:7] or "0") > 65535:
            problem, hint = "want a port up to 65535", "check the URL"
    elif CHAIN.search(url):
        problem, hint = "want one protocol", "download the archive, and load the file in it"
    elif QUERY.search(url):
        problem = f"{protocol} URLs have no query"
        hint = "give credentials with storage_options"
    elif protocol in (*BUCKETS, *AZURE) and not authority:
        what = "bucket" if protocol in BUCKETS else "container"
        problem, hint = f"want one with a {what}", f"name the {what} after {protocol}://"
    elif protocol in BUCKETS and not BUCKET.fullmatch(authority):
        if set("@:") & set(authority):
            problem = f"{protocol} URLs have neither user nor password"
            hint = "give credentials with storage_options"
        else:
            problem, hint = "want the name of one bucket", "patterns are for the names of objects"
    if problem:
        raise SourceError(
            f'sources: got the URL "{shown(url)}", {problem}', field="sources", hint=hint
        )


def shown(url: str) -> str:
    """A URL as messages and manifests show it: without user, password, query and fragment.

    What cannot be told from a password is left out too: the result may be the protocol alone.
    """
    protocol, _, rest = url.partition(":")
    if not SCHEME.match(url):
        return "…"
    protocol = protocol.lower()
    # Of a URL without a host, the slash before the path stays, unless a password may be in it.
    absolute = rest.startswith("///") or (protocol in LOCAL and not rest.startswith("//"))
    slashes = "///" if absolute and "@" not in rest else "//"
    rest = rest.lstrip("/\\")
    authority = re.split(r"[/\\?#]", rest, maxsplit=1)[0]
    path = rest[len(authority) :]
    user, at, host = authority.rpartition("@")
    if protocol in AZURE and at and ":" not in user:
        # az://container@account.host/path: what stands where others have a user is no secret.
        path, at = f"/{user}{path}", ""
    # A password may have a slash: "user:a/b@host". What a parser takes for the port is its start.
    if not HOST.fullmatch(host) or ((":" in host or at) and "@" in path):
        return f"{protocol}://…"
    ends = "?#;" if protocol in WEB else "?#"
    path = re.split(f"[{ends}]", path, maxsplit=1)[0]
    return f"{protocol}:{slashes}{escaped(host)}{escaped(BAD_PERCENT.sub('%25', path))}"


def has_user(url: str) -> bool:
    """Whether a URL has a user or a password."""
    authority = re.split(r"[/\\?#]", url.partition("://")[2])[0]
    user, at, _ = authority.rpartition("@")
    return bool(at) and (protocol_of(url) not in AZURE or ":" in user)


def shown_pattern(url: str) -> str:
    """A URL with a pattern as messages show it; what follows a ``?`` or ``#`` is left out."""
    text = shown(url)
    return text if text.endswith("…") or not set("?#") & set(url) else f"{text}…"


def named(source: str) -> str:
    """A path or URL as messages show it."""
    return shown(source) if "://" in source else source


def object_url(protocol: str, path: str) -> str:
    """The URL of a path of a file system, whose names may have any characters."""
    path = path.lstrip("/").replace("%", "%25").replace("?", "%3F").replace("#", "%23")
    host, slash, rest = path.partition("/")
    return f"{protocol}://{escaped(host.replace('@', '%40'))}{slash}{escaped(rest)}"


def escaped(text: str) -> str:
    """A text with its control characters percent-encoded."""
    return "".join(
        c if c.isprintable() else "".join(f"%{b:02X}" for b in c.encode("utf-8", "replace"))
        for c in text
    )
