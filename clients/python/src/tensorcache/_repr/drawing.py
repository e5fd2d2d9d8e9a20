"""A drawing of where windows lie, as one SVG of bounded size."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .html import text

WIDTH = 600
"""Pixels of the longest item. A pixel is filled if a row in it is."""

LEFT = 150
ROW_HEIGHT = 10
REJECTED_HEIGHT = 4
LANE_HEIGHT = 20


class Strip:
    """Which pixels of an item's rows are filled.

    Args:
        rows: the rows of the item; others are not drawn.
        scale: the rows that ``WIDTH`` pixels stand for.
    """

    def __init__(self, rows: int, scale: int) -> None:
        self._rows, self._scale = rows, max(scale, 1)
        self._changes = np.zeros(WIDTH + 1, np.int64)

    def add(self, first: int, count: int, stride: int, low: int, high: int) -> None:
        """Fill rows ``[s + low, s + high)`` for ``count`` starts s, one stride apart."""
        skipped = max(0, -(first + high) // stride + 1)
        count = min(count, (self._rows - first - low - 1) // stride + 1)
        if high <= low or count <= skipped:
            return
        # Gaps below a pixel are not seen.
        if high - low >= stride or stride * WIDTH <= self._scale:
            self._fill(first + skipped * stride + low, first + (count - 1) * stride + high)
            return
        for at in range(skipped, count):
            self._fill(first + at * stride + low, first + at * stride + high)

    def _fill(self, begin: int, end: int) -> None:
        begin, end = max(begin, 0), min(end, self._rows)
        if begin < end:
            self._changes[begin * WIDTH // self._scale] += 1
            self._changes[-(-end * WIDTH // self._scale)] -= 1

    def filled(self) -> npt.NDArray[np.bool_]:
        """For each pixel whether it is filled."""
        return np.cumsum(self._changes)[:WIDTH] > 0

    def path(self, y: int, height: int) -> str:
        """The rectangles as the data of an SVG path; "" if there are none."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], self.filled(), [0]])))
        return "".join(
            f"M{LEFT + begin} {y}h{end - begin}v{height}h-{end - begin}z"
            for begin, end in edges.reshape(-1, 2).tolist()
        )


@dataclass
class Lane:
    """The windows and rejected positions of one item in one part.

    ``title`` is shown under the pointer; ``rejected`` is by reason.
    """

    item: int
    part: str
    label: str
    title: str
    color: str
    rows: int
    context: Strip
    prediction: Strip
    rejected: dict[str, Strip] = field(default_factory=dict)


def svg(lanes: list[Lane], colors: dict[str, str], axis: tuple[str, str]) -> str:
    """The lanes below each other, over one axis of rows whose ends have the given texts."""
    scale = max((lane.rows for lane in lanes), default=1)
    height = LANE_HEIGHT * len(lanes) + 20
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 10}" height="{height}" '
        f'viewBox="0 0 {LEFT + WIDTH + 10} {height}" role="img" '
        'font-family="sans-serif" font-size="11" fill="currentColor">'
        "<title>where the windows lie</title>"
    ]
    for number, lane in enumerate(lanes):
        y = number * LANE_HEIGHT + 2
        width = max(1, lane.rows * WIDTH // max(scale, 1))
        out.append(
            f'<g data-item="{lane.item}" data-part="{text(lane.part)}">'
            f"<title>{text(lane.title, 300)}</title>"
            f'<text x="0" y="{y + ROW_HEIGHT}">{text(lane.label, 24)}</text>'
            f'<rect x="{LEFT}" y="{y}" width="{width}" height="{ROW_HEIGHT + REJECTED_HEIGHT}" '
            'fill="#7f7f7f" fill-opacity="0.12"/>'
        )
        drawn = [
            ("context", lane.context, lane.color, 0.4, y, ROW_HEIGHT),
            ("prediction", lane.prediction, lane.color, 1, y + 2, ROW_HEIGHT - 4),
        ] + [
            (reason, strip, colors[reason], 1, y + ROW_HEIGHT, REJECTED_HEIGHT)
            for reason, strip in lane.rejected.items()
        ]
        for what, strip, color, opacity, top, tall in drawn:
            if data := strip.path(top, tall):
                out.append(
                    f'<path data-what="{what}" fill="{color}" fill-opacity="{opacity}" d="{data}"/>'
                )
        out.append("</g>")
    out.append(
        f'<text x="{LEFT}" y="{height - 6}">{text(axis[0])}</text>'
        f'<text x="{LEFT + WIDTH}" y="{height - 6}" text-anchor="end">{text(axis[1])}</text></svg>'
    )
    return "".join(out)
