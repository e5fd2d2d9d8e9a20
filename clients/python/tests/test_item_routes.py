"""An item's value means the same item wherever it is given back: `inverse`, `where`, `starts`."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from draws import NAMES

C, P = 3, 2

whole = st.one_of(st.integers(-5, 20), st.integers(-(2**63), 2**63 - 1))


@st.composite
def values_of_items(draw: st.DrawFn) -> list[Any]:
    """The values of items: often whole numbers that could be codes of other items."""
    n = draw(st.integers(1, 6))
    kind = draw(st.sampled_from(["permuted", "whole", "text", "pair", "none"]))
    if kind == "permuted":
        return draw(st.permutations(range(n)))
    if kind == "none":
        return [None]
    texts = st.sampled_from([*NAMES, *"0123456"])
    values = {"whole": whole, "text": texts, "pair": st.tuples(texts, whole)}[kind]
    return draw(st.lists(values, min_size=n, max_size=n, unique=True))


def id_columns(values: list[Any], rows: list[int]) -> dict[str, Any]:
    """The columns that name items, for items with numbers of rows."""
    if values[0] is None:
        return {}
    if isinstance(values[0], tuple):
        columns = {"id": [text for text, _ in values], "no": [number for _, number in values]}
    else:
        columns = {"id": values}
    return {
        name: [value for value, n in zip(column, rows, strict=True) for _ in range(n)]
        for name, column in columns.items()
    }


def forms(value: Any) -> list[Any]:
    """One item's value as callers have it."""
    if value is None:
        return [None]
    if isinstance(value, tuple):
        return [value, list(value), (value[0], np.int64(value[1])), (np.str_(value[0]), value[1])]
    if isinstance(value, str):
        return [value, np.str_(value), np.asarray(value), np.asarray(value, object)]
    return [value, np.int64(value), np.asarray(value)]


class Routes:
    """A dataset with a scaling per item, whose items have values 1,000 apart."""

    def __init__(self, cache: tensorcache.Cache, values: list[Any], rows: list[int]) -> None:
        self.values = values
        generator = np.random.default_rng(len(values))
        self.y = [1000 * code + generator.normal(scale=10, size=n) for code, n in enumerate(rows)]
        columns = id_columns(values, rows)
        self.data = cache.put(
            "routes", {**columns, "y": np.concatenate(self.y)}, item_id=list(columns) or None,
            dtype="float64", scale="standard", scale_per="item",
        )  # fmt: skip
        self.windows = self.data.windows(
            context_length=C, prediction_length=P, columns="y", dtype=None
        )

    def original(self, code: int, start: int, first: int, last: int) -> npt.NDArray[np.float64]:
        """The values of an item before scaling, at rows counted from a window's start."""
        return self.y[code][start + first : start + last]

    def check_one(self, number: int) -> None:
        """Every route from one window."""
        one = self.windows[number]
        code = int(one.item_code)
        want = self.original(code, one.start, 0, C)
        assert one.item == self.values[code]
        assert pickle.loads(pickle.dumps(one)).item == one.item
        starts = np.arange(len(self.y[code]) - C - P + 1)
        for value in forms(one.item):
            same(self.data.inverse("y", one.context[:, 0], item=value), want)
            same(self.windows.starts(value), starts)
            stored = self.data.item(value)["y"]
            same(self.data.inverse("y", stored, item=value), self.y[code])
            for items in (value, [value]) if value is not None else ():
                kept = self.windows.where(items=items)[:]
                assert kept.item_code.tolist() == [code] * len(starts)
                same(kept.start, starts)
        for given_code in (code, np.int64(code), np.asarray(code), one.item_code):
            same(self.data.inverse("y", one.context[:, 0], item_code=given_code), want)

    def check_several(self, batch: Any) -> None:
        """Every route from several windows or a batch."""
        codes = batch.item_code
        assert list(batch.item) == [self.values[code] for code in codes]
        assert list(self.data.items[codes]) == list(batch.item)
        same(self.data.items.codes(batch.item), codes)
        same(self.data.items.codes(list(batch.item)), codes)
        if self.values[0] is not None:  # else no where names the item
            kept = self.windows.where(items=batch.item)[:].item_code
            assert kept.tolist() == [
                code for code in sorted(set(codes.tolist()))
                for _ in range(len(self.y[code]) - C - P + 1)
            ]  # fmt: skip
        if batch.target is None:
            return
        want = np.stack(
            [
                self.original(code, start, C, C + P)
                for code, start in zip(codes, batch.start, strict=True)
            ]
        )
        for how in ({"item": batch.item}, {"item": list(batch.item)}, {"item_code": codes},
                    {"item_code": codes.tolist()}):  # fmt: skip
            same(self.data.inverse("y", batch.target[..., 0], **how), want)
            same(self.data.inverse(["y"], batch.target, **how), want[..., None])
        for value, row, prediction in zip(batch.item, want, batch.target, strict=True):
            same(self.data.inverse("y", prediction[:, 0], item=value), row)


