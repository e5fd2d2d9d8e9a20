"""The JAX loader: its arrays lie in the ring's memory and never change."""

from __future__ import annotations

import gc
import json
import os
import pickle
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tensorcache
from daemon import REPOSITORY
from snippets import snippet

C, P, B = 24, 6, 32


@pytest.fixture(scope="module")
def windows(etth1: tensorcache.Dataset) -> tensorcache.Windows:
    """971 windows: 31 batches of 32, the last of 11."""
    return etth1.windows(context_length=C, prediction_length=P, rows=(0, 1000))


def arrays_of(
    windows: tensorcache.Windows, **options: Any
) -> list[tuple[np.ndarray[Any, Any], ...]]:
    with windows.feed(batch_size=B, delivery="slot", **options) as feed:
        return [
            (batch.context.copy(), batch.target.copy())
            for batch in feed
            if batch.target is not None
        ]


def settle() -> None:
    """Call JAX once, because it releases numpy arrays at its next call."""
    gc.collect()
    jnp.zeros(()).block_until_ready()
    gc.collect()


def test_batches_are_the_feeds(windows: tensorcache.Windows) -> None:
    want = arrays_of(windows, order="shuffle", seed=3)
    with tensorcache.jax.loader(windows, batch_size=B, shuffle=True, seed=3) as loader:
        assert len(loader) == 31
        for batch, arrays in zip(loader, want, strict=True):
            assert all(isinstance(part, jax.Array) for part in batch)
            assert all(
                np.array_equal(part, array) for part, array in zip(batch, arrays, strict=True)
            )
    with tensorcache.jax.loader(
        windows, batch_size=B, shuffle=True, seed=3, drop_last=True
    ) as loader:
        assert {context.shape for context, _ in loader} == {(B, C, 7)}


def test_a_slot_is_never_filled_under_an_array(windows: tensorcache.Windows) -> None:
    """Keep every array, every third, or only results, over several passes of six slots."""
    double = jax.jit(lambda x: x * 2)
    with tensorcache.jax.loader(windows, batch_size=B, slots=6, shuffle=True) as loader:
        for keep in (1, 3, 40):
            want = arrays_of_pass(windows, loader.state_dict()["epoch"])
            kept, doubled = [], []
            for number, (context, target) in enumerate(loader):
                doubled.append(double(target))
                if number % keep == 0:
                    kept.append((number, context, target))
            for number, context, target in kept:
                np.testing.assert_array_equal(context, want[number][0])
                np.testing.assert_array_equal(target, want[number][1])
            for array, (_, target) in zip(doubled, want, strict=True):
                np.testing.assert_array_equal(array, target * 2)
            del kept, doubled, context, target
            loader.set_epoch(loader.state_dict()["epoch"])
            settle()
            assert loader.stats()["held"] == 0
        assert loader.stats()["copied"] > 0, "keeping all arrays makes copies, not a standstill"


def arrays_of_pass(
    windows: tensorcache.Windows, epoch: int
) -> list[tuple[np.ndarray[Any, Any], ...]]:
    with windows.feed(batch_size=B, order="shuffle", delivery="slot") as feed:
        feed.set_epoch(epoch)
        return [
            (batch.context.copy(), batch.target.copy())
            for batch in feed
            if batch.target is not None
        ]


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="other devices have memory of their own")
def test_arrays_are_the_rings_memory_and_hold_it(windows: tensorcache.Windows) -> None:
    with tensorcache.jax.loader(windows, batch_size=B, slots=6) as loader:
        passing = iter(loader)
        places = set()
        for _ in range(24):
            context, target = next(passing)
            places.add(context.block_until_ready().unsafe_buffer_pointer())
        assert len(places) <= 6, "the slots of the ring, again and again"
        held = loader.stats()["held"]
        assert 1 <= held <= 3
        want = np.array(target)
        del context
        settle()
        assert loader.stats()["held"] >= 1, "the target holds the slot alone"
        for _ in passing:
            pass
        np.testing.assert_array_equal(target, want)
        del target, _
        settle()
        assert loader.stats()["held"] == 0


