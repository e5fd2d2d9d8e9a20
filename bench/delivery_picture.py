"""The picture of the delivery bench.

It has two panels of bars, and a line at the limit of the machine or the model.
"""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, BAR, GAP = 860, 250, 150, 20, 8
OURS, OTHER, LIMIT = "#2a78d6", "#9aa0a6", "#c0392b"
STYLE = (
    "text{font:13px "
    "system-ui,sans-serif;fill:#24292f}.t{font-weight:600;font-size:15px}.n{fill:#57606a}"
    ".l{fill:#c0392b}rect.page{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.n{fill:#9da7b3}.l{fill:#ff8a7a}rect.page{fill:#0d1117}}"
)


def panel(
    top: int, title: str, under: str, bars: list[tuple[str, float, str]], limit: tuple[str, float]
) -> tuple[str, int]:
    """Draw bars of ``(name, value, label)`` from zero and a line at ``limit``.

    Returns the drawing and the position of its lower end.
    """
    most = max(limit[1], *(value for _, value, _ in bars)) if bars else limit[1]
    scale = (WIDTH - LEFT - RIGHT) / most
    out = [
        f'<text class="t" x="16" y="{top + 18}">{escape(title)}</text>',
        f'<text class="n" x="16" y="{top + 36}">{escape(under)}</text>',
    ]
    y = first = top + 64
    for name, value, label in bars:
        colour = OURS if name.startswith("tensorcache") else OTHER
        out += [
            f'<text x="{LEFT - 10}" y="{y + 15}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{max(1.0, value * scale):.1f}" height="{BAR}" rx="2" '
            f'fill="{colour}"/>',
            f'<text class="n" x="{LEFT + value * scale + 6:.1f}" '
            f'y="{y + 15}">{escape(label)}</text>',
        ]
        y += BAR + GAP
    x = LEFT + limit[1] * scale
    out += [
        f'<line x1="{x:.1f}" y1="{first - 6}" x2="{x:.1f}" y2="{y}" stroke="{LIMIT}" '
        'stroke-width="2" '
        'stroke-dasharray="5 3"/>',
        f'<text class="l" x="{x:.1f}" y="{first - 10}" '
        f'text-anchor="middle">{escape(limit[0])}</text>',
    ]
    return "\n".join(out), y + 20


def windows(numbers: dict[str, float], top: int) -> tuple[str, int]:
    """Draw windows per second."""
    limit = numbers.pop("memcpy on one core")
    bars = [
        (name, value, f"{value / 1e6:.2f} M" if value >= 1e5 else f"{value / 1e3:.1f} k")
        for name, value in sorted(numbers.items(), key=lambda one: -one[1])
    ]
    under = (
        "float32, 4 M rows × 8 columns, context 96, prediction 24, batch 256, shuffled; more "
        "is better"
    )
    return panel(
        top, "Windows a second to one torch consumer", under, bars, ("memcpy on one core", limit)
    )


def steps(numbers: dict[str, float], threads: str, top: int) -> tuple[str, int]:
    """Draw the time of a training step, relative to a step without loading."""
    hot = numbers.pop("one resident batch", 1.0)
    bars = [(name, value, f"{value:.3f} ×") for name, value in numbers.items()]
    under = (
        "context 336, prediction 96, batch 32; × a step with one batch that stays in place; "
        "less is better"
    )
    return panel(
        top,
        f"A training step of NLinear on ETTh1, {threads}",
        under,
        bars,
        ("one resident batch, no loading", hot),
    )


def draw(results: dict[str, Any]) -> str:
    """Return the picture of the measured figures as SVG."""
    every = {key: value for result in results.values() for key, value in result["numbers"].items()}
    kinds = {
        kind: {k.partition("/")[2]: v for k, v in every.items() if k.startswith(f"{kind}/")}
        for kind in KINDS
    }
    parts, top = [], 10
    for kind, drawing in KINDS.items():
        if kinds[kind]:
            part, top = drawing(kinds[kind], top)
            parts.append(part)
    page = f'<rect class="page" width="{WIDTH}" height="{top}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" '
        f'height="{top}">\n'
        f"<style>{STYLE}</style>\n{page}\n" + "\n".join(parts) + "\n</svg>\n"
    )


KINDS = {
    "windows": windows,
    "step1": lambda numbers, top: steps(numbers, "one torch thread", top),
    "step2": lambda numbers, top: steps(numbers, "two torch threads on two cores", top),
}