def same(got: Any, want: Any) -> None:
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@given(values=values_of_items(), data=st.data())
@cases(0.1)
def test_every_route_from_a_window_leads_to_its_item(
    cache: tensorcache.Cache, values: list[Any], data: st.DataObject
) -> None:
    note_seed()
    rows = [data.draw(st.integers(C + P, C + P + 4)) for _ in values]
    routes = Routes(cache, values, rows)
    with routes.data:
        numbers = st.integers(0, len(routes.windows) - 1)
        number = data.draw(numbers)
        note(f"window {number}")
        routes.check_one(number)
        several = routes.windows[data.draw(st.lists(numbers, min_size=1, max_size=9))]
        delivery = data.draw(st.sampled_from(["slot", "view", "local", "starts"]))
        order = "sequential" if delivery == "view" else "shuffle"
        with routes.windows.feed(batch_size=4, order=order, delivery=delivery) as feed:
            batches = [batch.copy() for batch in feed]
        pickled = [pickle.loads(pickle.dumps(batch)) for batch in batches]
        for batch in [several, *batches, *pickled, *(batch.copy() for batch in pickled)]:
            routes.check_several(batch)


def test_what_is_no_item_is_refused(cache: tensorcache.Cache) -> None:
    sku = ["a", "b"] * 4
    whole = cache.put(
        "whole", {"id": np.repeat([7, 3], 4), "sku": sku, "y": np.arange(8.0)}, item_id="id",
        scale="standard", scale_per="item",
    )  # fmt: skip
    values = np.zeros((2, 3))
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"item": 0}, "no item is named 0"),
        ({"item": 7.0}, "no item is named 7.0"),
        ({"item": True}, "no item is named True"),
        ({"item": [7, 0]}, "no item is named 0"),
        ({"item": np.array([7.0, 3.0])}, "item: got 7.0 in a list"),
        ({"item": [7, True]}, "item: got True in a list"),
        ({"item": [7.0] * 100}, "item: got 7.0 in a list"),
        ({"item": np.array([7, 2**64 - 7], np.uint64)}, "no item is named 18446744073709551609"),
        ({"item": "7"}, 'no item is named "7"; near: 7'),
        ({"item": {7, 3}}, "item: .*want a list of items' values"),
        ({"item": [7, None]}, "no item is named None"),
        ({"item": [7, b"3"]}, "item: got b'3' in a list"),
        ({"item": [[7], [3]]}, r"no item is named \(7,\)"),
        ({"item": np.array([7, 3], "M8[ns]")}, "item: got np.datetime64.* in a list"),
        ({"item": np.array(7, "m8[ns]")}, "no item is named .*timedelta64"),
        (
            {"item": np.ma.array([7, 3], mask=[True, False])},
            "item: got masked values",
        ),
        ({"item": [7]}, r"item: got an array of 1 for values of shape \[2, 3\]"),
        ({"item": whole["sku"][:2]}, "item: got the codes of a text column"),
        ({"item_code": whole["sku"][:2]}, "item_code: got the codes of a text column"),
        ({"item_code": [0, 2]}, "item_code: got 2, want codes from 0 to 1"),
        ({"item_code": -1}, "item_code: got -1, want codes from 0 to 1"),
        ({"item_code": [0]}, r"item_code: got an array of 1 for values of shape \[2, 3\]"),
        (
            {"item_code": np.ma.array([0, 1], mask=[True, False])},
            "item_code: got masked values",
        ),
        ({"item_code": np.array([])}, "item_code: got ndarray of float64"),
        ({"item_code": [0.0, 1.0]}, "item_code: got list of float64, shape"),
        ({"item_code": True}, "item_code: got bool of bool, shape"),
        ({"item_code": ["7", "3"]}, "item_code: got list of <U1, shape"),
        ({"item_code": [[0, 1], [0]]}, "item_code: want codes of items: "),
        ({"item": 7, "item_code": 0}, "item: given together with item_code"),
        ({}, 'item: column "y" was scaled per item'),
    ]
    for how, message in wrong:
        with pytest.raises((tensorcache.SpecError, tensorcache.NotFoundError), match=message):
            whole.inverse("y", values, **how)
    windows = whole.windows(context_length=2, columns="y")
    for use in (windows.starts, whole.item):
        for value, message in (
            (0, "no item is named 0"),
            (whole["sku"], "item: got the codes of a text column, want one item's value"),
            ([7, 3], r"no item is named \(7, 3\)"),
            (np.array([7, 3]), "want one item's value"),
            ({7: 3}, "want one item's value"),
        ):
            with pytest.raises(tensorcache.TensorcacheError, match=message):
                use(value)
    for items, message in (
        (0, "no item is named 0"),
        ([7, 0], "no item is named 0"),
        (5.5, "items: got 5.5 in a list, want items' values"),
        (np.array([[7], [3]]), "no item is named"),
        ({7: 3}, "items: .*want a list of items' values"),
        ([None], "items: got None, want values of items"),
        (whole["sku"], "items: got the codes of a text column"),
    ):
        with pytest.raises(tensorcache.TensorcacheError, match=message):
            len(windows.where(items=items))


