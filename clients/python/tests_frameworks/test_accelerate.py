"""Accelerate does not shard prepared loaders again; epochs end on time, and states are saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import Accelerator

import tensorcache
from conftest import B, C, P, orders, run

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"
)


def starts(loader: Any) -> list[int]:
    return [start for batch in loader for start in batch["start"].tolist()]


@pytest.fixture(scope="module")
def accelerator() -> Accelerator:
    return Accelerator(cpu=True, gradient_accumulation_steps=4)


def test_a_pass_of_n_batches_ends_there(
    windows: tensorcache.Windows, accelerator: Accelerator
) -> None:
    options: dict[str, Any] = {"batch_size": B, "shuffle": True, "format": "dict"}
    order = {"seed": 3, "batches_per_epoch": 12}
    with tensorcache.accelerate.loader(accelerator, windows, **options, **order) as loader:
        for want in orders(windows, 4, **order):
            seen, last = [], []
            for batch in loader:
                last.append(accelerator.gradient_state.end_of_dataloader)
                seen += accelerator.gather_for_metrics(batch["start"].clone()).tolist()
            assert last == [False] * 11 + [True]
            assert seen == want


def test_prepare_hands_it_back(windows: tensorcache.Windows, accelerator: Accelerator) -> None:
    model = torch.nn.Linear(C, P)
    made = tensorcache.accelerate.loader(
        accelerator, windows, batch_size=B, shuffle=True, seed=3, format="dict"
    )
    with (
        made,
        tensorcache.torch.loader(
            windows, batch_size=B, shuffle=True, seed=3, format="dict"
        ) as plain,
    ):
        model, adam, loader = accelerator.prepare(model, torch.optim.Adam(model.parameters()), made)
        assert loader is made
        assert accelerator.prepare(plain) is plain
        want = orders(windows, 2, seed=3)
        assert [starts(loader), starts(plain)] == [want[0]] * 2
        steps, last = [], []
        for batch in loader:
            with accelerator.accumulate(model):
                loss = model(batch["context"].transpose(1, 2)).square().mean()
                accelerator.backward(loss)
                steps.append(accelerator.sync_gradients)
                adam.step()
                adam.zero_grad()
            last.append(accelerator.gradient_state.end_of_dataloader)
        assert last == [False] * 30 + [True]
        assert [number for number, sync in enumerate(steps, 1) if sync] == [
            4,
            8,
            12,
            16,
            20,
            24,
            28,
            31,
        ]
        assert accelerator.gradient_state.active_dataloader is None


@pytest.mark.parametrize(
    "form",
    [
        {"format": "dict"},
        {"parts": {"start": "start", "x": "known_context"}},
        {"parts": ("start",), "arrange": lambda parts: {"start": parts[0]}},
    ],
)
def test_a_saved_state_goes_on_at_the_next_batch(
    windows: tensorcache.Windows, accelerator: Accelerator, tmp_path: Path, form: dict[str, Any]
) -> None:
    options: dict[str, Any] = {"batch_size": B, "shuffle": True, "seed": 5, **form}
    seen: list[int] = []
    with tensorcache.accelerate.loader(accelerator, windows, **options) as loader:
        accelerator.register_for_checkpointing(loader)
        for number, batch in enumerate(loader, 1):
            seen += batch["start"].tolist()
            if number == 9:
                break
        accelerator.save_state(str(tmp_path))
        starts(loader)
        accelerator.load_state(str(tmp_path))
        assert seen + starts(loader) == orders(windows, 1, seed=5)[0]


def test_what_cannot_be_says_what_to_do(
    windows: tensorcache.Windows, accelerator: Accelerator
) -> None:
    for arguments, options, words in (
        ((windows, accelerator), {}, "accelerator: got a Windows, want an accelerate.Accelerator"),
        ((accelerator, windows), {"rank": 1}, "rank: got 1, want none: it is the accelerator's"),
        ((accelerator, windows), {"num_replicas": 2}, "num_replicas: got 2, want none"),
    ):
        with pytest.raises(tensorcache.SpecError, match=words):
            tensorcache.accelerate.loader(*arguments, **options)
    loader = tensorcache.accelerate.loader(accelerator, windows, batch_size=B)
    with loader, pytest.raises(tensorcache.FeedError, match="load_state_dict"):
        next(iter(accelerator.skip_first_batches(loader, 3)))


@pytest.mark.parametrize(
    ("order", "batch_size"),
    [("random_start", 4), ("cross_section", 2), ("cross_section", None)],
)
def test_metrics_have_all_windows_of_batches_that_differ_in_size(
    cache: tensorcache.Cache, accelerator: Accelerator, order: str, batch_size: int | None
) -> None:
    """23 windows; in these orders their remainder is not the size of the last batch."""
    days = [np.arange(12 - n, 12) for n in (12, 11, 9)]
    columns = {
        "id": np.repeat([0, 1, 2], [12, 11, 9]),
        "t": np.concatenate(days),
        "v": np.concatenate(days).astype(np.float32),
    }
    windows = cache.put("uneven", columns, item_id="id", time="t").windows(
        context_length=3, prediction_length=1
    )
    given: dict[str, Any] = {"batch_size": batch_size, "order": order, "format": "dict"}
    with tensorcache.accelerate.loader(accelerator, windows, **given) as loader:
        for _ in range(8):  # the last batch differs
            seen = [
                window
                for batch in loader
                for window in accelerator.gather_for_metrics(batch["start"].clone()).tolist()
            ]
            assert len(seen) == len(windows)


DISTRIBUTED = f"""
    import json, pathlib, sys, torch
    from accelerate import Accelerator, debug_launcher
    import tensorcache

    def work(windows, folder):
        accelerator = Accelerator(cpu=True)
        rank = accelerator.process_index
        given = dict(batch_size={B}, format="dict")
        train = tensorcache.accelerate.loader(accelerator, windows, shuffle=True, seed=3, **given)
        val = tensorcache.accelerate.loader(accelerator, windows, **given)
        train, val = accelerator.prepare(train, val)
        trained = [[s for batch in train for s in batch["start"].tolist()] for _ in range(2)]
        gathered = [
            s
            for batch in val
            for s in accelerator.gather_for_metrics(batch["start"].clone()).tolist()
        ]
        pathlib.Path(folder, f"rank{{rank}}.json").write_text(json.dumps([trained, gathered]))

    windows = tensorcache.connect().dataset("etth1").windows(
        context_length={C}, prediction_length={P}, rows=(0, 1000))
    debug_launcher(work, (windows, sys.argv[1]), 2)
"""


def test_processes_share_an_epoch(windows: tensorcache.Windows, tmp_path: Path) -> None:
    run(DISTRIBUTED, tmp_path)
    ranks = [json.loads((tmp_path / f"rank{rank}.json").read_text()) for rank in range(2)]
    for rank, (trained, gathered) in enumerate(ranks):
        assert trained == orders(windows, 2, seed=3, rank=rank, num_replicas=2)
        assert gathered == list(range(971)), "what fills the last step is left out"
