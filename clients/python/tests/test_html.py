"""What notebooks show: tables and a drawing as HTML."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from draws import SPLITS_MAY_LOSE_ROWS, Table, specs, splits, tables
from naive import Naive
from tensorcache._repr.drawing import LEFT, WIDTH, Strip
from tensorcache._repr.html import text

SVG = "{http://www.w3.org/2000/svg}"
ALLOWED = {
    *("div", "b", "table", "thead", "tbody", "tr", "th", "td", "span"),
    *("svg", "title", "g", "text", "rect", "path"),
}
HOSTILE = '<script>alert("1")</script>&amp;\'\x01\u2028'

Pixels = dict[tuple[int, str, str], list[int]]
"""The filled pixels by item, part, and what they stand for."""


class Page(HTMLParser):
    """The elements and texts of some HTML; it fails if elements are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(shown: Any) -> tuple[Page, ElementTree.Element | None]:
    """The HTML of an object, checked: no script, nothing from elsewhere, the SVG is XML."""
    html = shown._repr_html_()
    page = Page(html)
    assert set(page.tags) <= ALLOWED, set(page.tags) - ALLOWED
    for name, value in page.attributes:
        assert not name.startswith("on"), name
        assert name not in ("href", "src", "xlink:href")
        assert "url(" not in (value or "")
        assert name == "xmlns" or "://" not in (value or "") or HOSTILE[:8] in (value or "")
    drawn = re.findall("<svg.*?</svg>", html, re.DOTALL)
    assert len(drawn) <= 1
    return page, ElementTree.fromstring(drawn[0]) if drawn else None


def pixels_of(svg: ElementTree.Element) -> Pixels:
    """The filled pixels of a drawing."""
    found: Pixels = {}
    for lane in svg.iter(f"{SVG}g"):
        for path in lane.iter(f"{SVG}path"):
            filled: list[int] = []
            for x, width in re.findall(r"M(\d+) \d+h(\d+)v\d+h-\d+z", path.attrib["d"]):
                filled += range(int(x) - LEFT, int(x) - LEFT + int(width))
            key = (int(lane.attrib["data-item"]), lane.attrib["data-part"])
            found[(*key, path.attrib["data-what"])] = filled
    return found


def expected(naive: Naive, parts: dict[str, list[tuple[Any, ...]]]) -> Pixels:
    """The pixels of rows that loops over all starts find."""
    rows: dict[tuple[int, str, str], set[int]] = {}
    scale = max(naive.rows(item) for item in range(len(naive.items)))

    def add(item: int, part: str, what: str, begin: int, end: int) -> None:
        inside = set(range(max(begin, 0), min(end, naive.rows(item))))
        if inside:
            rows.setdefault((item, part, what), set()).update(inside)

    for part, cuts in parts.items():
        windows = set(naive.index(cuts).places)
        for item in range(len(naive.items)):
            left = naive.range(item, cuts)
            for start in range(-200, naive.rows(item)):
                if (item, start) in windows:
                    add(item, part, "context", start, start + (naive.c - 1) * naive.d + 1)
                    if naive.p:
                        low = start + (naive.c + naive.g) * naive.d
                        add(item, part, "prediction", low, low + (naive.p - 1) * naive.d + 1)
                elif not left.absent and naive.is_position(item, start):
                    predicted = start + (naive.c + naive.g if naive.p else naive.c - 1) * naive.d
                    if left.cut_by_rows and not left.low <= predicted < left.high:
                        continue  # it is a position of another part
                    reason = naive.why(item, start, left)
                    if reason is not None:
                        add(item, part, reason, start, start + naive.s)
    return {
        key: sorted(
            p
            for p in range(WIDTH)
            # The rows in the pixel: row r fills [r, r + 1) * WIDTH / scale.
            if any(r * WIDTH < (p + 1) * scale and (r + 1) * WIDTH > p * scale for r in found)
        )
        for key, found in rows.items()
    }


@SPLITS_MAY_LOSE_ROWS
@given(table=tables(), spec=specs(), data=st.data())
@cases(0.03)
def test_the_drawn_rectangles_are_those_of_the_loops(
    cache: tensorcache.Cache, table: Table, spec: dict[str, Any], data: st.DataObject
) -> None:
    note_seed()
    naive = table.naive(spec)
    if not naive.index([]).places:
        return
    with table.put(cache, "drawn") as loaded:
        windows = loaded.windows(**table.keywords(spec))
        _, svg = page_of(windows)
        assert svg is not None
        assert pixels_of(svg) == expected(naive, {"windows": []})
        split = data.draw(splits(naive.names))
        given = dict(split)
        if "at_times" in split:
            given["at_times"] = [table.time(at) for at in split["at_times"]]
        try:
            parts = windows.split(**given)
        except tensorcache.SpecError:
            parts = None
        if parts is not None:
            _, svg = page_of(parts)
            assert svg is not None
            cuts: dict[str, list[tuple[Any, ...]]] = {
                name: [("split", split, at)] for at, name in enumerate(parts.keys())
            }
            assert pixels_of(svg) == expected(naive, cuts)
    cache.remove("drawn")


