"""The example of a stateful LSTM.

The example passes, and it fails if the state is carried over wrongly.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import tensorcache
from daemon import example_named


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return example_named("lstm_lanes")


def test_the_example_exits_with_0(
    cache: tensorcache.Cache,
    example: ModuleType,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["lstm_lanes.py", "--epochs", "1"])
    assert example.main() == 0
    assert "181 windows in 8 lanes" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(4))
def test_resets_make_lanes_equal_to_unbroken_stretches(
    cache: tensorcache.Cache, example: ModuleType, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several items; the test finds the stretches from the starts, each with a zero state."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(5, 60, 6) * 4 + rng.integers(0, 4, 6)
    times = np.concatenate([np.arange(n) for n in lengths])
    values = rng.normal(size=(lengths.sum(), 2)).astype(np.float32)
    columns = {"id": np.repeat(np.arange(6), lengths), "t": times, "v": values}
    data = cache.put(f"lanes-{seed}", columns, item_id="id", time="t")
    windows = data.windows(context_length=4, stride=4, prediction_length=1, overlap=3)
    monkeypatch.setattr(example, "LENGTH", 4)
    torch.manual_seed(seed)
    model = example.NextRow(2)
    options: dict[str, Any] = {
        "batch_size": example.LANES,
        "order": "lanes",
        "seed": seed,
        "format": "dict",
    }
    series = torch.from_numpy(values)
    offsets = data.items.row_offset
    total, count = 0.0, 0
    want = 0.0
    with tensorcache.torch.loader(windows, **options) as loader, torch.no_grad():
        state = example.zeros(example.LANES)
        lanes: list[list[list[int]]] = [[] for _ in range(example.LANES)]
        for batch in loader:
            predicted, state = model(batch["context"], example.carried(state, batch["reset"]))
            total += float((predicted - batch["target"]).square().double().sum())
            count += predicted.numel()
            for lane, item, start in zip(
                lanes, batch["item_code"].tolist(), batch["start"].tolist(), strict=False
            ):
                row = int(offsets[item]) + start
                goes_on = lane and lane[-1][-1] + 4 == row and start > 0
                lane[-1].append(row) if goes_on else lane.append([row])
        for stretch in (stretch for lane in lanes for stretch in lane):
            rows = series[stretch[0] : stretch[-1] + 5]
            predicted, _ = model(rows[None, :-1], example.zeros(1))
            want += float((predicted - rows[1:]).square().double().sum())
    assert count == len(windows) * 4 * 2
    np.testing.assert_allclose(total, want, rtol=1e-5)


def test_without_resets_the_losses_differ(
    cache: tensorcache.Cache, example: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(state: Any, reset: torch.Tensor) -> Any:
        return tuple(part[:, : len(reset)].detach() for part in state)

    monkeypatch.setattr(sys, "argv", ["lstm_lanes.py", "--epochs", "1"])
    monkeypatch.setattr(example, "carried", never)
    assert example.main() == 1
