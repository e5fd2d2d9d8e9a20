"""Windows per second to a consumer that reads no values, and the cost of opening a feed."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from delivery_case import (
    NotMeasuredError,
    Options,
    Result,
    Shape,
    agree,
    by_turns,
    connect,
    digest,
    forever,
    middle,
    millions,
    put,
    rate,
    ratio,
    table,
    timed,
    windows_of,
)  # fmt: skip
from delivery_peers import PEERS, expert, views

from tensorcache import torch as adapter
from tensorcache._feed.auto_delivery import MOST_STEPS

CHECKED = 16
"""Batches whose contents are compared."""
EXPERT, MEMCPY, ONE_BLOCK = (
    "expert in process",
    "memcpy on one core",
    "memcpy on one core, always into one block",
)
OURS = "tensorcache"
SAME = 1.1
"""Microseconds that differ by less are the same."""


def memcpy(array: np.ndarray, shape: Shape, blocks: int) -> Iterator[None]:
    """Copy a batch's bytes from random places into ``blocks`` memory blocks in turn, as in a ring.

    A single block would stay in the CPU cache, and it could store only the latest batch.
    """
    flat, out = array.reshape(-1), np.zeros((blocks, shape.values), np.float32)
    places = np.random.default_rng(1).integers(0, flat.size - shape.values, 4096).tolist()
    for at, block in zip(itertools.cycle(places), itertools.cycle(out), strict=False):
        np.copyto(block, flat[at : at + shape.values])
        yield


def drawn(shape: Shape) -> np.ndarray:
    """Return a random order of whole batches, so long that no case repeats it in a round."""
    count = min(shape.windows, 1_000_000) // shape.batch * shape.batch
    return np.random.default_rng(2).permutation(shape.windows)[:count]


def in_order(windows: Any, order: str, shape: Shape, count: int) -> tuple[np.ndarray, str]:
    """Return the starts of an epoch's first ``count`` batches in order, and their hash."""
    options = {"batch_size": shape.batch, "order": order, "seed": 3}
    with adapter.loader(windows, format="dict", **options) as loader:
        starts = torch.cat([batch["start"] for batch in itertools.islice(loader, count)]).numpy()
    with adapter.loader(windows, **options) as loader:
        return starts, digest(itertools.islice(loader, count))


