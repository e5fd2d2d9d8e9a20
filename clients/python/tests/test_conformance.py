"""The scripted cases of testdata/conformance, which clients/go passes too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import make_conformance
import tensorcache
from conformance_cases import CASES
from daemon import REPOSITORY
from make_conformance import hashed

pytestmark = pytest.mark.portable

CONFORMANCE = REPOSITORY / "testdata" / "conformance"
NAMES = sorted(path.stem for path in CONFORMANCE.glob("*.json"))
PLACES = ("item", "start", "times", "mask", "reset")
"""The parts that a batch by ``starts`` has; what is missing is told there when it is asked for."""
NUMPY = {"text": "str", "timestamp[s]": "M8[s]"}


def kept(name: str) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((CONFORMANCE / f"{name}.json").read_text())
    return case


def put(cache: tensorcache.Cache, described: dict[str, Any]) -> tensorcache.Dataset:
    columns = {}
    for column in described["columns"]:
        values = [np.nan if value is None else value for value in column["values"]]
        dtype = NUMPY.get(column["dtype"], column["dtype"])
        columns[column["name"]] = np.array(values, dtype).reshape(
            (-1, column["width"]) if "width" in column else -1
        )
    return cache.put("conformance", columns, **keywords(described["options"]))


def keywords(given: dict[str, Any]) -> dict[str, Any]:
    """Keywords from JSON: a pair becomes a tuple."""
    pairs = ("rows", "time", "fit_rows")
    return {
        key: tuple(v) if key in pairs and isinstance(v, list) else v for key, v in given.items()
    }


def cut(windows: tensorcache.Windows, cuts: list[dict[str, Any]]) -> tensorcache.Windows:
    for made in cuts:
        if "where" in made:
            before = made.get("context_before_split", True)
            windows = windows.where(**keywords(made["where"]), context_before_split=before)
        elif "split" in made:
            windows = windows.split(**made["split"])[made["part"]]
        else:
            windows = windows.latest()
    return windows


def check(got: Any, wanted: dict[str, Any]) -> None:
    """Check the parts of a batch or sample.

    It has the wanted parts and no others, with the wanted dtypes, shapes and values.
    """
    names = [*tensorcache._feed.batch.PARTS]
    parts = {name: getattr(got, name, None) for name in names}
    parts["times"], parts["item"] = parts.pop("time"), parts.pop("item_code")
    described = {}
    for name, array in parts.items():
        if array is not None:
            plain = array.view("i8") if array.dtype.kind == "M" else array
            described[name] = {
                "dtype": str(plain.dtype),
                "shape": list(plain.shape),
                "sha256": hashed(plain),
            }
    assert described == wanted


@pytest.mark.parametrize("name", NAMES)
def test_windows_and_batches(cache: tensorcache.Cache, name: str) -> None:
    case = kept(name)
    with put(cache, case["dataset"]) as data:
        for asked in case["windows"]:
            windows = cut(data.windows(**keywords(asked["spec"])), asked["cuts"])
            plan = {
                "windows": len(windows),
                "positions": windows.positions,
                "rejected": dict(windows.rejected),
            }
            assert plan == asked["plan"], asked["spec"]
            for sample in asked["at"]:
                check(windows[sample["numbers"]], sample["parts"])
            for feed in asked["feeds"]:
                check_feed(windows, feed)
        for bad in case.get("errors", ()):
            check_error(cache, data, bad)
        for inverse in case.get("inverse", ()):
            check_inverse(data, inverse)


def check_feed(windows: tensorcache.Windows, described: dict[str, Any]) -> None:
    if "parts" in described:
        for delivery in ("slot", "local"):
            for rank, batches in enumerate(described["ranks"]):
                check_named(windows, described, delivery, rank, batches)
        return
    for delivery in ("slot", "local", "starts", *["view"] * described.get("view", False)):
        for rank, batches in enumerate(described["ranks"]):
            check_rank(windows, described, delivery, rank, batches)


def check_rank(
    windows: tensorcache.Windows,
    described: dict[str, Any],
    delivery: str,
    rank: int,
    batches: list[dict[str, Any]],
) -> None:
    beside = {key: described[key] for key in ("channels_first", "mask") if key in described}
    with windows.feed(**described["options"], **beside, rank=rank, delivery=delivery) as feed:
        for batch, wanted in pass_of(feed, described, batches):
            parts = wanted["parts"]
            if delivery == "starts":
                parts = {name: part for name, part in parts.items() if name in PLACES}
                batch.context_missing = batch.target_missing = None
            check(batch, parts)


def pass_of(
    feed: tensorcache.Feed[Any], described: dict[str, Any], batches: list[dict[str, Any]]
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The batches of a feed from where a case begins, each with its answers."""
    begin = {"epoch": described.get("epoch", 0), "consumed": described.get("consumed", 0)}
    feed.load_state_dict({**feed.state_dict(), **begin})
    if (n := described["options"].get("batches_per_epoch")) or not begin["consumed"]:
        assert len(feed) == (n or len(batches))
    for batch, wanted in zip(feed, batches, strict=True):
        state = feed.state_dict()
        assert [state["epoch"], state["consumed"]] == wanted["state"]
        yield batch, wanted


