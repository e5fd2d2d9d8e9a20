"""A stateful LSTM on ETTh1.

The windows are in lanes. The LSTM's state passes from batch to batch and is reset where the feed
says so.

Row i of a batch continues where row i of the previous batch ended. If ``reset[i]`` is True, another
stretch of the series begins instead, and the state of that row starts from zero. So an LSTM that
sees the series in windows of 96 rows computes the same as over each unbroken stretch at once. After
training, the example computes both with the same weights and compares their losses.

    python examples/lstm_lanes.py

Exits with 1 when the two losses differ.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import torch

import tensorcache

LENGTH, LANES, HIDDEN = 96, 8, 32
LEARNING_RATE = 0.01
TRAIN_ROWS = 8640
TOLERANCE = 1e-5  # relative; the order of float32 sums differs
CSV = Path(__file__).parent / "data" / "ETTh1.csv"

State = tuple[torch.Tensor, torch.Tensor]


class NextRow(torch.nn.Module):
    """Predicts each next row of the series from all rows so far."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(features, HIDDEN, batch_first=True)
        self.head = torch.nn.Linear(HIDDEN, features)

    def forward(self, rows: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """Map rows ``[B, T, F]`` and a state to predictions ``[B, T, F]`` and the next state."""
        out, state = self.lstm(rows, state)
        return self.head(out), state


def zeros(rows: int) -> State:
    """Return the initial state of ``rows`` rows."""
    return torch.zeros(1, rows, HIDDEN), torch.zeros(1, rows, HIDDEN)


def carried(state: State, reset: torch.Tensor) -> State:
    """Return the state at the start of a batch, zero where it is reset.

    The last batch may have fewer rows.
    """
    goes_on = (~reset).to(torch.float32)[None, :, None]
    before = len(reset)
    return state[0][:, :before].detach() * goes_on, state[1][:, :before].detach() * goes_on


def train_epoch(model: NextRow, adam: torch.optim.Adam, loader: tensorcache.torch.Loader) -> float:
    """Train for one pass in lanes, one update per batch, and return the mean squared error.

    This is truncated backpropagation through time.
    """
    state, total, count = zeros(LANES), 0.0, 0
    for batch in loader:
        adam.zero_grad()
        predicted, state = model(batch["context"], carried(state, batch["reset"]))
        loss = torch.nn.functional.mse_loss(predicted, batch["target"])
        loss.backward()
        adam.step()
        total, count = total + loss.item() * len(predicted), count + len(predicted)
    return total / count


@torch.no_grad()
def in_lanes(model: NextRow, loader: tensorcache.torch.Loader) -> tuple[float, list[list[int]]]:
    """Return the mean squared error in lanes, and the window starts of each unbroken stretch."""
    state, total, count = zeros(LANES), 0.0, 0
    stretches: dict[int, list[list[int]]] = defaultdict(list)
    for batch in loader:
        predicted, state = model(batch["context"], carried(state, batch["reset"]))
        total += float((predicted - batch["target"]).square().double().sum())
        count += predicted.numel()
        for row, start in enumerate(batch["start"].tolist()):
            own = stretches[row]
            if own and own[-1][-1] + LENGTH == start:
                own[-1].append(start)
            else:
                own.append([start])
    return total / count, [stretch for lane in stretches.values() for stretch in lane]


@torch.no_grad()
def unbroken(model: NextRow, series: torch.Tensor, stretches: list[list[int]]) -> float:
    """Return the mean squared error over each stretch in one call, on rows from the table."""
    total, count = 0.0, 0
    for stretch in stretches:
        rows = series[stretch[0] : stretch[-1] + LENGTH + 1]
        predicted, _ = model(rows[None, :-1], zeros(1))
        total += float((predicted - rows[1:]).square().double().sum())
        count += predicted.numel()
    return total / count


def main() -> int:
    """Train, then compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    cache = tensorcache.connect()
    data = cache.load("etth1-lanes", CSV, time="date", scale="standard", fit_rows=(0, TRAIN_ROWS))
    # Each window predicts every next row: its target is its context, shifted by one row.
    windows = data.windows(
        context_length=LENGTH, stride=LENGTH, prediction_length=1, overlap=LENGTH - 1
    )
    series = torch.stack(
        [torch.tensor(data[name], dtype=torch.float32) for name in windows.features["context"]],
        dim=1,
    )
    model = NextRow(series.shape[1])
    adam = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    options = {"batch_size": LANES, "order": "lanes", "seed": given.seed, "format": "dict"}
    with tensorcache.torch.loader(windows.where(rows=(0, TRAIN_ROWS)), **options) as train:
        for epoch in range(given.epochs):
            print(f"epoch {epoch}: loss {train_epoch(model, adam, train):.6f}")
    with tensorcache.torch.loader(windows, **options) as loader:
        loss, stretches = in_lanes(model, loader)
    whole = unbroken(model, series, stretches)
    same = abs(loss - whole) <= TOLERANCE * whole
    print(f"{len(windows)} windows in {LANES} lanes, {len(stretches)} unbroken stretches")
    print(
        f"loss in lanes {loss:.8f}, over the unbroken stretches {whole:.8f}: "
        f"{'equal' if same else 'NOT equal'}"
    )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