def checked(
    windows: Any, array: np.ndarray, shape: Shape, recipes: dict[str, Any]
) -> dict[str, Any]:
    """Check that the recipes make the feed's batches; return the recipes, or why one cannot run."""
    count = min(CHECKED, shape.windows // shape.batch)
    starts, ours = in_order(windows, "shuffle", shape, count)
    hashes, there = {OURS: ours}, {}
    for name, recipe in recipes.items():
        try:
            hashes[name] = digest(itertools.islice(recipe(array, starts, shape), count))
            there[name] = recipe
        except NotMeasuredError as why:
            there[name] = why
    agree(hashes)
    return there


def warm(loader: Any, options: Options) -> Iterator[Any]:
    """Return the loader's batches after it has chosen its delivery and its number of slots."""
    batches = forever(loader)
    rate(batches, min(3.0, options.seconds * 5), at_least=MOST_STEPS)
    return batches


def against(
    name: str, layout: str, shape: Shape, options: Options, peers: bool
) -> tuple[dict, dict, str]:
    """Measure ours, the expert's recipe, memcpy and, if ``peers`` is set, the peers.

    Returns the figures, the cases that could not be measured, and the delivery that ours used.
    """
    array = table(shape)
    windows = windows_of(put(name, array, layout), shape)
    recipes = checked(windows, array, shape, {EXPERT: expert, **(PEERS if peers else {})})
    order = drawn(shape)
    cases: dict[str, Callable[[], float]] = {}
    with adapter.loader(windows, batch_size=shape.batch, shuffle=True) as loader:
        ours = warm(loader, options)
        cases[OURS] = timed(lambda: ours, options)
        slots = loader.stats()["slots"]
        cases[MEMCPY] = timed(lambda: memcpy(array, shape, slots), options)
        cases[ONE_BLOCK] = timed(lambda: memcpy(array, shape, 1), options)
        for peer, recipe in recipes.items():
            if not isinstance(recipe, NotMeasuredError):
                cases[peer] = timed(lambda recipe=recipe: recipe(array, order, shape), options)
        measured = by_turns(cases, options.runs)
        stats = loader.stats()
    measured = {
        case: [batches * shape.batch for batches in figures] for case, figures in measured.items()
    }
    skips = {peer: why for peer, why in recipes.items() if isinstance(why, NotMeasuredError)}
    return measured, skips, f"delivery {stats['delivery']}, {stats['slots']} slots"


def packed(options: Options) -> Result:
    """Compare packed rows with all peers."""
    torch.set_num_threads(1)
    result = Result()
    measured, skips, note = against("packed", "packed", options.shape(), options, peers=True)
    value = millions(middle(measured, OURS))
    what = "windows per second, packed layout, trainer does not read them"
    result.at_least(what, value, ratio(measured, OURS, EXPERT), EXPERT, 1.6, note)
    result.at_least(
        what, value, ratio(measured, OURS, MEMCPY), MEMCPY, 0.9, "into as many blocks in turn"
    )
    for name in (EXPERT, MEMCPY, ONE_BLOCK, *PEERS):
        if name in skips:
            result.skipped(name, skips[name])
        else:
            result.told(
                name,
                millions(middle(measured, name)),
                ratio(measured, OURS, name),
                "tensorcache to this",
            )
    bars = [name for name in measured if name != ONE_BLOCK]
    result.numbers |= {f"windows/{name}": middle(measured, name) for name in bars}
    return result


def columns(options: Options) -> Result:
    """Measure contiguous columns of three widths."""
    torch.set_num_threads(1)
    result = Result()
    for features, rows in ((8, 4_000_000), (2, 4_000_000), (32, 1_000_000)):
        shape = options.shape(rows, features)
        measured, _, note = against(f"columns{features}", "columns", shape, options, peers=False)
        value, found = millions(middle(measured, OURS)), ratio(measured, OURS, EXPERT)
        what = f"windows per second, {features} columns, trainer does not read them"
        if features == 8:
            result.at_least(what, value, found, EXPERT, 1.2, note)
            result.numbers["windows/tensorcache, columns"] = middle(measured, OURS)
        else:
            result.told(what, value, found, EXPERT, note)
        connect().remove(f"columns{features}")
    return result


def view(options: Options) -> Result:
    """Compare batches that are views with hand-written strides."""
    torch.set_num_threads(1)
    shape, result = options.shape(), Result()
    array = table(shape)
    windows = windows_of(put("packed", array, "packed"), shape)
    feeding = {"batch_size": shape.batch, "order": "random_start", "seed": 3}
    with adapter.loader(windows, format="dict", delivery="view", **feeding) as loader:
        first = [
            batch
            for batch in itertools.islice(loader, CHECKED)
            if len(batch["start"]) == shape.batch
        ]
        starts = np.array([int(batch["start"][0]) for batch in first])
        ours = digest((batch["context"], batch["target"]) for batch in first)
        agree(
            {
                OURS: ours,
                "recipe": digest(itertools.islice(views(array, starts, shape), len(first))),
            }
        )
    order = np.random.default_rng(2).integers(0, shape.windows - shape.batch, 100_000)
    with adapter.loader(windows, delivery="view", **feeding) as loader:
        batches = warm(loader, options)
        cases = {
            OURS: timed(lambda: batches, options),
            "recipe": timed(lambda: views(array, order, shape), options),
        }
        measured = by_turns(cases, options.runs)
        note = f"{loader.stats()['slots']} slots"
    value = f"{middle(measured, OURS) / 1e3:.0f} k batches/s"
    result.at_least(
        "view batches/s",
        value,
        ratio(measured, OURS, "recipe"),
        "strided recipe in process",
        1.5,
        note,
    )
    result.told("strided recipe in process", f"{middle(measured, 'recipe') / 1e3:.0f} k batches/s")
    return result


def attach(options: Options) -> Result:
    """Measure ``connect()`` to the first batch of a dataset that has served a feed before."""
    shape, result = options.shape(), Result()
    put("packed", table(shape), "packed")
    took: dict[str, list[float]] = {"numpy": [], "torch": []}
    for _ in range(3 if options.quick else 31):
        for name, figures in took.items():
            began = time.perf_counter()
            windows = windows_of(connect().dataset("packed"), shape)
            feeding = {"batch_size": shape.batch, "order": "shuffle"}
            made = (
                windows.feed(**feeding) if name == "numpy" else adapter.loader(windows, **feeding)
            )
            next(iter(made))
            figures.append((time.perf_counter() - began) * 1e3)
            made.close()
            while connect().feeds():  # until the daemon has closed the feed
                time.sleep(0.02)
    for name, figures in took.items():
        note = f"slowest of {len(figures)}: {max(figures):.1f} ms"
        result.limit(
            f"connect, attach, first batch, warm, {name}",
            statistics.median(figures),
            "ms",
            10,
            note,
        )
    return result


def many(options: Options) -> Result:
    """Compare 10⁹ rows and 10⁶ items with 10⁶ rows; one byte per row keeps the setup to seconds.

    ``delivery="starts"`` reads no rows: its figure is the cost to find and announce windows. With
    slots, the figure includes the cache misses of a large dataset.
    """
    result, small = Result(), 100 if options.quick else 1
    rows, items = 1_000_000_000 // small**2, 1_000_000 // small
    sets = {
        "10⁶ rows": {"a": np.ones(1_000_000 // small, np.uint8)},
        "10⁹ rows": {"a": np.broadcast_to(np.uint8(1), (rows,))},
        "10⁶ items": {
            "item": np.repeat(np.arange(items, dtype=np.int32), 150),
            "a": np.broadcast_to(np.uint8(1), (items * 150,)),
        },
    }
    shape, microseconds = Shape(features=1), {}
    made = {
        name: windows_of(
            connect().put(f"many{i}", sets[name], item_id="item" if "item" in sets[name] else None),
            shape,
        )
        for i, name in enumerate(sets)
    }
    for delivery, order in itertools.product(("starts", "slot"), ("sequential", "shuffle")):
        feeds = {
            name: windows.feed(batch_size=shape.batch, order=order, delivery=delivery, slots=64)
            for name, windows in made.items()
        }
        batches = {name: forever(feed) for name, feed in feeds.items()}
        brief = Options(seconds=options.seconds / 2)
        cases = {
            name: timed(lambda name=name, batches=batches: batches[name], brief) for name in feeds
        }
        measured = by_turns(cases, options.runs)
        microseconds[delivery, order] = {
            name: [1e6 / figure for figure in measured[name]] for name in measured
        }
        for feed in feeds.values():
            feed.close()
    few = "10⁶ rows"
    for name in list(sets)[1:]:
        for (delivery, order), took in microseconds.items():
            what = f"{name}, {order}, " + (
                "item and start alone" if delivery == "starts" else "batches"
            )
            value, found = f"{middle(took, name):.3g} µs a batch", ratio(took, name, few)
            note = f"{few}: {middle(took, few):.3g} µs"
            if delivery == "starts" and (order == "sequential" or name == "10⁹ rows"):
                result.at_most(what, value, found, few, SAME, note)
            else:
                result.told(what, value, found, few, note)
    return result