def test_large_whole_numbers_are_told_apart(cache: tensorcache.Cache) -> None:
    ids = [2**53 + 1, 2**53, 2**62 + 1, 2**62, -(2**62) - 1]
    items = cache.put("large", {"id": ids, "y": np.zeros(5)}, item_id="id").items
    for values in (np.array(ids), np.array(ids[:4], np.uint64), ids, ids * 20):
        same(items.codes(values), [ids.index(int(value)) for value in values])
    with pytest.raises(tensorcache.NotFoundError, match=str(2**53 + 2)):
        items.codes(np.array([2**53 + 2], np.uint64))


def test_a_dataset_says_that_it_is_a_mapping_of_columns(cache: tensorcache.Cache) -> None:
    pandas = pytest.importorskip("pandas")
    data = cache.put("mapped", {"id": ["a", "b", "b"], "y": [1.0, 2.0, 3.0]}, item_id="id")
    for use in (data.items, lambda: pandas.DataFrame(data), lambda: np.asarray(data)):
        with pytest.raises(TypeError, match=r"dict\(data\)"):
            use()
    for wrong in ("b", True, np.True_, 1.0, np.array(1.0), None):
        with pytest.raises(TypeError, match=r"got .*, want a code\nhint: data.items.code"):
            data.items[wrong]
    with pytest.raises(IndexError, match="got -3, want codes from 0 to 1"):
        data.items[[0, -3]]
    for wrong, message in (
        (np.ma.array([0, 1], mask=[True, False]), "got masked values, want codes"),
        ([0, [1]], r"data.items\[...\]: want codes: "),
    ):
        with pytest.raises(tensorcache.SpecError, match=message):
            data.items[wrong]
    for find in (data.items.code, data.item, lambda value: data.items.codes([value])):
        with pytest.raises(tensorcache.NotFoundError, match=r"no item is named"):
            find("\ud800")
    assert "\ud800" not in data.items
    assert data.items[[1, -2]].tolist() == ["b", "a"]
    assert data.items[[]].tolist() == []
    assert pandas.DataFrame(data.item("b"))["y"].tolist() == [2.0, 3.0]
    assert pandas.DataFrame(dict(data)).shape == (3, 2)
    assert [(item, list(rows["y"])) for item, rows in data.by_item()] == [
        ("a", [1.0]),
        ("b", [2.0, 3.0]),
    ]
    again = cache.put("again", data, item_id="id")
    assert again["y"].tolist() == [1.0, 2.0, 3.0]
    assert list(again.items) == ["a", "b"]


def test_a_sample_has_its_item_as_a_field(cache: tensorcache.Cache) -> None:
    data = cache.put("field", {"id": ["a"] * 3 + ["b"] * 3, "y": np.arange(6.0)}, item_id="id")
    windows = data.windows(context_length=2, columns="y")
    assert dataclasses.asdict(windows[0])["item"] == "a"
    assert dataclasses.replace(windows[2], start=5).item == "b"
    assert copy.deepcopy(windows[2]).item == "b"
    assert not hasattr(windows[0], "items")


def test_many_texts_are_found_like_few(cache: tensorcache.Cache) -> None:
    names = [f"item {number}" for number in range(200)]
    items = cache.put("many", {"id": names, "y": np.zeros(200)}, item_id="id").items
    for count in (1, 30, 30, 200):
        same(items.codes(names[:count] * 2), [*range(count)] * 2)
        with pytest.raises(tensorcache.NotFoundError, match='no item is named "item 200"'):
            items.codes([*names[:count], "item 200"])
