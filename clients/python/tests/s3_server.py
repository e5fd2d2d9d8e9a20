"""A real S3 server, moto's, with a bucket."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

SECRET = "kept-from-the-daemon-5f1c"


@dataclass
class S3:
    """The server.

    Attributes:
        options: the ``storage_options`` to reach it.
        sent: the bytes of bodies that it has sent of objects.
    """

    options: dict[str, Any]
    client: Any
    count: list[int] = field(default_factory=list)

    @property
    def sent(self) -> int:
        return sum(self.count)


@pytest.fixture(scope="session")
def s3() -> Iterator[S3]:
    import boto3
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    counts: list[int] = []
    app = DomainDispatcherApplication(create_backend_app)

    def counted(environ: dict[str, Any], start: Callable[..., Any]) -> Iterator[bytes]:
        for block in app(environ, start):
            if environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"].count("/") > 1:
                counts.append(len(block))
            yield block

    import threading

    server = make_server("127.0.0.1", 0, counted, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    client = boto3.client(
        "s3", endpoint_url=endpoint, aws_access_key_id="user", aws_secret_access_key=SECRET,
        region_name="us-east-1",
    )  # fmt: skip
    options = {"key": "user", "secret": SECRET, "client_kwargs": {
        "endpoint_url": endpoint, "region_name": "us-east-1"}}  # fmt: skip
    yield S3(options, client, counts)
    server.shutdown()
    thread.join()


@pytest.fixture
def bucket(s3: S3) -> S3:
    """The server with an empty bucket ``prices``."""
    names = [b["Name"] for b in s3.client.list_buckets()["Buckets"]]
    if "prices" not in names:
        s3.client.create_bucket(Bucket="prices")
    for entry in s3.client.list_objects_v2(Bucket="prices").get("Contents", []):
        s3.client.delete_object(Bucket="prices", Key=entry["Key"])
    s3.count.clear()
    return s3
