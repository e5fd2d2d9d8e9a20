"""Batches on a device, with a fake CUDA, so that the tests need no GPU.

The fake copies a slot only when the loader waits for the copy's event. If the loader releases a
slot earlier, the copy has values that the daemon wrote later.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import tensorcache
from tensorcache._adapters import torch_device, torch_resident

C, P, B = 24, 6, 32


class Cuda:
    """A fake CUDA whose copies run late.

    Attributes:
        late: the pending copies, oldest first.
        pinned: the size of the registered memory by address.
        waits: the number of waits for an event.
    """

    def __init__(self, code: int = 0) -> None:
        self.late: list[Callable[[], None]] = []
        self.pinned: dict[int, int] = {}
        self.waits = 0
        self.code = code
        self.waited_for: list[Any] = []
        self.current = SimpleNamespace(wait_stream=self.waited_for.append)
        cuda = self

        class Event:
            def record(self, stream: Any) -> None:
                self.at = len(cuda.late)

            def query(self) -> bool:
                return False

            def synchronize(self) -> None:
                cuda.waits += 1
                while cuda.late[: self.at]:
                    cuda.late.pop(0)()
                for event in cuda.events:
                    event.at = max(0, event.at - self.at)

        self.events: list[Event] = []

        def event() -> Event:
            self.events.append(Event())
            return self.events[-1]

        self.Event = event

    def Stream(self, device: torch.device) -> str:  # noqa: N802
        return f"side stream of {device}"

    @contextlib.contextmanager
    def stream(self, stream: str) -> Iterator[None]:
        yield

    def current_stream(self, device: torch.device) -> Any:
        return self.current

    def cudart(self) -> Any:
        return self

    def cudaHostRegister(self, address: int, size: int, flags: int) -> int:  # noqa: N802
        if self.code == 0:
            self.pinned[address] = size
        return self.code

    def cudaHostUnregister(self, address: int) -> int:  # noqa: N802
        assert not self.late, "the ring is unpinned while it is being copied"
        del self.pinned[address]
        return 0


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Cuda:
    """The fake that serves ``device="meta"``: late copies into ordinary memory."""
    fake = Cuda()
    made = torch_device.ToDevice.__init__

    def init(self: Any, selection: Any, device: str, cuda: Any = None) -> None:
        made(self, selection, "cpu", fake)

    def copy(self: Any, flat: torch.Tensor) -> torch.Tensor:
        there = torch.zeros_like(flat)
        event = fake.Event()
        # A device copies from an address and has no reference to the tensor.
        place = (ctypes.c_uint8 * flat.numel()).from_address(flat.data_ptr())
        fake.late.append(lambda: there.copy_(torch.from_numpy(np.array(place))))
        event.record(None)
        fake.current.wait_stream(self._stream)
        self.held.append((event, flat))
        return there

    monkeypatch.setattr(torch_device.ToDevice, "__init__", init)
    monkeypatch.setattr(torch_device.SideStream, "copy", copy)
    return fake


@pytest.fixture(scope="module")
def windows(etth1: tensorcache.Dataset) -> tensorcache.Windows:
    return etth1.windows(context_length=C, prediction_length=P, rows=(0, 1000), max_missing=None)


FORMS: dict[str, dict[str, Any]] = {
    "tuple": {"format": "tuple", "mask": True},
    "dict": {"format": "dict", "mask": True},
    "parts": {"parts": {"x": "context", "o": "observed", "n": "row", "m": "mask"}},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_slot_is_filled_anew_only_after_its_copy(
    windows: tensorcache.Windows, cuda: Cuda, form: str
) -> None:
    options: dict[str, Any] = {"batch_size": B, "shuffle": True, "seed": 1, **FORMS[form]}
    with tensorcache.torch.loader(windows, **options) as plain:
        want = [batch if form != "tuple" else dict(enumerate(batch)) for batch in plain]
    loader = tensorcache.torch.loader(windows, **options, device="meta", slots=6)
    got = [batch if form != "tuple" else dict(enumerate(batch)) for batch in loader]
    assert loader.stats()["copied"] == 0
    assert loader.stats()["pinned"] == "yes"
    assert len(cuda.late) <= 3, "as many as may be under way beside the slots that the daemon fills"
    assert cuda.waits >= len(got) - 3
    assert len(cuda.waited_for) == len(got), "the computation waits for each copy"
    assert len(cuda.pinned) == 1
    loader.close()
    del loader
    gc.collect()
    assert not cuda.late
    assert not cuda.pinned, "the ring is unpinned before it is unmapped"
    for here, there in zip(got, want, strict=True):
        assert here.keys() == there.keys()
        for name, tensor in there.items():
            assert here[name].dtype == tensor.dtype
            assert torch.equal(here[name], tensor), name


def test_a_ring_that_cannot_be_pinned_is_told(
    windows: tensorcache.Windows, cuda: Cuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda.code = 801
    kernels: list[int] = []

    def ones(size: int, device: torch.device) -> None:
        kernels.append(size)
        raise RuntimeError("CUDA error: operation not supported")

    monkeypatch.setattr(torch, "ones", ones)
    with tensorcache.torch.loader(windows, batch_size=B, device="meta") as loader:
        assert kernels == [1], "the next kernel of the trainer's gets the error"
        assert sum(len(context) for context, _ in loader) == 971
        assert loader.stats()["pinned"] == "no: cudaHostRegister returned 801"


def test_a_forked_child_leaves_the_ring_to_its_parent(
    windows: tensorcache.Windows, cuda: Cuda
) -> None:
    with tensorcache.torch.loader(windows, batch_size=B, device="meta") as loader:
        next(iter(loader))
        assert cuda.pinned
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                # The stream is dropped without a close, as by the garbage collector.
                loader._feed._stream = None  # type: ignore[union-attr]
                gc.collect()
                os._exit(0 if cuda.pinned and not cuda.waits else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_the_side_stream_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real side stream, with the events of the fake."""
    cuda = Cuda()
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda tensor, stream: None)
    side = torch_device.SideStream(torch.device("cpu"), 2, cuda)
    flat = torch.arange(8, dtype=torch.uint8)
    there = side.copy(flat)
    assert torch.equal(there, flat)
    assert there.data_ptr() != flat.data_ptr()
    assert cuda.waited_for == ["side stream of cpu"]
    side.make_room()
    assert len(side.held) == 1
    side.copy(flat)
    side.make_room()
    assert (len(side.held), cuda.waits) == (1, 1)


