"""A program that writes into every array that the client gives out, in every way it knows.

    writing.py KIND PLACE

KIND is numpy, arrow, torch or jax; PLACE main, fork or worker. It prints a line for each way to get
an array and each write, and fails if a later read has other values. A crash ends it with a signal.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tensorcache

Array = np.ndarray[Any, Any]
Ways = dict[str, Callable[[], Any]]
Write = Callable[[Array], None]

ROWS, FEW = 40_000, 300  # of the items: columns of the first are too large to be copied
MANY = 20_000  # items, so that their offsets are too large to be copied
DATASETS = ("columns", "packed", "many")
DELIVERIES = ("auto", "slot", "local", "starts")
REFUSALS = (TypeError, ValueError, RuntimeError, BufferError, AttributeError)
"""What NumPy, Arrow, torch and JAX raise for an array that they do not take or write into."""
SAMPLE_PARTS = (
    *tensorcache.Sample.__dataclass_fields__, "known_context", "known_target", "observed",
    "target_observed",
)  # fmt: skip
PARTS = (*SAMPLE_PARTS, "row", "reset")


def columns() -> dict[str, Array]:
    """The columns of the first two datasets."""
    rng = np.random.default_rng(3)
    rows = ROWS + FEW
    made = {
        "id": np.repeat(["long", "short"], [ROWS, FEW]),
        "t": np.datetime64("2024-01-01", "m") + np.arange(rows) * np.timedelta64(1, "m"),
        "a": rng.normal(size=rows).astype(np.float32),
        "b": rng.normal(size=rows).astype(np.float32),
        "pair": rng.normal(size=(rows, 2)).astype(np.float32),
        "count": rng.integers(0, 100, rows),
        "wait": rng.integers(0, 100, rows).astype("m8[s]"),
        "open": rng.random(rows) < 0.5,
        "word": rng.choice(["low", "high"], rows),
        "size": np.repeat(np.float32([1, 2]), [ROWS, FEW]),
    }
    for end in (ROWS, rows):  # so that latest() knows rows after its context
        made["pair"][end - 6 : end] = np.nan
    return made


def make(cache: tensorcache.Cache) -> list[tensorcache.Dataset]:
    """The datasets that the program opens."""
    made = [
        cache.put(layout, columns(), item_id="id", time="t", layout=layout)
        for layout in ("columns", "packed")
    ]
    ids = {"id": np.arange(MANY) + 7, "y": np.zeros(MANY, np.float32)}
    return [*made, cache.put("many", ids, item_id="id")]


def ways_of(data: tensorcache.Dataset) -> Ways:
    """The ways to get an array of a dataset without a feed."""
    ways: Ways = {f"data[{name}]": lambda name=name: data[name] for name in data}
    ways |= {
        "items.row_offset": lambda: data.items.row_offset,
        "items.rows": lambda: data.items.rows,
        "items[codes]": lambda: data.items[np.arange(2)],
        "items.codes": lambda: data.items.codes(data.items[:2]),
    }
    if data.name == "many":
        return ways
    for item in ("long", "short"):
        ways |= {f"item({item})[{n}]": lambda n=n, i=item: data.item(i)[n] for n in data}
    ways |= {
        f"by_item[{name}]": lambda name=name: next(iter(data.by_item()))[1][name] for name in data
    }
    as_stored = data.windows(context_length=24, prediction_length=6, columns=["a", "b"], dtype=None)
    specs: dict[str, dict[str, Any]] = {
        "stored": {"columns": ["a", "b"], "dtype": None},
        "one": {"columns": "b"},
        "all parts": {
            "context_columns": ["a", "count"], "target_columns": "pair", "known_columns": "open",
            "static_columns": "size", "min_context": 3, "max_missing": None,
        },
    }  # fmt: skip
    for called, spec in specs.items():
        windows = data.windows(**{"context_length": 24, "prediction_length": 6, **spec})
        latest = windows.latest()
        one: Ways = {
            "[5]": lambda w=windows: w[5],
            "[2:4]": lambda w=windows: w[2:4],
            "[[7, 0]]": lambda w=windows: w[[7, 0]],
            "iter": lambda w=windows: next(iter(w)),
            "latest": lambda w=latest: w[0],
        }
        for place, sample in one.items():
            for part in SAMPLE_PARTS:
                if isinstance(getattr(sample(), part), np.ndarray):
                    ways[f"{called} {place}.{part}"] = lambda s=sample, p=part: getattr(s(), p)
    return ways | {
        "starts": lambda: as_stored.starts("long"),
        "per_item": as_stored.per_item,
        "vocab.find": lambda: data.vocab("word").find("low"),
    }


def feed_ways(data: tensorcache.Dataset) -> Ways:
    """The ways to get an array of a feed's first batch."""
    if data.name == "many":
        return {}
    windows = data.windows(
        context_length=24, prediction_length=6, columns="b", known_columns="a", min_context=3,
        max_missing=None,
    )  # fmt: skip
    views = data.windows(context_length=24, prediction_length=6, columns="b", known_columns="a")

    def first(windows: tensorcache.Windows, options: dict[str, Any], part: str) -> Any:
        with windows.feed(batch_size=4, **options) as feed:
            return getattr(next(iter(feed)), part)

    every: list[tuple[tensorcache.Windows, dict[str, Any]]] = [
        *((windows, {"delivery": delivery}) for delivery in DELIVERIES),
        (views, {"delivery": "view"}),
        (views, {"delivery": "view", "order": "random_start"}),
        (views, {"delivery": "view", "writable": True}),
    ]
    return {
        f"feed {options}.{part}": lambda w=w, o=options, p=part: first(w, o, p)
        for w, options in every
        for part in PARTS
        if isinstance(first(w, options, part), np.ndarray)
    }