def check_named(
    windows: tensorcache.Windows,
    described: dict[str, Any],
    delivery: str,
    rank: int,
    batches: list[dict[str, Any]],
) -> None:
    """Check the batches of a feed that asks for parts by name."""
    parts = {
        part["name"]: tensorcache.Part(part["part"], part.get("columns"), part.get("dtype"))
        for part in described["parts"]
    }
    if not parts:
        return  # which Python refuses
    first = described.get("channels_first", False)
    with windows.feed(
        **described["options"], channels_first=first, rank=rank, delivery=delivery, parts=parts
    ) as feed:
        for batch, wanted in pass_of(feed, described, batches):
            got = {
                name: {
                    "dtype": str(array.dtype),
                    "shape": list(array.shape),
                    "sha256": hashed(array),
                }
                for name, array in batch.items()
            }
            assert got == wanted["parts"]


def check_error(cache: tensorcache.Cache, data: tensorcache.Dataset, bad: dict[str, Any]) -> None:
    def ask() -> object:
        kind = bad["ask"]
        if kind == "dataset":
            return cache.dataset(bad["name"])
        if kind == "column":
            return data[bad["name"]]
        if kind == "item":
            return data.items.code(bad["item"])
        windows = data.windows(**keywords(bad["spec"]))
        if kind == "where":
            return windows.where(**keywords(bad["where"]))
        if kind == "split":
            return windows.split(**bad["split"])
        if kind == "feed":
            return windows.feed(**bad["options"])
        with windows.feed(**bad["options"]) as feed:
            feed.load_state_dict({**feed.state_dict(), **bad["state"]})
        return None

    with pytest.raises((tensorcache.TensorcacheError, ValueError)) as raised:
        ask()
    error = raised.value
    assert isinstance(error, tensorcache.TensorcacheError), bad
    assert error.type == bad["type"], bad
    assert error.field == bad.get("field", error.field), bad


def check_inverse(data: tensorcache.Dataset, described: dict[str, Any]) -> None:
    codes = np.repeat(np.arange(len(data.items)), data.items.rows)
    undone = data.inverse(described["column"], data[described["column"]], item_code=codes)
    np.testing.assert_allclose(undone, described["values"], rtol=1e-4, atol=1e-4)


def test_what_is_kept_is_what_the_oracle_says() -> None:
    """make_conformance.py makes the same files as those in the repository."""
    assert sorted(CASES) == NAMES
    for name, case in CASES.items():
        assert json.loads(json.dumps(make_conformance.answered(case))) == kept(name), name