def test_devices_without_streams(windows: tensorcache.Windows) -> None:
    with tensorcache.torch.loader(windows, batch_size=B, device="meta", format="dict") as loader:
        for batch in loader:
            assert {tensor.device.type for tensor in batch.values()} == {"meta"}
            assert batch["context"].shape[1:] == (C, 7)
        assert loader.stats()["pinned"].startswith("no")
        assert loader.stats()["copied"] == 0
    assert tensorcache.torch.device_and_delivery("cpu", "auto", False, False) == (None, "auto")
    if not torch.cuda.is_available():
        with pytest.raises(tensorcache.SpecError, match="finds no CUDA device"):
            tensorcache.torch.loader(windows, device="cuda")


@pytest.fixture(scope="module", params=["columns", "packed"])
def data(request: pytest.FixtureRequest, cache: tensorcache.Cache) -> tensorcache.Dataset:
    """Items of 400, 90 and 35 rows.

    ``m`` has missing values, ``u`` is uint16, ``s`` is constant in an item.
    """
    rows = [400, 90, 35]
    rng = np.random.default_rng(5)
    columns: dict[str, Any] = {
        "id": np.repeat([7, 8, 9], rows),
        "t": np.concatenate([np.arange(n) for n in rows]),
        **{name: rng.normal(size=sum(rows)).astype(np.float32) for name in "abc"},
        "m": np.where(rng.random(sum(rows)) < 0.05, np.nan, rng.normal(size=sum(rows))).astype(
            np.float32
        ),
        "k": rng.normal(size=sum(rows)),
        "u": rng.integers(0, 60000, sum(rows)).astype(np.uint16),
        "s": np.repeat([1.5, 2.5, 3.5], rows),
    }
    return cache.put(
        f"resident-{request.param}", columns, item_id="id", time="t", layout=request.param
    )


