"""A stateful LSTM on ETTh1.

Windows in lanes, its state carried from batch to batch and reset where the feed says so.

Row i of a batch goes on where row i of the batch before ended, unless ``reset[i]`` is True: there
another stretch of the series begins, and the state of that row starts from zero. So an LSTM that
sees the series in windows of 96 rows computes what it would compute over each unbroken stretch at
once. After training, both are done with the same weights, and their losses are compared.

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
TOLERANCE = 1e-5  # relative: float32 sums in another order
CSV = Path(__file__).parent / "data" / "ETTh1.csv"

State = tuple[torch.Tensor, torch.Tensor]


class NextRow(torch.nn.Module):
    """Predicts each next row of the series from all rows so far."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(features, HIDDEN, batch_first=True)
        self.head = torch.nn.Linear(HIDDEN, features)

    def forward(self, rows: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """``[B, T, F]`` and the state before to ``[B, T, F]`` and the state after."""
        out, state = self.lstm(rows, state)
        return self.head(out), state


def zeros(rows: int) -> State:
    """The state of so many rows that have seen nothing."""
    return torch.zeros(1, rows, HIDDEN), torch.zeros(1, rows, HIDDEN)


def carried(state: State, reset: torch.Tensor) -> State:
    """The state that a batch begins with, zero where it is reset.

    A last batch may have fewer rows.
    """
    goes_on = (~reset).to(torch.float32)[None, :, None]
    before = len(reset)
    return state[0][:, :before].detach() * goes_on, state[1][:, :before].detach() * goes_on


def train_epoch(model: NextRow, adam: torch.optim.Adam, loader: tensorcache.torch.Loader) -> float:
    """Train for one pass in lanes, with an update a batch, and return the mean squared error.

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
    """The mean squared error in lanes with fixed weights, and the starts of unbroken stretches."""
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
    """The mean squared error over each stretch in one call, rows straight from the table."""
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
    # Each window predicts every next row: its target is its context, one row on.
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
