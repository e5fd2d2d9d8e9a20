"""``parts=`` and ``arrange=`` of the torch loader and dataset."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from test_torch_delivery import SPECS, B, C, P, data
from torch.utils.data import DataLoader

import tensorcache
from tensorcache import Part

__all__ = ["data"]

PARTS: dict[str, Any] = {
    "x": "context", "y": "target", "k": "known", "kc": "known_context", "kt": "known_target",
    "o": "observed", "to": "target_observed", "m": "mask", "cm": "context_missing",
    "tm": "target_missing", "item": "item", "item_code": "item_code", "start": "start",
    "row": "row", "t": "time", "first": Part("context", ["b"], "float64"),
    "seen": Part("observed", ["b"]),
}  # fmt: skip

# If JAX is loaded too, it warns of forks in a hook that cannot raise.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*fork:DeprecationWarning", "ignore:.*os.fork:RuntimeWarning"
)


def same(got: Any, want: Any) -> None:
    """Compare tensors with arrays."""
    values = np.asarray(want)
    values = values.view("<i8") if values.dtype.kind in "mM" else values
    assert str(got.dtype).removeprefix("torch.") == values.dtype.name
    np.testing.assert_array_equal(got.numpy(), values)


@pytest.mark.parametrize("channels_first", [False, True])
@pytest.mark.parametrize("spec", SPECS)
def test_any_delivery_gives_the_parts_of_a_feed(
    data: tensorcache.Dataset, spec: str, channels_first: bool
) -> None:
    windows = data.windows(**{"context_length": C, "prediction_length": P, **SPECS[spec]})
    columns = windows.features["context"]
    asked = {
        key: Part(part.name, [columns[-1]], part.dtype) if isinstance(part, Part) else part
        for key, part in PARTS.items()
    }
    options: dict[str, Any] = {
        "batch_size": B, "order": "random_start", "seed": 4, "channels_first": channels_first,
    }  # fmt: skip
    ways: list[dict[str, Any]] = [
        {"delivery": "slot"}, {"delivery": "local"}, {"delivery": "auto"}, {"resident": True},
    ]  # fmt: skip
    with windows.feed(**options, delivery="slot", parts=asked) as feed:
        want = list(feed)
    for way in ways:
        with tensorcache.torch.loader(windows, **options, **way, parts=asked) as loader:
            for got, arrays in zip(loader, want, strict=True):
                assert list(got) == list(arrays)
                for key, array in arrays.items():
                    same(got[key], array)
    if spec not in ("padded", "converted"):
        own = {key: part for key, part in asked.items() if key != "first"}
        with tensorcache.torch.loader(windows, **options, delivery="view", parts=own) as loader:
            for got, arrays in zip(loader, want, strict=True):
                assert list(got) == [key for key in arrays if key in own]
                for key, tensor in got.items():
                    same(tensor, arrays[key])


@pytest.fixture
def windows(data: tensorcache.Dataset) -> tensorcache.Windows:
    return data.windows(
        context_length=C, prediction_length=P, columns=["a", "b"], known_columns=["c"]
    )


def test_a_tuple_of_a_loader_gathers_nothing_else(windows: tensorcache.Windows) -> None:
    with tensorcache.torch.loader(windows, batch_size=B, delivery="slot") as loader:
        stream = loader.feed._stream
        assert stream is not None
        parts = stream.reply["parts"]
        assert [part["name"] for part in parts] == ["context", "target", "item", "start"]
    asked = ("known_target", "item_code")
    with tensorcache.torch.loader(windows, batch_size=B, delivery="slot", parts=asked) as loader:
        known, code = next(iter(loader))
        assert known.shape == (B, P, 1)
        assert code.tolist() == [0] * B


def stacked(parts: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """What a model gets: context and known values side by side, and the target."""
    return torch.cat([parts["x"], parts["k"]], -1), parts["y"]


ASKED = {"x": "context", "k": "known_context", "y": "target"}


@pytest.mark.parametrize("way", [{"delivery": "slot"}, {"delivery": "local"}, {"resident": True}])
def test_arrange_makes_what_the_loop_gets(
    windows: tensorcache.Windows, way: dict[str, Any]
) -> None:
    options: dict[str, Any] = {"batch_size": B, "shuffle": True, "parts": ASKED, **way}
    with (
        tensorcache.torch.loader(windows, **options) as plain,
        tensorcache.torch.loader(windows, **options, arrange=stacked) as loader,
    ):
        batches = list(loader)
        assert len(batches) == len(loader) == len(plain)
        for (x, y), parts in zip(batches, plain, strict=True):
            assert torch.equal(x, torch.cat([parts["x"], parts["k"]], -1))
            assert torch.equal(y, parts["y"])
        loader.set_epoch(1)
        passing = iter(loader)
        next(passing)
        state = loader.state_dict()
        rest = [x for x, _ in passing]
        again = pickle.loads(pickle.dumps(loader))
        again.load_state_dict(state)
        with again:
            assert all(torch.equal(x, want) for (x, _), want in zip(again, rest, strict=True))


@pytest.mark.parametrize("form", ["tuple", "dict"])
def test_arrange_gets_what_the_format_gives(windows: tensorcache.Windows, form: Any) -> None:
    seen = []
    options: dict[str, Any] = {"batch_size": B, "format": form, "arrange": seen.append}
    with tensorcache.torch.loader(windows, **options) as loader:
        assert next(iter(loader)) is None
    assert isinstance(seen[0], tuple if form == "tuple" else dict)


def test_an_error_of_arrange_names_the_batch_and_loses_none(windows: tensorcache.Windows) -> None:
    failing = True

    def second(parts: Any) -> Any:
        if failing and parts[0][0] == B:
            raise ValueError("no such batch")
        return parts[0].tolist()

    options: dict[str, Any] = {"batch_size": B, "parts": ("row",), "arrange": second}
    with tensorcache.torch.loader(windows, **options) as loader:
        batches = iter(loader)
        got = next(batches)
        with pytest.raises(
            tensorcache.FeedError, match=r"ValueError for batch 1 of epoch 0: no su"
        ):
            next(batches)
        failing = False
        got += [row for rows in loader for row in rows]
    with windows.feed(batch_size=B) as feed:
        assert got == np.concatenate([batch.row for batch in feed]).tolist()


def test_the_batch_of_an_order_of_blocks_is_named(windows: tensorcache.Windows) -> None:
    def fail(parts: Any) -> Any:
        raise KeyError("x")

    options: dict[str, Any] = {"batch_size": B, "order": "random_start", "arrange": fail}
    with tensorcache.torch.loader(windows, **options) as loader:
        loader.set_epoch(3)
        with pytest.raises(tensorcache.FeedError, match=r"KeyError for batch 0 of epoch 3: 'x'"):
            next(iter(loader))


def test_a_function_without_a_name_cannot_be_pickled(windows: tensorcache.Windows) -> None:
    options: dict[str, Any] = {"batch_size": B, "arrange": lambda parts: parts}
    with tensorcache.torch.loader(windows, **options) as loader, copy.deepcopy(loader) as copied:
        assert len(next(iter(copied))) == 2
        with pytest.raises(tensorcache.SpecError, match="cannot be pickled") as caught:
            pickle.dumps(loader)
    assert caught.value.field == "arrange"
    assert "at the top of a module" in caught.value.hint
    dataset = tensorcache.torch.dataset(windows, arrange=lambda parts: parts)
    with pytest.raises(tensorcache.SpecError, match="cannot be pickled"):
        pickle.dumps(dataset)


@pytest.mark.parametrize(
    ("options", "field", "says"),
    [
        ({"parts": ("context",), "format": "dict"}, "format", 'got "dict" with parts='),
        ({"parts": ("context",), "format": "tuple"}, "format", 'got "tuple" with parts='),
        ({"parts": ("context",), "mask": True}, "mask", "mask: got True with parts"),
        ({"parts": ("context",), "delivery": "starts"}, "parts", 'with delivery="starts"'),
        ({"parts": ("contxt",)}, "parts", "near: context"),
        ({"parts": ("context", Part("context"))}, "parts", "context twice"),
        ({"parts": (Part("context", ["a"], "int64"),)}, "parts", "does not fit int64"),
        ({"arrange": 3}, "arrange", "arrange: got 3, want a function"),
    ],
)
def test_wrong_options_are_refused(
    windows: tensorcache.Windows, options: dict[str, Any], field: str, says: str
) -> None:
    with pytest.raises(tensorcache.SpecError, match=says) as caught:
        tensorcache.torch.loader(windows, batch_size=B, **options)
    assert caught.value.field == field
    if set(options) <= {"parts", "format", "arrange"}:
        with pytest.raises(tensorcache.SpecError, match=says):
            tensorcache.torch.dataset(windows, **options)


def test_items_of_text_make_no_tensors(cache: tensorcache.Cache) -> None:
    data = cache.put("texts", {"id": ["a"] * 9 + ["b"] * 9, "v": np.arange(18.0)}, item_id="id")
    windows = data.windows(context_length=3)
    for make in (
        lambda parts: tensorcache.torch.loader(windows, batch_size=2, parts=parts),
        lambda parts: tensorcache.torch.dataset(windows, parts=parts),
    ):
        with pytest.raises(tensorcache.SpecError, match="item: torch makes tensors only of") as e:
            make(("item", "context"))
        assert "item_code" in e.value.hint
        make(("item_code", "context"))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("together", [False, True])
def test_a_data_loader_gives_the_parts_of_a_loader(
    windows: tensorcache.Windows, workers: int, together: bool
) -> None:
    asked = {**PARTS, "row": "row"}
    dataset = tensorcache.torch.dataset(windows, parts=asked)
    same(dataset[5]["x"], windows[5].context)
    assert dataset[-1]["start"] == windows[-1].start
    more: dict[str, Any] = {"collate_fn": dataset.collate} if together else {}
    batches = DataLoader(dataset, batch_size=B, num_workers=workers, **more)
    with windows.feed(batch_size=B, parts=asked) as feed:
        for got, want in zip(batches, feed, strict=True):
            assert list(got) == list(want)
            for key, array in want.items():
                same(got[key], array)


def fails_at_100(parts: dict[str, torch.Tensor]) -> Any:
    """An arrangement that raises for window 100."""
    if (parts["row"] == 100).any():
        raise ValueError("100 is not allowed")
    return parts["row"], parts["row"]


@pytest.mark.parametrize("together", [False, True])
def test_an_error_in_a_worker_names_the_windows(
    windows: tensorcache.Windows, together: bool
) -> None:
    dataset = tensorcache.torch.dataset(windows, parts={"row": "row"}, arrange=fails_at_100)
    assert dataset[7] == (7, 7)
    assert dataset[[7, 9]][0].tolist() == [7, 9]
    more: dict[str, Any] = {"collate_fn": dataset.collate} if together else {}
    loader = DataLoader(dataset, batch_size=B, num_workers=1, **more)
    where = "for windows 96, 97, 98, …: 100 is" if together else "for window 100: 100 is"
    with pytest.raises(Exception, match=where) as caught:
        list(loader)
    assert "ValueError" in str(caught.value)
    assert "100 is not allowed" in str(caught.value)


@pytest.mark.parametrize("together", [False, True])
def test_a_data_loader_stacks_tensors_alone(windows: tensorcache.Windows, together: bool) -> None:
    dataset = tensorcache.torch.dataset(windows, arrange=lambda pair: pair[0].sum(-1))
    more: dict[str, Any] = {"collate_fn": dataset.collate} if together else {}
    batches = list(DataLoader(dataset, batch_size=B, **more))
    want = torch.from_numpy(windows[:].context).sum(-1)
    assert torch.equal(torch.cat(batches), want)


RESULTS: dict[str, Any] = {
    "tensor": lambda x, n: x, "tuple": lambda x, n: (x, n), "dict": lambda x, n: {"x": x, "n": n},
}  # fmt: skip


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("together", [False, True])
def test_each_window_or_batch_is_arranged_once(
    windows: tensorcache.Windows, result: str, together: bool
) -> None:
    calls = []

    def arrange(parts: tuple[torch.Tensor, torch.Tensor]) -> Any:
        calls.append(parts[0].ndim)
        parts[0].add_(1)  # in place
        return RESULTS[result](*parts)

    dataset = tensorcache.torch.dataset(windows, parts=("context", "row"), arrange=arrange)
    more: dict[str, Any] = {"collate_fn": dataset.collate} if together else {}
    batch = next(iter(DataLoader(dataset, batch_size=4, **more)))
    assert calls == ([3] if together else [2] * 4)
    got = batch if result == "tensor" else batch["x"] if result == "dict" else batch[0]
    assert torch.equal(got, torch.from_numpy(windows[:4].context) + 1)


def test_a_dataset_of_parts_takes_slices(windows: tensorcache.Windows) -> None:
    plain, parts = (
        tensorcache.torch.dataset(windows),
        tensorcache.torch.dataset(windows, parts=("context", "row")),
    )
    for index in (slice(3), slice(-4, None, 2), [5, 1]):
        assert torch.equal(plain[index][0], parts[index][0])
    assert parts[2:5][1].tolist() == [2, 3, 4]


def test_what_arrange_returns_is_pinned(
    windows: tensorcache.Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned: list[tuple[int, ...]] = []

    def pin(tensor: torch.Tensor) -> torch.Tensor:
        pinned.append(tuple(tensor.shape))
        return tensor.clone()

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.Tensor, "pin_memory", pin)

    def arrange(parts: dict[str, torch.Tensor]) -> Any:
        return {"pair": [torch.cat([parts["x"], parts["k"]], -1)], "name": "a"}

    options: dict[str, Any] = {"batch_size": 4, "parts": ASKED, "pin_memory": True}
    with tensorcache.torch.loader(windows, **options, arrange=arrange) as loader:
        batch = next(iter(loader))
    assert pinned == [(4, C, 3)]
    assert batch["pair"][0].shape == (4, C, 3)
    assert batch["name"] == "a"


@pytest.mark.parametrize("way", [{"delivery": "view"}, {"resident": True}, {"rank": 1}])
def test_the_failed_batch_is_named_by_every_delivery(
    windows: tensorcache.Windows, way: dict[str, Any]
) -> None:
    seen = []

    def third(parts: tuple[torch.Tensor, ...]) -> None:
        seen.append(parts)
        if len(seen) == 4:
            raise ValueError("the fourth")

    options: dict[str, Any] = {"batch_size": B, "arrange": third, "parts": ("context",), **way}
    if "rank" in way:
        options["num_replicas"] = 2
    with (
        tensorcache.torch.loader(windows, **options) as loader,
        pytest.raises(tensorcache.FeedError, match="for batch 3 of epoch 0: the fourth"),
    ):
        list(loader)


def test_windows_without_a_target(data: tensorcache.Dataset) -> None:
    windows = data.windows(context_length=C, prediction_length=P, columns="a").latest()
    with tensorcache.torch.loader(windows, batch_size=4, parts=ASKED) as loader:
        assert list(next(iter(loader))) == ["x"]
    with tensorcache.torch.loader(windows, batch_size=4) as loader:
        assert len(next(iter(loader))) == 1
    assert len(tensorcache.torch.dataset(windows, parts=ASKED)[0]) == 1


def test_parts_that_the_daemon_refuses_by_auto(data: tensorcache.Dataset) -> None:
    windows = data.windows(context_length=C, columns="a", min_context=2, pad_value=np.nan)
    for part, says in (
        (Part("context", dtype="bfloat16"), 'dtype: got "bfloat16"'),
        (Part("context", dtype="int64"), "context: "),
    ):
        with pytest.raises(tensorcache.SpecError, match=says):
            tensorcache.torch.loader(windows, batch_size=4, parts=(part,))
        with pytest.raises(tensorcache.SpecError, match=says):
            tensorcache.torch.dataset(windows, parts=(part,))


def test_cloudpickle_may_pickle_any_function(windows: tensorcache.Windows) -> None:
    dataset = tensorcache.torch.dataset(windows, arrange=lambda parts: parts)
    source = "def reduce(arrange): return arrange.__reduce__()"
    module: dict[str, Any] = {"__name__": "ray.cloudpickle"}
    exec(source, module)
    made, arguments = module["reduce"](dataset._arrange)
    assert made(*arguments)(3, str) == 3


def test_views_of_parts_are_guarded(windows: tensorcache.Windows) -> None:
    asked = ("known_context", "row")
    with tensorcache.torch.loader(windows, batch_size=B, delivery="view", parts=asked) as loader:
        batches = iter(loader)
        known, _ = next(batches)
        known.add_(1)
        with pytest.raises(tensorcache.FeedError, match="was changed in place"):
            next(batches)
