"""The tables of the delivery bench in Markdown, and the pages that contain them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from delivery_once import GROUPS

REPOSITORY = Path(__file__).parent.parent
BEGIN, END = "<!-- make bench writes from here -->\n", "<!-- to here -->\n"
MET = {True: "met", False: "**missed**"}

PEERS = {
    "DataLoader, textbook": "PyTorch `DataLoader`, one window at a time",
    "DataLoader, 2 workers": "PyTorch `DataLoader`, with two worker processes",
    "DataLoader, __getitems__": "PyTorch `DataLoader`, a batch at a time",
    "Hugging Face datasets": "Hugging Face `datasets`",
}
"""What people use today, by the names of the cases, in words for the front page."""

LOADS = [
    ("16 Parquet columns of 10⁷ rows, loaded", "pyarrow", "1.56 s", "4.5 ×"),
    ("2 of its 16 columns", "pandas", "0.123 s", "2.4 ×"),
    ("8 CSV columns of 10⁷ rows, loaded", "pandas", "0.746 s", "2.6 ×"),
]
"""Rows of the front page, from the table of ``make bench-loading`` in bench/README.md: the fastest
of pyarrow, Polars, DuckDB and pandas."""


def _lines(results: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in GROUPS:
        yield from results.get(name, {}).get("lines", ())


def _ratio(line: dict[str, Any]) -> str:
    return "" if line.get("ratio") is None else f"{line['ratio']:.3g} ×"


def _table(*rows: tuple[str, ...]) -> str:
    head, *body = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *body))


def all_rows(results: dict[str, Any]) -> str:
    """Return every line, without targets."""
    return _table(
        ("what", "measured", "ratio", "to", "note"),
        *(
            (
                line["what"],
                line.get("value", ""),
                _ratio(line),
                line.get("to", ""),
                line.get("note", ""),
            )
            for line in _lines(results)
        ),
    )


def target_rows(results: dict[str, Any]) -> str:
    """Return the measured lines that have a target."""
    return _table(
        ("what", "measured", "ratio", "to", "target", ""),
        *(
            (
                line["what"],
                line["value"],
                _ratio(line),
                line.get("to", ""),
                line["bar"],
                MET[line["held"]],
            )
            for line in _lines(results)
            if line.get("held") is not None
        ),
    )


def peer_rows(results: dict[str, Any]) -> str:
    """Return what people use today, and how many times as fast tensorcache is."""
    peers = [line for line in _lines(results) if line["what"] in PEERS and line.get("ratio")]
    return _table(
        ("what", "today, with", "takes or reaches", "tensorcache is faster"),
        *LOADS,
        *(
            ("shuffled windows", PEERS[line["what"]], line["value"], _ratio(line))
            for line in sorted(peers, key=lambda line: list(PEERS).index(line["what"]))
        ),
    )


def targets_met(results: dict[str, Any]) -> str:
    """Return how many targets are met."""
    met = [line["held"] for line in _lines(results) if line.get("held") is not None]
    return f"{sum(met)} of {len(met)} targets met."


PAGES = {
    "bench/README.md": all_rows,
    "docs/performance.md": target_rows,
    "README.md": peer_rows,
}


def publish(where: str, how: str, results: dict[str, Any]) -> None:
    """Replace the text between the marks of each page with its table.

    where names the machine and the month; how says how many rounds were measured. The front page
    says only where.
    """
    above = {
        all_rows: f"{where} {how}",
        target_rows: f"{where} {how} {targets_met(results)}",
        peer_rows: where,
    }
    for page, rows in PAGES.items():
        path = REPOSITORY / page
        before, _, rest = path.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        path.write_text(f"{before}{BEGIN}\n{above[rows]}\n\n{rows(results)}\n\n{END}{after}")
