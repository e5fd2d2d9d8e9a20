"""tensorcache: time-series columns, loaded once, served as window batches over shared memory.

    cache = tensorcache.connect()
    data = cache.load("etth1", "ETTh1.csv", time="date", scale="standard", fit_rows=(0, 8640))
    windows = data.windows(context_length=336, prediction_length=96)
    train, val, test = windows.split(lengths=(8640, 2880, 2880))
    for batch in train.feed(batch_size=32, order="shuffle"):
        batch.context, batch.target

Importing it does nothing; :func:`connect` finds the daemon or starts it.
"""

from . import accelerate, jax, keras, lightning, ray, spark, torch, transformers
from ._cache import Cache, connect
from ._data.items import Items
from ._data.sample import Sample
from ._data.texts import Texts
from ._dataset import Dataset
from ._errors import (
    CancelledError,
    CursorError,
    DaemonError,
    FeedError,
    LeakageError,
    LeakageWarning,
    LoadWarning,
    MissingExtraError,
    NotFoundError,
    ProtocolError,
    ResourceError,
    SourceError,
    SpecError,
    StaleError,
    TensorcacheError,
)
from ._feed.batch import Batch
from ._feed.feed import Feed
from ._feed.parts import Part
from ._portable import Portable, portable
from ._version import __version__
from ._windows import Split, Windows

__all__ = [
    "Batch",
    "Cache",
    "CancelledError",
    "CursorError",
    "DaemonError",
    "Dataset",
    "Feed",
    "FeedError",
    "Items",
    "LeakageError",
    "LeakageWarning",
    "LoadWarning",
    "MissingExtraError",
    "NotFoundError",
    "Part",
    "Portable",
    "ProtocolError",
    "ResourceError",
    "Sample",
    "SourceError",
    "SpecError",
    "Split",
    "StaleError",
    "TensorcacheError",
    "Texts",
    "Windows",
    "__version__",
    "accelerate",
    "connect",
    "jax",
    "keras",
    "lightning",
    "portable",
    "ray",
    "spark",
    "torch",
    "transformers",
]
