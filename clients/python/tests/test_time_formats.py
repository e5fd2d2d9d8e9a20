"""Times in formats of strptime, compared with strptime."""

from __future__ import annotations

import datetime
import random
import re
from pathlib import Path

import pytest

import tensorcache

DAYS = ["%d/%m/%Y", "%m-%d-%y", "%Y%m%d", "%d %B %Y", "%d%b%Y", "%b%d,%Y", "%j/%Y", "%F", "%y%j"]
DAYS += [
    "%m/%d/%Y",
    "%b  %d %Y",
    "%Y_%m_%d",
    "on day %d of %b in %Y",
    "%a, %d.%m.%Y",
    "%A %y-%m-%d",
]
BETWEEN = [" ", "T", "_", " at ", ""]
CLOCKS = ["%H:%M", "%H%M", "%H:%M:%S", "%H%M%S", "%I:%M %p", "%I:%M%p", "%I%p", "%I:%M:%S%p", "%T"]
CLOCKS += ["%H.%M.%S", "%H_%M", "%H%M%S%f", "%I:%M:%S%f %p"]
FRACTIONS = ["", ".%f"]
OFFSETS = ["", "%z", " %z"]
MONTHS = ["%Y-%m", "%b-%y", "%Y%m", "%B %Y", "%Y"]


def draw_format(draws: random.Random) -> str:
    """A format of months, or of days and times of the day."""
    if draws.randrange(8) == 0:
        return draws.choice(MONTHS)
    clock = draws.choice(CLOCKS)
    fraction = draws.choice(FRACTIONS) if clock.endswith(("%S", "%T")) else ""
    return draws.choice(DAYS) + draws.choice(BETWEEN) + clock + fraction + draws.choice(OFFSETS)


def of_python(form: str) -> str:
    """The format without the directives that Python's strptime does not have."""
    return form.replace("%F", "%Y-%m-%d").replace("%T", "%H:%M:%S")


def write(draws: random.Random, form: str, at: datetime.datetime) -> str:
    """The time in one of the ways in which strptime reads the format."""
    out = ""
    for i, part in enumerate(parts := directives(of_python(form))):
        text = at.strftime(part)
        near = "".join(parts[max(0, i - 1) : i] + parts[i + 1 : i + 2])
        if part in ("%d", "%m", "%H", "%I", "%M", "%S") and not set(near) & set("YymdjHIMS%"):
            text = draws.choice([text, text.lstrip("0") or "0"])
        elif not part.startswith("%") and text.isalpha():
            text = draws.choice([str.lower, str.upper])(text)
        elif part in ("%p", "%b", "%B", "%a", "%A"):
            text = draws.choice([str.lower, str.upper, str.title])(text)
        elif part == "%z":
            colons = ":".join(text[i : i + 2] for i in range(1, len(text), 2))
            text = draws.choice([text, text[0] + colons, "Z" if text == "+0000" else text])
        out += text
    return out


def directives(form: str) -> list[str]:
    """The directives of a format, and the texts between them."""
    out: list[str] = []
    at = 0
    while at < len(form):
        size = 2 if form[at] == "%" else 1
        out.append(form[at : at + size])
        at += size
    return out


def read(form: str, text: str) -> datetime.datetime | None:
    """The time in UTC that strptime reads, None if it refuses the text."""
    try:
        at = datetime.datetime.strptime(text, of_python(form))
    except ValueError:
        return None
    return at if at.tzinfo is None else at.astimezone(datetime.timezone.utc).replace(tzinfo=None)


def draw_text(draws: random.Random, form: str) -> str:
    zone = datetime.timedelta(minutes=draws.randrange(-840, 840, 15))
    if draws.randrange(4) == 0:
        zone += datetime.timedelta(seconds=draws.randrange(60))
    at = datetime.datetime(1970, 1, 2, tzinfo=datetime.timezone(zone))
    at += datetime.timedelta(microseconds=draws.randrange(98 * 365 * 86_400 * 10**6))
    return write(draws, form, at)


@pytest.mark.parametrize("seed", range(40))
def test_times_are_what_strptime_reads(cache: tensorcache.Cache, tmp_path: Path, seed: int) -> None:
    draws = random.Random(seed)
    form = draw_format(draws)
    cells = {read(form, text): text for text in (draw_text(draws, form) for _ in range(30))}
    want = sorted(at for at in cells if at is not None)
    assert len(want) == len(cells)
    path = tmp_path / "x.csv"
    path.write_text("t;v\n" + "".join(f"{cells[at]};1\n" for at in want))
    data = cache.load("formats", path, time="t", time_format=form, delimiter=";")
    assert data["t"].astype("datetime64[us]").tolist() == want, (form, cells)


@pytest.mark.parametrize("seed", range(40))
def test_texts_that_strptime_refuses_are_refused(
    cache: tensorcache.Cache, tmp_path: Path, seed: int
) -> None:
    """Texts with one other digit, and dates and times that do not exist."""
    draws = random.Random(seed)
    form, path = draw_format(draws), tmp_path / "x.csv"
    for _ in range(5):
        text = draw_text(draws, form)
        at = draws.choice([i for i, c in enumerate(text) if c.isdigit()])
        text = text[:at] + draws.choice("0123456789") + text[at + 1 :]
        want = read(form, text)
        path.write_text(f"t;v\n{text};1\n")
        if want is None:
            message = re.escape(f'"{text}" is not a time in the given format')
            with pytest.raises(tensorcache.SourceError, match=message):
                cache.load("formats", path, time="t", time_format=form, delimiter=";")
            continue
        data = cache.load("formats", path, time="t", time_format=form, delimiter=";")
        assert data["t"].astype("datetime64[us]").tolist() == [want], (form, text)


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M %p", "%F %T%p", "%d.%m.%Y %p %H", "%F %I"])
def test_hours_to_12_have_a_half_and_others_have_none(
    cache: tensorcache.Cache, tmp_path: Path, form: str
) -> None:
    """With %H, strptime does not use the half: 01:30 PM is 1:30."""
    (path := tmp_path / "x.csv").write_text("t,v\n2020-01-02 01:30 PM,1\n")
    with pytest.raises(tensorcache.SpecError, match=r"hours to 12 \(%I\) and the half"):
        cache.load("formats", path, time="t", time_format=form)
