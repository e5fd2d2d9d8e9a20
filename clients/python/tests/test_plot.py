"""Plots, drawn on a canvas without a display."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from draws import Table, specs, tables
from naive import Found
from tensorcache._index.positions import REASONS, Positions


@given(table=tables(), spec=specs(), data=st.data())
@cases(0.06)
def test_every_position_is_drawn_for_what_it_is(
    cache: tensorcache.Cache, table: Table, spec: dict[str, Any], data: st.DataObject
) -> None:
    note_seed()
    naive = table.naive(spec)
    found = naive.index([])
    if not found.places:
        return
    with table.put(cache, "drawn") as loaded:
        positions = Positions(loaded.windows(**table.keywords(spec)))
        drawn = Found()
        for code in range(len(naive.items)):
            starts, why = positions.of(code)
            drawn.places += [(code, int(start)) for start in starts[why < 0]]
            for reason, count in Counter(why[why >= 0].tolist()).items():
                drawn.rejected[REASONS[reason]] = drawn.rejected.get(REASONS[reason], 0) + count
        assert (drawn.places, drawn.rejected) == (found.places, found.rejected)
    cache.remove("drawn")


@pytest.fixture(scope="module")
def windows(cache: tensorcache.Cache) -> tensorcache.Windows:
    """Return windows over items of 60 and 40 rows: a time jump, missing values, gap, padding."""
    values = np.linspace(0, 5, 100)
    values[[7, 8, 49]] = np.nan
    times = np.concatenate([np.arange(60) + 10 * (np.arange(60) > 30), np.arange(40)])
    columns = {"id": ["x"] * 60 + ["y"] * 40, "t": times, "a": values, "m": np.ones((100, 2))}
    data = cache.put("plot", columns, item_id="id", time="t")
    return data.windows(
        context_length=8,
        prediction_length=4,
        gap=1,
        overlap=2,
        stride=2,
        max_step=1,
        min_context=4,
        rows=(2, None),
    )


def plotted(axes: Any, path: Path) -> str:
    """Save a plot and return all its text."""
    axes.figure.savefig(path)
    assert path.stat().st_size > 5000
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    words = [axes.get_title("left"), *(text.get_text() for text in axes.texts), *legend]
    return "\n".join([*words, *(label.get_text() for label in axes.get_yticklabels())])


@pytest.fixture(autouse=True)
def headless(monkeypatch: pytest.MonkeyPatch) -> Any:
    pyplot = pytest.importorskip(
        "matplotlib.pyplot", reason="matplotlib is not installed (the plot extra)"
    )
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


def test_a_window_says_where_it_is_and_what_was_rejected(
    windows: tensorcache.Windows, tmp_path: Path
) -> None:
    text = plotted(windows.plot(0), tmp_path / "window.png")
    assert f"window 0 of {len(windows)}" in text
    assert 'of item "x"' in text
    for words in ("context", "prediction rows", "overlap", "a", "m[0]", "m[1]"):
        assert words in text
    lost = "".join(f" + {count} {reason}" for reason, count in windows.rejected.items())
    assert f"{windows.positions} positions = {len(windows)} windows{lost}" in text
    padded = next(i for i in range(len(windows)) if windows[i].start < 2)
    assert "padding" in plotted(windows.plot(padded), tmp_path / "padded.png")
    plotted(windows.latest().plot(0), tmp_path / "latest.png")
    with pytest.raises(IndexError):
        windows.plot(len(windows))


def test_parts_are_drawn_with_their_counts(windows: tensorcache.Windows, tmp_path: Path) -> None:
    parts = windows.split(fractions=(0.6, 0.2, 0.2))
    text = plotted(parts.plot(), tmp_path / "parts.png")
    for name, part in parts.items():
        assert f"{name}: {len(part)}" in text
    for reason in ("item_end", "max_step", "max_missing", "split"):
        assert f"no window: {reason}" in text
    assert "\nx\ny" in text
    assert "\nx" not in plotted(parts.plot(items=["y"]), tmp_path / "one.png")
    lost = plotted(windows.plot_splits(), tmp_path / "windows.png")
    for reason, count in windows.rejected.items():
        assert f"no window: {reason}: {count}" in lost
    plotted(windows.backtest(folds=2, horizon=6)[0].plot(), tmp_path / "fold.png")
    with pytest.raises(tensorcache.NotFoundError):
        parts.plot(items=["z"])


def test_it_is_drawn_where_it_is_asked(windows: tensorcache.Windows) -> None:
    from matplotlib import pyplot

    _, axes = pyplot.subplots(2)
    assert windows.plot(3, ax=axes[0]) is axes[0]
    assert windows.plot_splits(ax=axes[1]) is axes[1]


def test_without_matplotlib_it_says_what_to_install() -> None:
    code = """if True:
        import sys
        import tensorcache
        sys.modules["matplotlib"] = None
        from tensorcache._index import plot
        try:
            plot.axes(1)
        except tensorcache.MissingExtraError as error:
            assert 'pip install "tensorcache[plot]"' in str(error)
        else:
            raise SystemExit("no error")
    """
    subprocess.run([sys.executable, "-c", code], check=True)
