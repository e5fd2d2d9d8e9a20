"""The data of Time-Series-Library, from the tensorcache daemon.

``data_provider`` returns what the function of that name in Time-Series-Library
(https://github.com/thuml/Time-Series-Library, data_provider/data_factory.py) returns for ETTh1:
batches of past values, of values to predict behind ``label_len`` known ones, and of the marks of
their times, equal to its own after ``.float()`` with ``--embed timeF --freq h``. ``train`` and
``vali`` of its ``exp`` classes take them unchanged. ``test`` also reads ``scale`` and
``inverse_transform`` of the data set, in whose place are windows: ``windows.dataset.inverse``
undoes the scaling. The order of a shuffled epoch is another one.

    python examples/time_series_library.py --features MS --seq_len 96 --label_len 48 --pred_len 96

Prints the shapes of the first batch of each part.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import tensorcache
import tensorcache.torch

CSV = Path(__file__).parent / "data" / "ETTh1.csv"
ROWS = (8640, 2880, 2880)  # of the parts: 12, 4 and 4 months
PARTS = ("context", "target", "known_context", "known_target")


def data_provider(args: argparse.Namespace, flag: str) -> tuple[tensorcache.Windows, Any]:
    """The windows of a part of ETTh1, and a loader of its batches.

    A batch is ``seq_x [B, seq_len, F]``, ``seq_y [B, label_len + pred_len, F]``, ``seq_x_mark [B,
    seq_len, 4]`` and ``seq_y_mark [B, label_len + pred_len, 4]``, float32.

    Args:
        args: with ``features`` (M, S or MS), ``target``, ``seq_len``, ``label_len``, ``pred_len``
            and ``batch_size``.
        flag: train, val or test.
    """
    spec = {"context_length": args.seq_len, "prediction_length": args.pred_len}
    spec |= {"overlap": args.label_len, "columns": args.target if args.features == "S" else None}
    windows = etth1().windows(**spec, known_columns="calendar")
    part = windows.split(lengths=ROWS)[flag]
    options = {"batch_size": args.batch_size, "shuffle": flag != "test"}
    return part, tensorcache.torch.loader(part, parts=PARTS, **options)


def etth1() -> tensorcache.Dataset:
    """ETTh1, scaled by its training rows, with the marks of its times."""
    steps = {"scale": "standard", "fit_rows": (0, ROWS[0]), "calendar": "timeF:h"}
    return tensorcache.connect().load("etth1-timeF", CSV, time="date", **steps)


def main() -> None:
    """Print what each part has."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--features", choices=["M", "S", "MS"], default="M")
    parser.add_argument("--target", default="OT")
    for name, rows in (("seq_len", 96), ("label_len", 48), ("pred_len", 96), ("batch_size", 32)):
        parser.add_argument(f"--{name}", type=int, default=rows)
    args = parser.parse_args()
    for flag in ("train", "val", "test"):
        windows, loader = data_provider(args, flag)
        with loader:
            shapes = [list(tensor.shape) for tensor in next(iter(loader))]
        print(f"{flag}: {len(windows):,} windows, batches of {shapes}")


if __name__ == "__main__":
    main()