@given(
    first=st.integers(-500, 3000),
    count=st.integers(1, 400),
    stride=st.integers(1, 60),
    low=st.integers(0, 40),
    length=st.integers(1, 80),
    rows=st.integers(1, 5000),
    more=st.integers(0, 5000),
)
@cases(0.05)
def test_a_pixel_is_filled_if_a_row_in_it_is(
    first: int, count: int, stride: int, low: int, length: int, rows: int, more: int
) -> None:
    scale = rows + more
    strip = Strip(rows, scale)
    strip.add(first, count, stride, low, low + length)
    filled = set()
    for start in range(first, first + count * stride, stride):
        for row in range(max(start + low, 0), min(start + low + length, rows)):
            filled |= set(range(row * WIDTH // scale, -(-(row + 1) * WIDTH // scale)))
    assert np.flatnonzero(strip.filled()).tolist() == sorted(filled)


def test_names_are_shown_and_are_never_markup(cache: tensorcache.Cache) -> None:
    n = 60
    columns = {
        "id": [f"{HOSTILE}{i // 30}" for i in range(n)],
        f"value {HOSTILE[:-2]}": np.arange(n, dtype=np.float32),
        "$x$": np.ones(n, np.float32),
    }
    with cache.put("hostile", columns, item_id="id") as data:
        windows = data.windows(context_length=4, prediction_length=2)
        parts = windows.split(fractions=(0.5, 0.5), names=[HOSTILE, 'a"&b'])
        with windows.feed(batch_size=4) as feed:
            pages = [page_of(shown)[0] for shown in (data, windows, parts, feed)]
        for page in pages:
            assert "<script>alert" in page.text
        assert "$x$" in pages[0].text
        assert any("mathjax_ignore" in (value or "") for _, value in pages[0].attributes)
        svg = page_of(parts)[1]
        assert svg is not None
        assert {lane.attrib["data-part"] for lane in svg.iter(f"{SVG}g")} == {
            HOSTILE.replace("\x01", "\ufffd"),
            'a"&b',
        }


@given(st.text(st.characters()))
@cases(0.02)
def test_any_text_is_text_of_xml(words: str) -> None:
    element = ElementTree.fromstring(f'<t a="{text(words)}">{text(words)}</t>')
    assert (element.text or "").replace("\r", "\n").count("<") == words[:59].count("<") + (
        len(words) == 60 and words[59] == "<"
    )


def test_counts_are_shown(etth1: tensorcache.Dataset) -> None:
    page, svg = page_of(etth1)
    assert svg is None
    for words in ("17,420", "OT", "float", "2016-07-01", "date"):
        assert words in page.text
    windows = etth1.windows(context_length=96, prediction_length=24, stride=7)
    assert f"{len(windows):,}" in page_of(windows)[0].text
    parts = windows.split(fractions=(0.7, 0.1, 0.2))
    page, _ = page_of(parts)
    for name, part in parts.items():
        assert name in page.text
        assert f"{len(part):,}" in page.text
    feed = windows.feed(batch_size=32, order="shuffle")
    page, _ = page_of(feed)
    assert "shuffle" in page.text
    feed.close()
    assert "closed" in page_of(feed)[0].text


def test_what_cannot_be_drawn_says_why(cache: tensorcache.Cache) -> None:
    data = cache.put("closed", {"a": np.arange(30.0)})
    windows = data.windows(context_length=4)
    data.close()
    assert "is closed" in page_of(windows)[0].text
    assert "30" in page_of(data)[0].text


def put_many(cache: tensorcache.Cache, items: int, rows: int) -> tensorcache.Dataset:
    """Put many items or one, with a missing value in every hundredth row."""
    values = np.ones(rows, np.float32)
    values[::100] = np.nan
    columns: dict[str, Any] = {"a": values}
    if items > 1:
        columns["id"] = np.repeat(np.arange(items), rows // items)
    return cache.put("many", columns, item_id="id" if items > 1 else None)


def assert_small_pages(shown: Iterable[Any], most: int, seconds: float) -> None:
    """Check sizes, and in make soak the time, which depends on the machine."""
    for each in shown:
        began = time.monotonic()
        assert len(each._repr_html_()) < most
        if os.environ.get("TENSORCACHE_SOAK"):
            assert time.monotonic() - began < seconds


def test_many_items_rows_and_columns_make_no_large_page(cache: tensorcache.Cache) -> None:
    for items, rows in ((100_000, 1_000_000), (1, 3_000_000)):
        with put_many(cache, items, rows) as data:
            windows = data.windows(context_length=2, prediction_length=1)
            parts = windows.split(fractions=[1 / 8] * 8 if items == 1 else [0.5, 0.5])
            assert_small_pages((data, windows, parts), 200_000, 2.0)
            page = page_of(windows)[0].text
            assert ("99,992 of 100,000 items not drawn" in page) == (items > 1)
            assert ("2 of 8 parts not drawn" in page_of(parts)[0].text) == (items == 1)
    values = np.ones(4_100_000, np.float32)
    values[::2] = np.nan  # more than 2,000,000
    with cache.put("many", {"a": values}) as data:
        page, svg = page_of(data.windows(context_length=1))
        assert svg is None
        assert "not drawn: too many missing values" in page.text
    wide = {f"c{i}": np.ones(3) for i in range(2600)}
    with cache.put("wide", wide) as data:
        assert "2,580 more columns" in page_of(data)[0].text
        assert_small_pages((data, data.windows(context_length=1)), 50_000, 1.0)
