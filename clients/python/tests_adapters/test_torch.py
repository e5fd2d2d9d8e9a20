"""The torch loader: the interface of a DataLoader over the feed's memory."""

from __future__ import annotations

import gc
import json
import os
import pickle
import re
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch

import tensorcache

C, P, B = 24, 6, 32


@pytest.fixture(scope="module")
def windows(etth1: tensorcache.Dataset) -> tensorcache.Windows:
    """971 windows: 31 batches of 32, the last of 11."""
    return etth1.windows(context_length=C, prediction_length=P, rows=(0, 1000))


@pytest.fixture(scope="module")
def whole(etth1: tensorcache.Dataset) -> torch.Tensor:
    return torch.from_numpy(
        np.column_stack([etth1[name] for name in etth1.columns[1:]]).astype(np.float32)
    )


def starts_of(loader: tensorcache.torch.Loader) -> list[int]:
    return [start for batch in loader for start in batch["start"].tolist()]


def test_batches_are_tensors_over_the_ring(
    windows: tensorcache.Windows, whole: torch.Tensor
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with tensorcache.torch.loader(windows, batch_size=B) as loader:
            assert len(loader) == 31
            row = 0
            for context, target in loader:
                assert context.dtype == target.dtype == torch.float32
                assert context.is_contiguous()
                assert context.data_ptr() % 64 == 0
                for at in range(len(context)):
                    assert torch.equal(context[at], whole[row : row + C])
                    assert torch.equal(target[at], whole[row + C : row + C + P])
                    row += 1
                context.add_(1)  # writable: in-place code works
            assert row == 971


def test_format_dict_names_all_parts(
    windows: tensorcache.Windows, etth1: tensorcache.Dataset
) -> None:
    with tensorcache.torch.loader(
        windows, batch_size=B, format="dict", mask=True, channels_first=True
    ) as loader:
        batch = next(iter(loader))
        assert set(batch) == {
            "context", "target", "item_code", "start", "time", "mask", "context_missing",
            "target_missing",
        }  # fmt: skip
        assert batch["context"].shape == (B, 7, C)
        assert batch["mask"].dtype == torch.bool
        assert batch["time"].tolist() == etth1["date"][:B].astype(np.int64).tolist()
    with tensorcache.torch.loader(etth1.windows(context_length=5), batch_size=4) as loader:
        (context,) = next(iter(loader))
        assert context.shape == (4, 5, 7)


def test_shuffle_order_and_tail_options(windows: tensorcache.Windows) -> None:
    def first(**options: Any) -> list[int]:
        with tensorcache.torch.loader(
            windows, **{"batch_size": B, "format": "dict", **options}
        ) as loader:
            return starts_of(loader)

    assert first() == first(shuffle=False) == first(order="sequential") == list(range(971))
    assert (
        first(shuffle=True, seed=3) == first(order="shuffle", seed=3) != first(shuffle=True, seed=4)
    )
    assert first(drop_last=True) == first(tail="drop") == list(range(960))
    assert len(first(rank=1, num_replicas=2, tail="short")) == 485
    for options in (
        {"shuffle": True, "order": "sequential"},
        {"drop_last": True, "tail": "wrap"},
        {"drop_last": False, "tail": "drop"},
        {"rank": 1},
        {"format": "list"},
    ):
        with pytest.raises(tensorcache.SpecError):
            first(**options)


@pytest.mark.parametrize("more", [{}, {"resident": True}, {"pin_memory": True}], ids=str)
def test_whole_groups(cache: tensorcache.Cache, more: dict[str, Any]) -> None:
    columns = {"id": [0] * 6 + [1] * 4, "t": [*range(6), *range(2, 6)], "v": np.arange(10.0)}
    data = cache.put("groups", columns, item_id="id", time="t")
    options = {"batch_size": None, "order": "cross_section", "min_items": 2, "format": "dict"}
    with tensorcache.torch.loader(data.windows(context_length=2), **options, **more) as loader:
        assert (len(loader), loader.batch_size) == (3, None)
        for _ in range(2):
            batches = [(batch["item_code"].tolist(), batch["start"].tolist()) for batch in loader]
            assert sorted(batches) == [([0, 1], [start + 2, start]) for start in range(3)]
    options |= {"batch_size": 1, "tail": "short"}
    with tensorcache.torch.loader(
        data.windows(context_length=2), rank=1, num_replicas=4, **options, **more
    ) as loader:
        assert len(loader) == len(list(loader)) == 2


@pytest.mark.parametrize(
    "name", ["shuffle", "drop_last", "resident", "pin_memory", "reconnect", "mask"]
)
@pytest.mark.parametrize("value", ["false", 0, 1.0])
def test_what_is_no_bool_is_refused(windows: tensorcache.Windows, name: str, value: Any) -> None:
    with pytest.raises(
        tensorcache.SpecError, match=f"{name}: got .*, want True or False"
    ) as raised:
        tensorcache.torch.loader(windows, batch_size=B, **{name: value})
    assert raised.value.field == name


def test_it_has_what_trainers_look_for(windows: tensorcache.Windows) -> None:
    with tensorcache.torch.loader(windows, batch_size=B, shuffle=True, drop_last=True) as loader:
        assert loader.sampler is loader
        assert loader.batch_sampler is None
        assert loader.dataset is windows
        assert (loader.batch_size, loader.drop_last, loader.num_workers) == (B, True, 0)
        assert loader.stats()["batches"] == 0
    with tensorcache.torch.loader(windows, batch_size=B) as loader:
        assert isinstance(loader.sampler, torch.utils.data.SequentialSampler)
        loader.sampler.set_epoch(4)
        assert loader.state_dict()["epoch"] == 4


@pytest.mark.parametrize("n", [None, 12, 40])
def test_set_epoch_and_state(windows: tensorcache.Windows, n: int | None) -> None:
    options: dict[str, Any] = {
        "batch_size": B,
        "shuffle": True,
        "seed": 9,
        "format": "dict",
        "batches_per_epoch": n,
    }
    with tensorcache.torch.loader(windows, **options) as loader:
        assert len(loader) == (n or 31)
        epochs = [starts_of(loader) for _ in range(3)]
        iterator = iter(loader)
        loader.sampler.set_epoch(1)
        assert [start for batch in iterator for start in batch["start"].tolist()] == epochs[1]
        loader.set_epoch(0)
        seen: list[int] = []
        for number, batch in enumerate(loader, 1):
            seen += batch["start"].tolist()
            if number == 7:
                break
        state = json.loads(json.dumps(loader.state_dict()))
    with tensorcache.torch.loader(windows, **options) as loader:
        loader.load_state_dict(state)
        loader.set_epoch(0)  # as trainers do after loading a state: the epoch continues
        assert seen + starts_of(loader) == epochs[0]
        assert starts_of(loader) == epochs[1]
        loader.set_epoch(0)
        assert starts_of(loader) == epochs[0]
        loader.load_state_dict(state)
        with nullcontext() if n is None else pytest.warns(UserWarning, match=f"7 of {n} batches"):
            loader.set_epoch(2)
        assert starts_of(loader) == epochs[2]


def test_a_slot_is_held_as_long_as_any_tensor(windows: tensorcache.Windows) -> None:
    with tensorcache.torch.loader(windows, batch_size=B, slots=6) as loader:
        context, target = next(iter(loader))
        kept = context.detach()[3].view(-1)
        want = kept.clone()
        del context, target
        assert loader.stats()["held"] == 1
        for _ in range(2):
            assert sum(len(context) for context, _ in loader) == 971
        assert torch.equal(kept, want)
        del kept
        assert loader.stats()["held"] == 0
        assert loader.stats()["copied"] == 0
        batches = list(loader)
        assert [len(context) for context, _ in batches] == [32] * 30 + [11]
        assert loader.stats()["copied"] == 31 - 4
        del batches
        gc.collect()
        assert loader.stats()["held"] == 0


def test_autograd_keeps_what_it_saved(windows: tensorcache.Windows, whole: torch.Tensor) -> None:
    weight = torch.ones(7, 1, requires_grad=True)
    with tensorcache.torch.loader(windows, batch_size=B, slots=3) as loader:
        loss = torch.zeros(())
        for number, (context, _) in enumerate(loader, 1):
            loss = loss + (context @ weight).sum()
            if number == 10:
                break
        loss.backward()
    want = torch.stack([whole[row : row + C].sum(0) for row in range(10 * B)]).double().sum(0)
    assert weight.grad is not None
    torch.testing.assert_close(weight.grad[:, 0].double(), want, rtol=1e-4, atol=1e-2)


def test_rank_and_world_size_come_from_torch_distributed(
    windows: tensorcache.Windows, tmp_path: Any
) -> None:
    import torch.distributed as dist

    dist.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/rendezvous", rank=0, world_size=1
    )
    try:
        with tensorcache.torch.loader(windows, batch_size=B) as loader:
            assert len(loader) == 31
            assert loader.feed._options["options"]["num_replicas"] == dist.get_world_size()
    finally:
        dist.destroy_process_group()


