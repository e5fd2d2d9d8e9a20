"""Pieces of HTML: escaped texts, tables, the frame around them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

LONGEST_TEXT = 60

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not allow, not even escaped."""

CELL = "text-align:left;padding:1px 12px 1px 0;font-weight:normal;vertical-align:top"


def text(value: object, longest: int = LONGEST_TEXT) -> str:
    """A value as text for HTML and XML: escaped, and cut where it is long."""
    words = str(value)
    if len(words) > longest:
        words = f"{words[: longest - 1]}…"
    return html.escape(NOT_XML.sub("\ufffd", words), quote=True)


def swatch(color: str) -> str:
    """A small square of a colour, for legends."""
    return f'<span style="color:{color}">■</span> '


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and values, which are HTML."""
    body = "".join(
        f'<tr><th style="{CELL};opacity:0.7">{name}</th><td style="{CELL}">{value}</td></tr>'
        for name, value in rows
    )
    return f'<table style="border-collapse:collapse">{body}</table>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a head; all cells are HTML."""
    top = "".join(f'<th style="{CELL};opacity:0.7">{cell}</th>' for cell in head)
    body = "".join(
        f"<tr>{''.join(f'<td style={CELL!r}>{cell}</td>' for cell in row)}</tr>" for row in rows
    )
    return (
        f'<table style="border-collapse:collapse"><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def note(words: str) -> str:
    """A line below a table or drawing; ``words`` are HTML."""
    return f'<div style="opacity:0.7">{words}</div>'


def frame(title: str, *pieces: str) -> str:
    """The whole output of an object; a ``$`` in a name starts no formula in it."""
    return (
        '<div class="tex2jax_ignore mathjax_ignore" style="overflow-x:auto">'
        f"<div>{title}</div>{''.join(pieces)}</div>"
    )
