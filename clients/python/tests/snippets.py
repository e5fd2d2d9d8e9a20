"""The Python code of the sections of docs/FRAMEWORKS.md, and of other pages."""

from __future__ import annotations

import re

from daemon import REPOSITORY


def snippet(section: str) -> str:
    """All code of a section, after the code that all sections share."""
    text = (REPOSITORY / "docs" / "FRAMEWORKS.md").read_text()
    first, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    (body,) = [body for body in sections if body.startswith(section + "\n")]
    blocks = [
        block
        for part in (first, body)
        for block in re.findall(r"^```python\n(.*?)^```", part, re.S | re.M)
    ]
    assert len(blocks) > 1, f"section {section} has no code"
    return "\n".join(blocks)


def page(path: str) -> str:
    """All code of a page."""
    return code((REPOSITORY / path).read_text())


def section(path: str, title: str) -> str:
    """All code of one section of a page."""
    sections = re.split(r"^## ", (REPOSITORY / path).read_text(), flags=re.MULTILINE)
    (body,) = [body for body in sections if body.startswith(title + "\n")]
    return code(body)


def code(text: str) -> str:
    """The Python code of Markdown."""
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    assert blocks, f"no code in {text}"
    return "\n".join(blocks)