def test_ranks_are_looked_up_when_a_pass_begins(
    windows: tensorcache.Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ranks may be known later than the loader, as under torchrun or in a process group."""
    with tensorcache.torch.loader(windows, batch_size=B, shuffle=True, format="dict") as loader:
        seen: list[int] = []
        for batch in loader:
            seen += batch["start"].tolist()
            if len(seen) == 4 * B:
                break
        loader.load_state_dict(loader.state_dict())
        rest: list[int] = []
        for rank in range(2):
            monkeypatch.setenv("RANK", str(rank))
            monkeypatch.setenv("WORLD_SIZE", "2")
            with pickle.loads(pickle.dumps(loader)) as half:
                assert len(half) == 16  # 971 windows are 15.2 steps of 2 * 32
                rest += starts_of(half)
        assert len(loader) == 16
        assert (seen + rest).count(seen[0]) in (1, 2)
        assert set(seen + rest) == set(range(971)), "the copies went on where the loader was"


@pytest.mark.parametrize("n", [None, 20])
def test_a_loader_survives_pickling_and_forks(windows: tensorcache.Windows, n: int | None) -> None:
    options: dict[str, Any] = {
        "batch_size": B,
        "shuffle": True,
        "seed": 5,
        "format": "dict",
        "batches_per_epoch": n,
    }
    with tensorcache.torch.loader(windows, **options) as loader:
        epochs = [starts_of(loader), starts_of(loader)]
        with pickle.loads(pickle.dumps(loader)) as copy:
            third = starts_of(copy)
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fork in a process with threads warns
            child = os.fork()
        if child == 0:
            try:
                os.write(write, json.dumps(starts_of(loader)).encode())
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            assert json.load(pipe) == third
        os.waitpid(child, 0)
        assert starts_of(loader) == third
        assert third not in epochs
    with pytest.raises(tensorcache.FeedError, match="closed"):
        next(iter(loader))


def test_options_of_a_data_loader(windows: tensorcache.Windows) -> None:
    def first(**options: Any) -> list[int]:
        with tensorcache.torch.loader(
            windows, batch_size=B, shuffle=True, format="dict", **options
        ) as loader:
            return starts_of(loader)

    assert first(
        generator=torch.Generator().manual_seed(6), num_workers=0, pin_memory=True
    ) == first(seed=6)
    with pytest.warns(UserWarning, match="num_workers=4 is ignored") as caught:
        assert first(seed=6, num_workers=4) == first(seed=6)
    assert [warning.filename for warning in caught] == [__file__]
    for options, words in (
        ({"num_workers": -1}, "num_workers: got -1"),
        ({"num_workers": 1.5}, "num_workers: got 1.5"),
        ({"num_workers": None}, "num_workers: got None"),
        ({"generator": torch.Generator(), "seed": 3}, "generator: got one with seed=3"),
        ({"generator": 5}, "generator: got 5, want a torch.Generator"),
        ({"device": "abacus"}, 'device: got "abacus", want a torch.device or the name of one'),
        ({"device": 3.5}, "device: got 3.5, want a torch.device or the name of one"),
        ({"device": "meta", "pin_memory": True}, "pin_memory: got True"),
        ({"device": "meta", "delivery": "view"}, 'delivery: got "view"'),
        ({"resident": True, "delivery": "slot"}, "resident=True"),
    ):
        with pytest.raises(tensorcache.SpecError, match=re.escape(words)):
            first(**options)
    with pytest.raises(tensorcache.SpecError, match="windows: got a list"):
        tensorcache.torch.loader([1, 2], batch_size=2)  # type: ignore[arg-type]


HOLDERS: dict[str, Any] = {
    "a view": lambda tensor: tensor.transpose(0, 1)[1:],
    "its storage": lambda tensor: torch.empty(0).set_(tensor.untyped_storage()),
    "numpy": lambda tensor: torch.as_tensor(tensor.numpy()[1:]),
    "dlpack": lambda tensor: torch.from_dlpack(np.from_dlpack(tensor)),
    "a capsule": lambda tensor: torch.utils.dlpack.from_dlpack(
        torch.utils.dlpack.to_dlpack(tensor)
    ),
    "a buffer": lambda tensor: torch.frombuffer(memoryview(tensor.numpy()), dtype=torch.float32),
    "a parameter": lambda tensor: torch.nn.Parameter(tensor)[0],
    "a slice of data": lambda tensor: tensor.data.detach().unbind(0)[3],
    "bits": lambda tensor: tensor.view(torch.int32)[2:],
}


@pytest.mark.parametrize("delivery", ["slot", "local"])
@pytest.mark.parametrize("name", HOLDERS)
def test_what_torch_makes_of_a_batch_stays_as_it_is(
    windows: tensorcache.Windows, name: str, delivery: str
) -> None:
    with tensorcache.torch.loader(
        windows, batch_size=B, slots=4, shuffle=True, delivery=delivery
    ) as loader:
        context, target = next(iter(loader))
        held = [HOLDERS[name](tensor) for tensor in (context, target)]
        want = [tensor.detach().clone() for tensor in held]
        del context, target
        for _ in range(2):
            assert sum(len(context) for context, _ in loader) == 971
        assert all(map(torch.equal, held, want))
        assert loader.stats()["held"] == (1 if delivery == "slot" else 0)
        del held
        gc.collect()
        assert loader.stats()["held"] == 0


@pytest.mark.parametrize("delivery", ["slot", "local"])
def test_what_is_sent_to_another_process_stays_as_it_is(
    windows: tensorcache.Windows, delivery: str
) -> None:
    queue = torch.multiprocessing.get_context("fork").SimpleQueue()
    with tensorcache.torch.loader(
        windows, batch_size=B, slots=4, shuffle=True, delivery=delivery
    ) as loader:
        context, _ = next(iter(loader))
        want = context.clone()
        queue.put(context)  # moves it into shared memory
        del context
        assert sum(len(context) for context, _ in loader) == 971
        assert torch.equal(queue.get(), want)