def torch_ways(data: tensorcache.Dataset) -> Ways:
    """The ways to get a tensor, here as arrays over their memory."""
    from torch.utils.data import get_worker_info

    if data.name == "many" or get_worker_info():  # loaders have no place in workers
        return {}
    windows = data.windows(context_length=24, prediction_length=6, columns=["a", "b"])

    def loaded(**options: Any) -> Any:
        with tensorcache.torch.loader(windows, batch_size=4, **options) as loader:
            return next(iter(loader))

    every: list[dict[str, Any]] = [
        {"delivery": delivery, "shuffle": shuffle}
        for delivery in ("auto", "slot", "local", "starts")
        for shuffle in (False, True)
    ]
    every += [{"resident": True}, {"delivery": "view"}]
    ways: Ways = {
        f"loader {options}[{at}]": lambda o=options, at=at: loaded(**o)[at].numpy()
        for options in every
        for at in (0, 1)
    }
    for delivery in ("slot", "local", "view"):
        options = {"format": "dict", "delivery": delivery}
        for part in loaded(**options):
            ways[f"loader {options}[{part}]"] = lambda o=options, p=part: loaded(**o)[p].numpy()
    dataset = tensorcache.torch.dataset(windows)
    ways["dataset[3]"] = lambda: dataset[3][0].numpy()
    return ways | {"dataset[2:5]": lambda: dataset.__getitems__([2, 3, 4])[0][0].numpy()}


def other(array: Array) -> Array:
    """Other values for all of an array's."""
    if array.dtype.kind in "bO":
        return ~array if array.dtype.kind == "b" else np.full(array.shape, "other", object)
    return array + array.dtype.type(1)


def assign(array: Array) -> None:
    """Write as numpy does."""
    array[...] = other(np.array(array))


def numpy_writes() -> dict[str, Write]:
    """Ways to write with numpy alone."""

    def set_flag(array: Array) -> None:
        array.flags.writeable = True
        assign(array)

    def memory(array: Array) -> None:
        refuse_objects(array)
        memoryview(array).cast("B")[0] ^= 1

    def strided(array: Array) -> None:
        assign(np.lib.stride_tricks.as_strided(array, writeable=True))

    def pointer(array: Array) -> None:
        # As compiled code that ignores the flag.
        refuse_objects(array)
        change(array.ctypes.data)
        last = sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True))
        change(array.ctypes.data + last + array.itemsize - 1)

    def dlpack(array: Array) -> None:
        assign(np.from_dlpack(array))

    return {
        "assign": assign, "flag": set_flag, "memoryview": memory, "as_strided": strided,
        "pointer": pointer, "dlpack": dlpack,
    }  # fmt: skip


def change(address: int) -> None:
    """Change a byte."""
    byte = ctypes.c_ubyte.from_address(address)
    byte.value ^= 1


def refuse_objects(array: Array) -> None:
    """Refuse arrays of objects, whose memory is pointers."""
    if array.dtype.kind == "O":
        raise TypeError("objects")


def arrow_writes() -> dict[str, Write]:
    """Ways to write with Arrow."""
    import pyarrow as pa

    def through_buffer(array: Array) -> None:
        refuse_objects(array)
        buffer = pa.py_buffer(array)
        change(buffer.address)

    def through_array(array: Array) -> None:
        found = pa.array(array)
        change(found.buffers()[1].address)

    return {"py_buffer": through_buffer, "array": through_array}