def test_donated_arrays_are_not_the_daemons(windows: tensorcache.Windows) -> None:
    """A computation may overwrite its donated argument; the later batches are still correct."""
    step = jax.jit(lambda x: x.at[:].set(-1.0), donate_argnums=0)
    want = arrays_of(windows)
    with tensorcache.jax.loader(windows, batch_size=B, slots=4, drop_last=True) as loader:
        for (context, target), (_, wanted) in zip(loader, want, strict=False):
            assert float(step(context).sum()) == -B * C * 7
            np.testing.assert_array_equal(target, wanted)


def test_format_dict_keeps_places_whole(
    windows: tensorcache.Windows, etth1: tensorcache.Dataset
) -> None:
    with tensorcache.jax.loader(
        windows, batch_size=B, format="dict", mask=True, channels_first=True
    ) as loader:
        batch = next(iter(loader))
        assert set(batch) == {
            "context", "target", "item_code", "start", "time", "mask", "context_missing",
            "target_missing",
        }  # fmt: skip
        assert batch["context"].shape == (B, 7, C)
        assert batch["mask"].dtype == jnp.bool_
        assert batch["time"].tolist() == etth1["date"][:B].tolist()
        assert batch["start"].dtype == np.int64
    with tensorcache.jax.loader(etth1.windows(context_length=5), batch_size=4) as loader:
        (context,) = next(iter(loader))
        assert context.shape == (4, 5, 7)


def test_parts_and_arrange(cache: tensorcache.Cache) -> None:
    columns = {"id": np.repeat([3, 4], 20), "a": np.arange(40.0), "shop": np.arange(40) % 3}
    data = cache.put("jax-parts", columns, item_id="id")
    windows = data.windows(context_length=5, columns="a", known_columns="shop")
    asked = {
        "x": "context", "shop": tensorcache.Part("known_context", dtype="int32"), "o": "observed",
        "item": "item", "row": "row",
    }  # fmt: skip
    options: dict[str, Any] = {"batch_size": 8, "shuffle": True, "parts": asked}
    with (
        tensorcache.jax.loader(windows, **options) as loader,
        windows.feed(batch_size=8, order="shuffle", parts=asked) as feed,
    ):
        for batch, arrays in zip(loader, feed, strict=True):
            assert list(batch) == list(arrays)
            for name, array in arrays.items():
                np.testing.assert_array_equal(batch[name], array)
        assert {name for name, part in batch.items() if isinstance(part, jax.Array)} == {
            "x", "shop", "o",
        }  # fmt: skip
    options = {"batch_size": 8, "arrange": lambda pair: pair[0].sum()}
    with tensorcache.jax.loader(windows, **options) as loader:
        assert float(next(iter(loader))) == float(windows[:8].context.sum())
    with pytest.raises(tensorcache.SpecError, match="context: its dtype is float64, which") as e:
        tensorcache.jax.loader(windows, parts=(tensorcache.Part("context", dtype="float64"),))
    assert e.value.field == "parts"
    assert 'Part(..., dtype="float32")' in e.value.hint
    options = {"batch_size": 8, "arrange": lambda pair: pair[1]}
    with (
        tensorcache.jax.loader(windows, **options) as loader,
        pytest.raises(tensorcache.FeedError, match="IndexError for batch 0 of epoch 0"),
    ):
        next(iter(loader))


def test_what_jax_would_cut_is_refused(
    etth1: tensorcache.Dataset, windows: tensorcache.Windows
) -> None:
    with pytest.raises(tensorcache.SpecError, match="float64, which JAX would cut"):
        tensorcache.jax.loader(etth1.windows(context_length=5, dtype="float64"), batch_size=4)
    with pytest.raises(tensorcache.SpecError, match="format"):
        tensorcache.jax.loader(windows, format="list")  # type: ignore[arg-type]
    with pytest.raises(tensorcache.SpecError, match=r'device: got "cpu", want a jax\.Device or'):
        tensorcache.jax.loader(windows, device="cpu")


