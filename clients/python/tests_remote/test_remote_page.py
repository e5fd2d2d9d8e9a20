"""The Python about remote files on docs/LOADING.md does what the page says."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tensorcache
from daemon import REPOSITORY
from s3_server import S3
from web_server import WebServer

PAGE = REPOSITORY / "docs" / "LOADING.md"


def parquet(first: int) -> bytes:
    """A Parquet file of two rows."""
    buffer = io.BytesIO()
    columns: dict[str, Any] = {"id": ["x", "x"], "t": [first, first + 1], "close": [0.5, 1.5]}
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


@pytest.mark.usefixtures("nothing_left")
def test_the_lines_of_python_run(cache: tensorcache.Cache, bucket: S3, web: WebServer) -> None:
    text = PAGE.read_text("utf-8").split("## Remote files")[1].split("\n## ")[0]
    lines = [line.strip() for line in text.splitlines() if line.startswith("    cache.")]
    assert len(lines) == 4
    keys = ["trades", "newer", "days/a", "more/b"]
    for number, key in enumerate(keys):
        body = parquet(10 * number)
        bucket.client.put_object(Bucket="prices", Key=f"{key}.parquet", Body=body)
    web.add("/air.csv", b"t,a\n1,2\n", headers={"Authorization": "Bearer s3cr3t"})
    code = "\n".join(lines).replace("https://example.org", web.url(""))
    exec(code, {"cache": cache, "keys": bucket.options, "token": "s3cr3t"})
    np.testing.assert_array_equal(cache.dataset("trades")["close"], [0.5, 1.5, 0.5, 1.5])
    assert len(cache.dataset("days")["t"]) == 4
    assert cache.dataset("air")["a"].tolist() == [2]
