"""Text files in other encodings than UTF-8, compared with Python's codecs and pandas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tensorcache

WORDS = {
    "cp1250": ["Łódź", "žluťoučký", "kůň"],
    "cp1251": ["привет", "мир"],
    "cp1252": ["Zürich", "naïve", "5 €", "œuvre"],
    "cp1253": ["αβγ"],
    "cp437": ["Zürich", "½"],
    "cp850": ["Zürich", "São"],
    "cp932": ["漢字", "カタカナ"],
    "cp949": ["한국어"],
    "big5": ["漢字"],
    "euc_jp": ["漢字"],
    "euc_kr": ["한국어"],
    "gb18030": ["汉字", "€"],
    "gb2312": ["汉字"],
    "gbk": ["汉字"],
    "iso8859-15": ["Zürich", "5 €"],
    "iso8859_2": ["Łódź"],
    "koi8_r": ["привет"],
    "latin-1": ["Zürich"],
    "latin1": ["Zürich"],
    "mac_roman": ["Zürich"],
    "shift_jis": ["漢字"],
    "utf-16": ["Zürich", "漢字", "𝄞"],
    "utf-16-le": ["Zürich", "漢字"],
    "utf_16_be": ["Zürich", "漢字"],
    "utf-8": ["Zürich"],
    "utf-8-sig": ["Zürich"],
    "windows-1252": ["Zürich"],
}


@pytest.mark.parametrize("encoding", WORDS)
def test_words_are_those_of_pandas(cache: tensorcache.Cache, tmp_path: Path, encoding: str) -> None:
    generator = np.random.default_rng(40)
    words = generator.choice([*WORDS[encoding], "plain"], 50)
    frame = pd.DataFrame({"y": np.arange(50) / 4, "word": words})
    path = tmp_path / "x.csv"
    frame.to_csv(path, index=False, encoding=encoding)
    data = cache.load("e", path, encoding=encoding)
    want = pd.read_csv(path, encoding=encoding)
    assert [data.vocab("word")[code] for code in data["word"]] == list(want["word"])
    np.testing.assert_array_equal(data["y"], want["y"])


def test_an_encoding_that_is_found_is_noted_with_the_call_that_keeps_it(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    for encoding, text in {"cp1252": "Zürich,1", "utf-16": "漢字,1"}.items():
        path.write_text(f"word,y\n{text}\n", encoding=encoding)
        with pytest.warns(tensorcache.LoadWarning, match=f'load with encoding="{encoding}"'):
            data = cache.load("e", path, columns=["word", "y"])
        kept = cache.load("e", path, columns=["word", "y"], encoding=encoding)
        assert list(data.vocab("word")) == list(kept.vocab("word")) == text.split(",")[:1]


def test_encodings_that_do_not_fit_are_refused(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"word,y\n{WORDS['cp1251'][0]},1\n", encoding="cp1251")
    with pytest.raises(tensorcache.SourceError, match=r"is not UTF-8\nhint: .*say with encoding="):
        cache.load("e", path)
    path.write_bytes(b"word,y\n\x81,1\n")
    with pytest.raises(tensorcache.SourceError, match=r"line 2: .*no character in cp1252"):
        cache.load("e", path, encoding="cp1252")
    with pytest.raises(tensorcache.SpecError, match='encoding: "utf-9": want the name of an enc'):
        cache.load("e", path, encoding="utf-9")
    with pytest.raises(tensorcache.SpecError, match="encoding: got 1, want text"):
        cache.load("e", path, encoding=1)  # type: ignore[arg-type]
