"""Items with any name: lookup by name, and splits by the hash of the name's JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from draws import NAMES
from naive_hash import canonical, share_of, xxhash64

ITEMS = 24
"""Items of each dataset; each counts as a case."""

texts = st.lists(st.sampled_from(NAMES) | st.text(max_size=8), min_size=1,
                 max_size=3).map("".join).map(
    lambda text: text.replace("\0", "") or "-"
)  # fmt: skip
whole = st.integers(-(2**63), 2**63 - 1)


def test_the_hash_is_the_published_one() -> None:
    """Test vectors of xxHash: tests/sanity_test_vectors.h, and the README of python-xxhash."""
    assert xxhash64(b"") == 0xEF46DB3751D8E999
    assert xxhash64(b"a") == 0xD24EC4F1A98C6E5B
    assert xxhash64(b"xxhash") == 3665147885093898016
    assert xxhash64(b"Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1


@given(kind=st.sampled_from(["text", "whole", "pair"]), data=st.data())
@cases(0.12, of_each=ITEMS)
def test_items_go_where_the_hash_of_their_json_says(
    cache: tensorcache.Cache, kind: str, data: st.DataObject
) -> None:
    note_seed()
    of_kind: dict[str, st.SearchStrategy[Any]] = {
        "text": texts,
        "whole": whole,
        "pair": st.tuples(texts, whole),
    }
    names = data.draw(st.lists(of_kind[kind], min_size=ITEMS, max_size=ITEMS, unique=True))
    keys = (
        {"id": [name[0] for name in names], "no": [name[1] for name in names]}
        if kind == "pair"
        else {"id": names}
    )
    columns = {
        name: np.asarray(values) if name == "no" else values for name, values in keys.items()
    }
    with cache.put("names", {**columns, "v": np.arange(ITEMS)}, item_id=list(columns)) as loaded:
        windows = loaded.windows(context_length=1)
        assert list(loaded.items) == names
        share = data.draw(st.sampled_from([0.25, 0.5, 0.625]))
        hashes = [share_of(list(name) if kind == "pair" else name) for name in names]
        wanted = [
            [code for code, u in enumerate(hashes) if (u >= share) == later]
            for later in (False, True)
        ]
        note(f"{[canonical(name) for name in names]}")
        if all(wanted):
            parts = windows.split(items=(share, None))
            assert [part[:].item_code.tolist() for part in parts] == wanted
        some = sorted(data.draw(st.sets(st.integers(0, ITEMS - 1), min_size=1)))
        assert windows.where(items=[names[code] for code in some])[:].item_code.tolist() == some
    cache.remove("names")


@pytest.mark.parametrize("index", [slice(0, 2), 1.0, None])
def test_an_index_that_is_no_integer_is_a_type_error(
    etth1: tensorcache.Dataset, index: Any
) -> None:
    parts = etth1.windows(context_length=24, prediction_length=6).split(fractions=(0.8, 0.2))
    with pytest.raises(TypeError, match="integer"):
        parts[index]
    assert parts[-1] is parts[1]
