"""The control API under requests that schemathesis makes up from its OpenAPI document, over loopback TCP."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

import tensorcache

CASES = int(os.environ.get("TENSORCACHE_HTTP_CASES", "4"))
"""How many requests are made up for each operation, of those that the document allows and of those that it forbids."""

# A document cannot say that a file exists or that two fields go together; and that what it forbids is refused,
# with whichever status of a refusal, is held by api/fuzz_test.go.
LEFT_OUT = [positive_data_acceptance, negative_data_rejection]
UNENDING = ("/v1/events", "/v1/stop")


class Door(requests.Session):
    """A client of the daemon's loopback port that has the token."""

    def __init__(self, base: str, token: str) -> None:
        super().__init__()
        self.base = base
        self.headers["Authorization"] = f"Bearer {token}"


@pytest.fixture(scope="module")
def door(cache: tensorcache.Cache, home: Path) -> Iterator[Door]:
    """The way in, and a dataset behind it."""
    cache.put("a", {"id": np.repeat([1, 2], 50), "x": np.arange(100.0)}, item_id="id")
    url = urlsplit(cache._control.post("/v1/ui")["url"])
    with Door(f"http://{url.netloc}", (home / "token").read_text().strip()) as session:
        yield session


@pytest.fixture(scope="module")
def documented(door: Door) -> schemathesis.schemas.BaseSchema:
    """The daemon's own document, of which datasets are mostly one that exists."""
    document = door.get(door.base + "/v1/openapi.json").json()
    document["components"]["parameters"]["name"]["schema"] = {"type": "string", "enum": ["a", "none"]}
    del document["paths"]["/v1/datasets/{name}"]["delete"]  # the others need it
    for path in UNENDING:
        del document["paths"][path]
    return schemathesis.openapi.from_dict(document)


def test_every_answer_is_a_documented_one(
    documented: schemathesis.schemas.BaseSchema, door: Door, cache: tensorcache.Cache
) -> None:
    seen: set[int] = set()
    for operation in documented.get_all_operations():
        for mode in GenerationMode:
            try_out(operation.ok(), mode, door, seen)
    assert {200, 202, 400, 403, 404} <= seen
    assert cache.health()["status"] == "ok"


def try_out(operation: Any, mode: GenerationMode, door: Door, seen: set[int]) -> None:
    """Make up requests that the document allows, or such that it forbids, and hold each answer to it."""

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        derandomize=CASES < 100,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    def each(case: schemathesis.Case) -> None:
        response = case.call(base_url=door.base, session=door, timeout=30)
        seen.add(response.status_code)
        case.validate_response(response, excluded_checks=LEFT_OUT)

    try:
        each()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE, f"{operation.label} takes nothing"
