"""Write the vectors of the features of frequencies, internal/calendar/testdata/timeF.json.

    python make_calendar.py timefeatures.py [--old OTHER_PYTHON]

The values come from GluonTS, and from utils/timefeatures.py of Time-Series-Library; both must give
the same. Frequencies that the pandas of this Python refuses are taken from OTHER_PYTHON, which has
pandas before 2.2 and knows the old names, such as H and T.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from gluonts import __version__, time_feature

FILE = Path(__file__).parents[3] / "internal/calendar/testdata/timeF.json"
FREQUENCIES = [
    "YE",
    "YS",
    "YE-JUN",
    "YS-JUN",
    "Y",
    "A",
    "AS",
    "A-JUN",
    "QE",
    "QS",
    "QE-MAR",
    "QS-OCT",
    "Q",
    "Q-DEC",
    "ME",
    "MS",
    "M",
    "3ME",
    "2M",
    "W",
    "W-SUN",
    "W-MON",
    "2W",
    "D",
    "7D",
    "B",
    "C",
    "h",
    "H",
    "6h",
    "12H",
    "min",
    "T",
    "15min",
    "5T",
    "s",
    "S",
    "30s",
    "10S",
    "ms",
    "L",
    "us",
    "U",
    "ns",
    "N",
    "SME",
    "SMS",
    "BME",
    "BMS",
    "BYE",
    "BQE",
    "bh",
    "a",
    "m",
    "w",
    "d",
    "b",
    "t",
]
OURS = {
    "second_of_minute": "second_unit",
    "minute_of_hour": "minute_unit",
    "hour_of_day": "hour_unit",
    "day_of_week": "dayofweek_unit",
    "day_of_month": "day_unit",
    "day_of_year": "dayofyear_unit",
    "month_of_year": "month_unit",
    "week_of_year": "weekofyear_unit",
    "SecondOfMinute": "second_unit",
    "MinuteOfHour": "minute_unit",
    "HourOfDay": "hour_unit",
    "DayOfWeek": "dayofweek_unit",
    "DayOfMonth": "day_unit",
    "DayOfYear": "dayofyear_unit",
    "MonthOfYear": "month_unit",
    "WeekOfYear": "weekofyear_unit",
}
"""Our columns, by the names of their functions and classes."""


def vectors(path: str) -> dict[str, Any]:
    """Return the times, the values of each feature, and the features of each frequency."""
    spec = importlib.util.spec_from_file_location("timefeatures", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no module")
    theirs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(theirs)
    # 833 days, among them 366 of one year and one in a week 53
    times = pd.date_range("2019-12-29", periods=800, freq=pd.Timedelta("1D 1h 1min 1s"))
    features: dict[str, list[float]] = {}
    frequencies: dict[str, list[str] | None] = {}
    for frequency in FREQUENCIES:
        frequencies[frequency] = None
        for library in (time_feature, theirs):
            try:
                found = library.time_features_from_frequency_str(frequency)
            except (RuntimeError, ValueError):
                continue
            names = []
            for feature in found:
                name = OURS[getattr(feature, "__name__", type(feature).__name__)]
                values = [float(str(value)) for value in np.asarray(feature(times), np.float32)]
                if features.setdefault(name, values) != values:
                    raise SystemExit(f"{name} is not the same")
                names.append(name)
            if frequencies[frequency] not in (None, names):
                raise SystemExit(f"{frequency}: {frequencies[frequency]} and {names}")
            frequencies[frequency] = names
    return {
        "made_by": [f"gluonts {__version__}, pandas {pd.__version__}"],
        "times": [int(time.timestamp()) for time in times],
        "features": features,
        "frequencies": frequencies,
    }


def main() -> None:
    """Write the file, or print its JSON for another Python."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", help="utils/timefeatures.py of Time-Series-Library")
    parser.add_argument("--old", help="a Python whose pandas knows the old names")
    parser.add_argument("--print", action="store_true", help="write nothing")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # old names of frequencies
    made = vectors(given.path)
    if given.print:
        print(json.dumps(made))
        return
    if given.old:
        again = [given.old, __file__, given.path, "--print"]
        old = json.loads(subprocess.run(again, check=True, capture_output=True, text=True).stdout)
        made["made_by"] += old["made_by"]
        if made["times"] != old["times"] or made["features"] != old["features"]:
            raise SystemExit("the two pandas do not agree")
        for frequency, names in old["frequencies"].items():
            if made["frequencies"][frequency] is None:
                made["frequencies"][frequency] = names
            elif names not in (None, made["frequencies"][frequency]):
                raise SystemExit(f"{frequency}: the two pandas do not agree")
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in made.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{FILE}: {len(made['frequencies'])} frequencies", file=sys.stderr)


if __name__ == "__main__":
    main()