def test_state_epochs_ranks_and_pickling(windows: tensorcache.Windows) -> None:
    options: dict[str, Any] = {"batch_size": B, "shuffle": True, "seed": 9, "format": "dict"}

    def starts(loader: Any) -> list[int]:
        return [start for batch in loader for start in batch["start"].tolist()]

    with tensorcache.jax.loader(windows, **options) as loader:
        epochs = [starts(loader), starts(loader)]
        loader.set_epoch(0)
        seen: list[int] = []
        for number, batch in enumerate(loader, 1):
            seen += batch["start"].tolist()
            if number == 7:
                break
        state = json.loads(json.dumps(loader.state_dict()))
    with tensorcache.jax.loader(windows, **options) as loader:
        loader.load_state_dict(state)
        with pickle.loads(pickle.dumps(loader)) as copy:
            assert seen + starts(copy) == epochs[0]
        assert seen + starts(loader) == epochs[0]
        assert starts(loader) == epochs[1]
    halves = []
    for rank in range(2):
        with tensorcache.jax.loader(
            windows, **options, rank=rank, num_replicas=2, tail="short"
        ) as loader:
            halves += starts(loader)
    assert sorted(halves) == list(range(971))


def test_batches_over_several_devices(windows: tensorcache.Windows, home: Any) -> None:
    """Two devices, in a separate process: their number must be set before JAX starts."""
    code = f"""if True:
        import jax, numpy as np, tensorcache, tensorcache.jax
        from jax.sharding import Mesh, NamedSharding, PartitionSpec
        windows = tensorcache.connect().dataset("etth1").windows(
            context_length={C}, prediction_length={P}, rows=(0, 1000))
        sharding = NamedSharding(Mesh(np.array(jax.devices()), ("batch",)), PartitionSpec("batch"))
        mean = jax.jit(lambda x: x.mean())
        kept = []
        feed = windows.feed(batch_size={B}, delivery="slot", tail="drop")
        with feed, tensorcache.jax.loader(
            windows, batch_size={B}, device=sharding, drop_last=True, slots=4
        ) as loader:
            for batch, (context, target) in zip(feed, loader, strict=True):
                rows = {{shard.data.shape[0] for shard in context.addressable_shards}}
                assert rows == {{{B} // 2}}
                assert context.sharding == sharding
                np.testing.assert_allclose(mean(context), batch.context.mean(), rtol=1e-5)
                kept.append((context, batch.context.copy()))
            assert all(np.array_equal(one, other) for one, other in kept)
    """
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **flags},
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore")
def test_the_snippet_runs(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    exec(compile(snippet("JAX"), "docs/FRAMEWORKS.md, JAX", "exec"), {"__name__": "snippet"})


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8", "uint32", "bool"])
def test_arrays_of_jax_are_put_as_columns(cache: tensorcache.Cache, dtype: str) -> None:
    array = jnp.array([0, 1, 1]).astype(dtype)
    data = cache.put("arrays", {"a": array, "wide": jnp.stack([array, array], 1)})
    assert data["a"].dtype == ("float32" if dtype == "bfloat16" else dtype)
    assert data["a"].tolist() == [0, 1, 1]
    assert data["wide"].shape == (3, 2)


def test_values_and_codes_of_items_may_be_arrays_of_jax(cache: tensorcache.Cache) -> None:
    columns = {"id": np.repeat([2, 0, 1], 4), "y": np.repeat([100.0, 200.0, 300.0], 4)}
    columns["y"] = columns["y"] + np.tile(np.arange(4.0), 3)
    data = cache.put("ids", columns, item_id="id", scale="standard", scale_per="item")
    windows = data.windows(context_length=2, columns="y")
    stored = np.stack([data.item(value)["y"] for value in (1, 2)])
    rows = np.add.outer([300.0, 100.0], np.arange(4))
    values, codes = jnp.asarray([1, 2]), jnp.asarray([2, 0])
    np.testing.assert_allclose(data.inverse("y", stored, item=values), rows, rtol=1e-6)
    np.testing.assert_allclose(data.inverse("y", stored, item_code=codes), rows, rtol=1e-6)
    np.testing.assert_allclose(data.inverse("y", stored[0], item=values[0]), rows[0], rtol=1e-6)
    assert set(windows.where(items=values)[:].item.tolist()) == {1, 2}
    assert set(windows.where(items=values[0])[:].item.tolist()) == {1}
    assert len(windows.starts(values[0])) == 3
    with tensorcache.jax.loader(windows, batch_size=4, format="dict") as loader:
        for batch in loader:
            got = data.inverse("y", batch["context"][..., 0], item_code=batch["item_code"])
            want = 100.0 * (batch["item_code"] + 1) + batch["start"]
            np.testing.assert_allclose(got[:, 0], want, rtol=1e-6)