def torch_writes() -> dict[str, Write]:
    """Ways to write with torch."""
    import torch

    def by(tensor_of: Callable[[Array], torch.Tensor]) -> Write:
        def write(array: Array) -> None:
            tensor = tensor_of(array.view("<i8") if array.dtype.kind in "mM" else array)
            tensor.logical_not_() if tensor.dtype is torch.bool else tensor.add_(1)

        return write

    return {
        "from_numpy": by(torch.from_numpy),
        "as_tensor": by(torch.as_tensor),
        "dlpack": by(torch.from_dlpack),
        "numpy()": lambda array: assign(torch.from_numpy(array).numpy()),
        "data": by(lambda array: torch.from_numpy(array).data),
    }


def jax_writes() -> dict[str, Write]:
    """Ways to write with JAX: into a donated array, or into the memory that an array lies in."""
    import jax
    import jax.numpy as jnp

    increased = jax.jit(lambda array: array + 1, donate_argnums=0)

    def donate(array: Array) -> None:
        increased(jnp.asarray(array)).block_until_ready()

    def donate_dlpack(array: Array) -> None:
        increased(jnp.from_dlpack(array)).block_until_ready()

    def pointer(array: Array) -> None:
        # Not before it is ready: this waits for JAX's threads with the lock that they may need.
        found = jnp.from_dlpack(array).block_until_ready()
        change(found.unsafe_buffer_pointer())

    return {"donated": donate, "donated dlpack": donate_dlpack, "pointer": pointer}


KINDS = {"numpy": numpy_writes, "arrow": arrow_writes, "torch": torch_writes, "jax": jax_writes}


def write_everywhere(kind: str) -> Iterator[str]:
    """Write in all ways, and yield a line for each; check all later reads."""
    cache = tensorcache.connect()
    for data in map(cache.dataset, DATASETS):
        ways = ways_of(data)
        feeds = feed_ways(data) | (torch_ways(data) if kind == "torch" else {})
        was = {name: np.array(read()) for name, read in (ways | feeds).items()}
        for name, read in (ways | feeds).items():
            for how, write in KINDS[kind]().items():
                yield f"{data.name}: {name}: {how}: {outcome_of(write, read(), was[name])}"
                hold(was, {name: read}, f"{data.name}: {name}: {how}")
            hold(was, ways, f"{data.name}: {name}")
        hold(was, ways | feeds, f"{data.name}: the end")


def outcome_of(write: Write, array: Array, was: Array) -> str:
    """Write into an array, and say whether it was refused or changed the array."""
    try:
        write(array)
    except REFUSALS as error:
        return f"refused: {type(error).__name__}"
    return "kept" if same(array, was) else "written"


def hold(was: dict[str, Array], ways: Ways, after: str) -> None:
    """Check that reads have the same values as before all writes."""
    for name, read in ways.items():
        if not same(read(), was[name]):
            sys.exit(f"after {after}: {name} has other values")


def same(array: Array, was: Array) -> bool:
    """Whether two arrays have the same bytes, or the same objects."""
    if array.dtype.kind == "O":
        return bool(np.array_equal(array, was))
    return np.array(array).tobytes() == was.tobytes()


def in_fork(kind: str) -> Iterator[str]:
    """Write in a forked child, which has the arrays and the maps of its parent."""
    cache = tensorcache.connect()
    datasets = [cache.dataset(name) for name in DATASETS]
    ways = {f"{d.name}: {name}": read for d in datasets for name, read in ways_of(d).items()}
    held = {name: read() for name, read in ways.items()}
    was = {name: np.array(array) for name, array in held.items()}
    read, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        with os.fdopen(out, "w") as pipe:
            for name, array in held.items():
                for how, write in KINDS[kind]().items():
                    before = np.array(array)
                    print(f"{name}: {how}: {outcome_of(write, array, before)}", file=pipe)
                    hold(was, {name: ways[name]}, f"{name}: {how} in the child")
            hold(was, ways, "writes in the child")
        os._exit(0)
    os.close(out)
    with os.fdopen(read) as pipe:
        yield from pipe.read().splitlines()
    assert os.waitpid(pid, 0)[1] == 0, "the child"
    hold(was, ways, "writes of the child")
    hold(was, {name: lambda name=name: held[name] for name in held}, "writes of the child")


def in_worker(kind: str) -> Iterator[str]:
    """Write in a worker of torch's DataLoader."""
    from torch.utils.data import DataLoader, IterableDataset

    class Lines(IterableDataset[str]):
        def __iter__(self) -> Iterator[str]:
            return write_everywhere(kind)

    yield from DataLoader(Lines(), batch_size=None, num_workers=1)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    _, kind, place = sys.argv
    for line in {"main": write_everywhere, "fork": in_fork, "worker": in_worker}[place](kind):
        print(line, flush=True)
