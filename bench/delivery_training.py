"""A training step of NLinear on ETTh1, compared with resident batches and a hand-tuned gather.

NLinear (Zeng, Chen, Zhang, Xu: Are Transformers Effective for Time Series Forecasting?, AAAI 2023)
is small: a step takes well under a millisecond, so the cost of a loader is visible.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from delivery_case import (
    Options,
    Result,
    Shape,
    agree,
    by_turns,
    connect,
    digest,
    forever,
    middle,
    rate,
    ratio,
)
from delivery_peers import expert
from delivery_windows import CHECKED, OURS, in_order

import tensorcache
from tensorcache import torch as adapter
from tensorcache._feed.auto_delivery import MOST_STEPS

CSV = Path(__file__).parent.parent / "examples" / "data" / "ETTh1.csv"
TRAIN = 8640
COLD, HOT, GATHER = "64 resident batches in turn", "one resident batch", "expert's gather"
Step = Callable[[tuple[torch.Tensor, torch.Tensor]], None]


def etth1() -> tuple[Any, np.ndarray, Shape]:
    """Return the training windows, the same rows as an array, and the shape."""
    data = connect().load(
        "etth1", CSV, time="date", scale="standard", fit_rows=(0, TRAIN), layout="packed"
    )
    train, _, _ = data.windows(context_length=336, prediction_length=96).split(
        lengths=(TRAIN, 2880, 2880)
    )
    names = train.features["context"]
    rows = np.stack([data[name] for name in names], axis=1)[:TRAIN].astype(np.float32)
    return train, rows, Shape(TRAIN, len(names), 336, 96, 32)


class NLinear(torch.nn.Module):
    """Each series relative to its last value, one linear map over time."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(shape.context, shape.prediction)

    def forward(self, context: torch.Tensor) -> torch.Tensor:
        """``[B, C, F]`` to ``[B, P, F]``."""
        last = context[:, -1:, :]
        return self.linear((context - last).permute(0, 2, 1)).permute(0, 2, 1) + last


def stepper(shape: Shape) -> Step:
    """Return the function that makes one training step with a batch."""
    torch.manual_seed(0)
    model = NLinear(shape)
    adam = torch.optim.Adam(model.parameters(), 1e-3)

    def step(batch: tuple[torch.Tensor, torch.Tensor]) -> None:
        adam.zero_grad()
        torch.nn.functional.mse_loss(model(batch[0]), batch[1]).backward()
        adam.step()

    return step


def resident(shape: Shape, count: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Return ``count`` batches in memory, repeated without end."""
    made = [
        (
            torch.randn(shape.batch, shape.context, shape.features),
            torch.randn(shape.batch, shape.prediction, shape.features),
        )
        for _ in range(count)
    ]
    return itertools.cycle(made)


def stepping(batches: Iterator[Any], step: Step, options: Options) -> Callable[[], float]:
    """Return a case that measures microseconds per step."""
    steps = map(step, batches)

    def case() -> float:
        rate(steps, options.seconds / 20)  # warm the CPU caches after the previous case
        return 1e6 / rate(steps, options.seconds)

    return case


def measure(
    loader: Any, others: dict[str, Iterator[Any]], step: Step, options: Options
) -> tuple[dict, float]:
    """Return microseconds per step by case, and the share of time in which ours waited for data."""
    batches, waits, seconds = forever(loader), 0.0, 0.0
    rate(map(step, batches), 0, at_least=MOST_STEPS)  # until the loader has chosen its delivery
    ours = stepping(batches, step, options)

    def waiting() -> float:
        nonlocal waits, seconds
        before, began = loader.stats()["wait_s"], time.perf_counter()
        took = ours()
        seconds += time.perf_counter() - began
        waits += loader.stats()["wait_s"] - before
        return took

    cases = {OURS: waiting} | {
        name: stepping(other, step, options) for name, other in others.items()
    }
    return by_turns(cases, options.runs), waits / seconds


def shuffled(options: Options, threads: int) -> Result:
    """Measure a random order in which each window occurs once per epoch."""
    torch.set_num_threads(threads)
    result, (train, rows, shape) = Result(), etth1()
    starts, ours = in_order(train, "shuffle", shape, CHECKED)
    agree({OURS: ours, GATHER: digest(itertools.islice(expert(rows, starts, shape), CHECKED))})
    order = np.random.default_rng(2).permutation(len(train))
    others = {
        COLD: resident(shape, 64),
        GATHER: expert(rows, order, shape),
        HOT: resident(shape, 1),
    }
    with adapter.loader(train, batch_size=shape.batch, shuffle=True, drop_last=True) as loader:
        took, waiting = measure(loader, others, stepper(shape), options)
        note = f"delivery {loader.stats()['delivery']}"
    word = "one thread" if threads == 1 else f"{threads} threads"
    what, value = f"NLinear's step, shuffle, {word}", f"{middle(took, OURS):.0f} µs"
    result.at_most(what, value, ratio(took, OURS, COLD), COLD, 1.06 if threads == 1 else 1.08, note)
    result.at_most(what, value, ratio(took, OURS, GATHER), GATHER, 1.02)
    result.limit(f"waiting for data, {word}", waiting * 100, "%", 1)
    for name in (COLD, GATHER, HOT):
        result.told(f"{name}, {word}", f"{middle(took, name):.0f} µs")
    result.numbers |= {f"step{threads}/{name}": ratio(took, name, HOT) for name in took}
    return result


def one_thread(options: Options) -> Result:
    """Measure with one thread, as most trainers of small models run."""
    return shuffled(options, 1)


def two_threads(options: Options) -> Result:
    """Measure with a thread for each core of the targets' machine; the daemon has no free core."""
    return shuffled(options, 2)


def by_views(options: Options) -> Result:
    """Measure ``random_start``: batches of consecutive windows without copies."""
    torch.set_num_threads(1)
    result, (train, rows, shape) = Result(), etth1()
    feeding = {"batch_size": shape.batch, "order": "random_start", "delivery": "view"}
    with adapter.loader(train, format="dict", **feeding) as loader:
        for batch in itertools.islice(loader, CHECKED):
            at = int(batch["start"][0])
            window = (
                torch.from_numpy(rows)
                .unfold(0, shape.length, 1)
                .transpose(1, 2)[at : at + len(batch["start"])]
            )
            parts = window[:, : shape.context], window[:, shape.context :]
            agree({OURS: digest([(batch["context"], batch["target"])]), "rows": digest([parts])})
    with tensorcache.torch.loader(train, **feeding) as loader:
        took, waiting = measure(loader, {HOT: resident(shape, 1)}, stepper(shape), options)
    value = f"{middle(took, OURS):.0f} µs"
    note = f"waiting {waiting * 100:.2f} %"
    result.at_most(
        "NLinear's step, random_start by views", value, ratio(took, OURS, HOT), HOT, 1.0, note
    )
    result.numbers["step1/tensorcache, views"] = ratio(took, OURS, HOT)
    return result