SPECS: dict[str, dict[str, Any]] = {
    "plain": {"columns": ["a", "b", "c"]},
    "roles": {
        "context_columns": ["a"], "target_columns": ["b"], "known_columns": ["c"],
        "static_columns": ["s"],
        "stride": 3, "overlap": 2, "gap": 1,
    },
    "context": {"columns": ["b", "c"], "prediction_length": 0, "dilation": 2},
    "padded": {"columns": ["a", "m"], "min_context": 3, "max_missing": 0.2, "missing_value": -1.0},
    "bounded": {"columns": ["m", "k"], "min_context": 5, "rows": (10, 80), "max_missing": None,
                "dilation": 2, "pad_value": float("nan")},
    "words": {"columns": ["u"], "dtype": None},
    "padded words": {"columns": ["u"], "dtype": None, "min_context": 3, "pad_value": 60_000},
}  # fmt: skip


@pytest.mark.parametrize("channels_first", [False, True])
@pytest.mark.parametrize("form", ["tuple", "dict"])
@pytest.mark.parametrize("spec", SPECS)
def test_resident_columns_give_the_same_tensors(
    data: tensorcache.Dataset, spec: str, form: Any, channels_first: bool
) -> None:
    windows = data.windows(**{"context_length": C, "prediction_length": P, **SPECS[spec]})
    for order, mask in (("shuffle", True), ("sequential", False)):
        options: dict[str, Any] = {
            "batch_size": B, "order": order, "seed": 4, "channels_first": channels_first,
            "format": form, "mask": mask,
        }  # fmt: skip
        one = tensorcache.torch.loader(windows, **options, resident=True, device="cpu")
        other = tensorcache.torch.loader(windows, **options, delivery="slot")
        with one, other:
            assert one.feed.delivery == "starts"
            for here, there in zip(one, other, strict=True):
                if form == "tuple":
                    here, there = (dict(enumerate(pair)) for pair in (here, there))
                assert here.keys() == there.keys()
                for name, tensor in there.items():
                    assert here[name].dtype == tensor.dtype, name
                    assert here[name].is_contiguous(), name
                    ours, theirs = (
                        x.to(torch.float64).nan_to_num(9e9) for x in (here[name], tensor)
                    )
                    assert torch.equal(ours, theirs), name


def test_resident_columns_are_shared_and_go_with_the_last_loader(
    data: tensorcache.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    gc.collect()
    assert len(torch_resident._columns) == 0
    monkeypatch.setattr(torch_resident, "CHUNK", 100)
    windows = data.windows(context_length=C, prediction_length=P, columns=["a", "b"])
    train, test = windows.split(fractions=(0.7, 0.3))
    loaders = [
        tensorcache.torch.loader(part, batch_size=B, resident=True) for part in (train, test)
    ]
    assert len(torch_resident._columns) == 1
    (column,) = torch_resident._columns.values()
    np.testing.assert_array_equal(column, np.column_stack([data["a"], data["b"]]))
    for loader in loaders:
        list(loader)
        loader.close()
    del loaders, loader, column
    gc.collect()
    assert len(torch_resident._columns) == 0


def test_columns_that_do_not_fit_are_told(
    data: tensorcache.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **options: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch, "empty", full)
    with pytest.raises(tensorcache.ResourceError, match="need 4,200 bytes"):
        tensorcache.torch.loader(data.windows(context_length=C, columns=["a", "b"]), resident=True)
