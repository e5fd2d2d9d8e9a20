"""Batches on a CUDA device: copies from the pinned ring, and columns that stay on the device."""

from __future__ import annotations

import itertools

import torch
from delivery_case import (
    NotMeasuredError,
    Options,
    Result,
    agree,
    by_turns,
    digest,
    middle,
    put,
    ratio,
    table,
    timed,
    windows_of,
)
from delivery_peers import expert
from delivery_windows import CHECKED, OURS, drawn, in_order, warm

from tensorcache import torch as adapter

LINK, GATHER = "pinned contiguous copy", "plain gather on the device"


def cuda(options: Options) -> Result:
    """Compare with the link's rate, and with a gather from a tensor on the device."""
    if not torch.cuda.is_available():
        raise NotMeasuredError("no CUDA device here")
    result, shape = Result(), options.shape()
    array = table(shape)
    windows = windows_of(put("packed", array, "packed"), shape)
    count = min(CHECKED, shape.windows // shape.batch)
    starts, ours = in_order(windows, "shuffle", shape, count)
    hashes = {OURS: ours}
    for resident in (False, True):
        options_of = {
            "batch_size": shape.batch,
            "shuffle": True,
            "seed": 3,
            "device": "cuda",
            "resident": resident,
        }
        with adapter.loader(windows, **options_of) as loader:
            pairs = (
                (context.cpu(), target.cpu()) for context, target in itertools.islice(loader, count)
            )
            hashes[f"resident={resident}"] = digest(pairs)
    agree(hashes)
    on_device = torch.from_numpy(array).cuda()
    rows = on_device.as_strided((shape.windows, shape.length * shape.features), (shape.features, 1))
    host = torch.empty(shape.values, pin_memory=True)
    order = torch.from_numpy(drawn(shape)).cuda()
    agree({"expert": digest(itertools.islice(expert(array, starts, shape), count)), OURS: ours})

    def copies():
        there = torch.empty(shape.values, device="cuda")
        while True:
            there.copy_(host, non_blocking=True)
            yield torch.cuda.current_stream().synchronize()

    def gathers():
        for at in itertools.cycle(range(0, len(order) - shape.batch + 1, shape.batch)):
            batch = rows.index_select(0, order[at : at + shape.batch])
            yield batch, torch.cuda.current_stream().synchronize()

    def synchronized(batches):
        for batch in batches:
            yield batch, torch.cuda.current_stream().synchronize()

    for resident, other, name, bar in ((False, copies, LINK, 0.9), (True, gathers, GATHER, 1.0)):
        options_of = {
            "batch_size": shape.batch,
            "shuffle": True,
            "device": "cuda",
            "resident": resident,
        }
        with adapter.loader(windows, **options_of) as loader:
            batches = synchronized(warm(loader, options))
            cases = {
                OURS: timed(lambda batches=batches: batches, options),
                name: timed(other, options),
            }
            measured = by_turns(cases, options.runs)
        what = "resident gather on the device" if resident else "ring to device"
        value = f"{middle(measured, OURS) * shape.values * 4 / 1e9:.1f} GB/s"
        result.at_least(
            what, value, ratio(measured, OURS, name), name, bar, torch.cuda.get_device_name()
        )
    return result
