"""The client's table of orders equals the daemon's."""

from __future__ import annotations

import json
from pathlib import Path

import tensorcache
from tensorcache._feed import orders

DOCUMENT = Path(__file__).parents[3] / "api" / "openapi" / "windows.json"


def test_the_table_has_the_orders_of_the_control_api() -> None:
    schemas = json.loads(DOCUMENT.read_text())["components"]["schemas"]
    names = [name for name in schemas["FeedOptions"]["properties"]["order"]["enum"] if name]
    assert list(orders.ORDERS) == names


def test_the_documentation_of_feed_names_every_order() -> None:
    text = tensorcache.Windows.feed.__doc__ or ""
    assert [name for name in orders.ORDERS if f'``"{name}"``' not in text] == []
