"""The control API under requests that schemathesis makes from its OpenAPI document, over TCP."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
import requests
import schemathesis
from hypothesis import Phase, assume, given
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.core import NOT_SET

import tensorcache
from cases import drawn
from daemon import processes, wait_until

CASES = int(os.environ.get("TENSORCACHE_HTTP_CASES", "4"))
"""The number of generated requests for each operation and mode.

One mode makes requests that the document allows, the other those that it forbids.
"""

# A document cannot state that a file or a window exists, or that two fields depend on each other.
# So the daemon may refuse a request that the document allows. It refuses all that it forbids.
ALLOWED = ["2xx", "303", "304", "400", "401", "403", "404", "409", "410", "413", "422"]
FORBIDDEN = ["400", "401", "403", "404", "405", "409", "410", "413", "415", "422"]


class Door(requests.Session):
    """A client of the daemon's loopback port that has the token."""

    def __init__(self, base: str, token: str) -> None:
        super().__init__()
        self.base = base
        self.headers["Authorization"] = f"Bearer {token}"


def open_door(cache: tensorcache.Cache) -> Door:
    """Put a dataset, and return a session with the daemon over TCP."""
    columns = {"id": np.repeat([1, 2], 50), "x": np.arange(100.0), "pair": np.ones((100, 2))}
    columns["pair"][7, 1] = np.nan
    cache.put("a", columns, item_id="id", fill={"pair": "forward"})
    url = urlsplit(cache._server.control.post("/v1/ui")["url"])
    return Door(f"http://{url.netloc}", (Path(cache.health()["dir"]) / "token").read_text().strip())


@pytest.fixture(scope="module")
def door(cache: tensorcache.Cache) -> Iterator[Door]:
    """A session with the daemon over TCP."""
    with open_door(cache) as session:
        yield session


@pytest.fixture(scope="module")
def document(door: Door) -> dict[str, Any]:
    """The daemon's OpenAPI document, with two names each for datasets, jobs and feeds.

    The first name of each exists when the requests begin.
    """
    document: dict[str, Any] = door.get(door.base + "/v1/openapi.json").json()
    parameters = document["components"]["parameters"]
    for name, values in {"name": ["a", "none"], "job": ["j1", "j9"], "feed": ["f1", "f9"]}.items():
        parameters[name]["schema"] = {"type": "string", "enum": values}
    # The other operations need the dataset a, so DELETE removes another one.
    removed = {
        **parameters["name"],
        "schema": {"type": "string", "enum": ["gone", "none"]},
    }
    document["paths"]["/v1/datasets/{name}"]["delete"]["parameters"] = [removed]
    return document


def operations(document: dict[str, Any]) -> Iterator[Any]:
    """The operations of a document, with checks for the statuses of the daemon's answers."""
    checks = {
        "positive_data_acceptance": {"expected-statuses": ALLOWED},
        "negative_data_rejection": {"expected-statuses": FORBIDDEN},
    }
    config = SchemathesisConfig.from_dict({"checks": checks, "max-stream-events": 1})
    for found in schemathesis.openapi.from_dict(document, config=config).get_all_operations():
        yield found.ok()


def test_every_answer_is_a_documented_one(
    document: dict[str, Any], door: Door, cache: tensorcache.Cache
) -> None:
    def before(case: schemathesis.Case) -> None:
        if case.method == "DELETE" and case.path == "/v1/datasets/{name}":
            cache.put("gone", {"x": np.arange(3.0)})

    seen: set[int] = set()
    with cache.dataset("a").windows(context_length=3).feed(batch_size=2):  # f1, until it is closed
        for operation in operations(document):
            for mode in GenerationMode:
                if operation.path != "/v1/stop":
                    try_out(operation, mode, door, seen, before)
    assert {200, 202, 400, 403, 404} <= seen
    assert cache.health()["status"] == "ok"


def test_a_daemon_that_is_told_to_stop_says_what_is_documented(
    document: dict[str, Any], tmp_path: Path
) -> None:
    """A separate daemon that is told to stop when idle; it stops after its last feed is closed."""
    cache = tensorcache.connect(tmp_path)
    seen: set[int] = set()
    allowed = copy.deepcopy(document)
    allowed["paths"]["/v1/stop"]["post"]["requestBody"]["required"] = True
    allowed["components"]["schemas"]["StopRequest"] = {
        "type": "object",
        "required": ["when_idle"],
        "additionalProperties": False,
        "properties": {"when_idle": {"const": True}},
    }
    with open_door(cache) as door, cache.dataset("a").windows(context_length=3).feed(batch_size=2):
        for mode, text in ((GenerationMode.POSITIVE, allowed), (GenerationMode.NEGATIVE, document)):
            for operation in operations(text):
                if operation.path == "/v1/stop":
                    try_out(operation, mode, door, seen, refused_or_patient)
        assert cache.health()["status"] == "ok"
    assert {202, 400} <= seen
    wait_until(lambda: not processes(str(tmp_path)), "it does not stop")


def refused_or_patient(case: schemathesis.Case) -> None:
    """Skip the requests that stop the daemon at once, such as one without a body."""
    assume(
        case.body is not NOT_SET
        and case.body not in (b"", "", {}, {"when_idle": False}, {"when_idle": None})
    )


def try_out(
    operation: Any,
    mode: GenerationMode,
    door: Door,
    seen: set[int],
    before: Callable[[schemathesis.Case], None],
) -> None:
    """Send requests that the document allows or forbids, and check each answer against it."""

    @given(case=operation.as_strategy(generation_mode=mode))
    @drawn(CASES, phases=[Phase.generate])
    def each(case: schemathesis.Case) -> None:
        before(case)
        response = case.call(base_url=door.base, session=door, timeout=60)
        seen.add(response.status_code)
        case.validate_response(response)

    try:
        each()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE, f"{operation.label} takes nothing"
