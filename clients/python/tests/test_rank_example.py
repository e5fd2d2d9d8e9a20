"""The example that ranks stocks passes, and its months are those of the prices."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import tensorcache
from daemon import REPOSITORY, example_named


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return example_named("cross_section_rank")


@pytest.fixture(scope="module")
def stocks() -> Path:
    """Monthly prices of five stocks, beside the repository."""
    for folder in REPOSITORY.parents:
        if (path := folder / "shared" / "data" / "stocks.csv").exists():
            return path
    pytest.skip("shared/data/stocks.csv is not beside the repository")


def printed(
    example: ModuleType,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *arguments: str,
) -> list[str]:
    monkeypatch.setattr(sys, "argv", ["cross_section_rank.py", *arguments])
    assert example.main() == 0
    return capsys.readouterr().out.splitlines()


def test_returns_that_go_on_are_ranked(
    cache: tensorcache.Cache,
    example: ModuleType,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = printed(example, capsys, monkeypatch)
    assert lines[0].endswith("7 months are left out")
    assert float(lines[2].split()[-1]) > 0.5, lines


def test_stocks_are_ranked(
    cache: tensorcache.Cache,
    example: ModuleType,
    stocks: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = printed(example, capsys, monkeypatch, str(stocks))
    assert lines[0].startswith("400 windows in 91 months of 4 to 5 stocks")
    assert lines[1].startswith("loss of 91 months")


def test_batches_are_the_months_of_the_prices(
    cache: tensorcache.Cache, example: ModuleType, stocks: Path
) -> None:
    prices = pd.read_csv(stocks)
    prices["date"] = pd.to_datetime(prices["date"], format=example.DATE)
    prices["row"] = prices.groupby("symbol").cumcount()
    data = cache.load("stocks", stocks, time_format=example.DATE, **example.RETURNS)
    windows = data.windows(context_length=example.CONTEXT, prediction_length=1)
    rows = prices[prices["row"] > example.CONTEXT]  # the first has no return
    months = [set(group["symbol"]) for _, group in rows.groupby("date")]
    with windows.feed(batch_size=None, order="cross_section_sequential", min_items=4) as feed:
        served = [{data.items[code] for code in batch.item_code.tolist()} for batch in feed]
    assert served == [month for month in months if len(month) >= 4]
    assert {len(month) for month in served} == {4, 5}


def test_the_gradient_is_that_of_the_loss(example: ModuleType) -> None:
    rng = np.random.default_rng(3)
    weights, inputs, returns = rng.normal(size=6), rng.normal(size=(5, 6)), rng.normal(size=5)
    _, slope = example.loss_and_slope(weights, inputs, returns)
    step = 1e-6
    for i in range(len(weights)):
        there, back = weights.copy(), weights.copy()
        there[i] += step
        back[i] -= step
        difference = (
            example.loss_and_slope(there, inputs, returns)[0]
            - example.loss_and_slope(back, inputs, returns)[0]
        )
        # Central differences have an error of the order of step².
        assert slope[i] == pytest.approx(difference / (2 * step), abs=1e-7)
