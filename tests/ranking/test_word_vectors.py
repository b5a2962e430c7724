"""Words that mean alike: the table that ships, and what is read out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallm.english.words import stem
from recallm.recall.ranking import meaning
from recallm.recall.ranking.meaning import (
    DATA,
    mean_vectors,
    related_stems,
    relatedness,
    word_vectors,
)
from recallm.recall.ranking.stem_counts import StatementStems
from training.words.__main__ import write_table

UNKNOWN = "qzxv"


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the table is read from, in place of the one that ships."""
    path = tmp_path / "words.npz"
    monkeypatch.setattr(meaning, "DATA", path)
    forget()
    yield path
    forget()


def gist_of(texts: Sequence[Sequence[str]], weights: Any = None) -> Any:
    """The mean vector of each text; ``weights``: one for each stem, the same in each text."""
    stems = StatementStems.of(texts)
    each = None if weights is None else np.concatenate([weights[: len(text)] for text in texts])
    return mean_vectors(stems, word_vectors(stems.vocabulary), each)


def forget() -> None:
    """Read the table again."""
    meaning._table.cache_clear()
    meaning._most_related.cache_clear()


def test_what_ships_is_small_and_needs_no_pickle() -> None:
    assert DATA.stat().st_size < 1_000_000
    with np.load(DATA, allow_pickle=False) as read:
        stems = read["stems"].tobytes().decode().split("\n")
        assert set(read.files) == {"stems", "vectors"}
        assert read["vectors"].dtype == np.int8
        assert len(read["vectors"]) == len(stems) > 10_000
    assert len(set(stems)) == len(stems)
    assert all(stems)


def test_vectors_are_of_unit_length_and_each_stem_is_one() -> None:
    """A word is looked up by the stem that extraction gives it."""
    read = meaning._table()
    assert np.linalg.norm(read.vectors, axis=1) == pytest.approx(
        np.ones(len(read.places)), abs=1e-5
    )
    for word in ("live", "resides", "apartments", "travelled", "happiness", "doctor", "coffee"):
        assert stem(word) in read.places, word


def test_words_that_mean_alike_and_words_that_do_not() -> None:
    alike = (
        "lives resides", "live home", "work job", "job employed", "eat food", "doctor physician",
        "dog pets", "drives car", "buy purchased", "film movies",
    )  # fmt: skip
    apart = (
        "live bicycle", "work banana", "eat engine", "doctor guitar", "dog mathematics", "car poem",
    )  # fmt: skip
    for pair in (*alike, *apart):
        one, other = map(stem, pair.split())
        share = relatedness([one], [other])[0, 0]
        assert 0.2 < share <= 0.9 if pair in alike else share < 0.05, pair


STEMS = st.one_of(
    st.sampled_from(sorted(meaning._table().places)), st.text("qzxv", min_size=5, max_size=8)
)


@settings(max_examples=40)
@given(st.lists(STEMS, unique=True, max_size=6), st.lists(STEMS, unique=True, max_size=6))
def test_a_stem_means_itself_and_no_more_than_in_part_another(
    stems: list[str], asked: list[str]
) -> None:
    """1 for itself, in the table or not; at most 0.9 for another; as much one way as the other."""
    found = relatedness(stems, asked)
    assert found.shape == (len(stems), len(asked))
    same = np.array([[one == other for other in asked] for one in stems], dtype=bool)
    same = same.reshape(found.shape)
    assert (found[same] == 1).all()
    assert ((found[~same] >= 0) & (found[~same] <= 0.9 + 1e-6)).all()
    assert found == pytest.approx(relatedness(asked, stems).T, abs=1e-6)


def test_what_the_table_does_not_hold_is_related_to_nothing() -> None:
    found = relatedness([UNKNOWN, "live", "resid"], ["live", UNKNOWN, UNKNOWN * 2])
    assert found[0].tolist() == [0, 1, 0]
    assert found[1].tolist() == [1, 0, 0]
    assert found[2, 0] > 0.2
    assert found[2, 1:].tolist() == [0, 0]


def test_the_nearest_stems_are_those_that_mean_most_alike() -> None:
    stems = list(meaning._table().places)
    for stem_ in ("live", "job", "music", "bicycl"):
        found = related_stems(stem_, 6)
        assert 0 < len(found) <= 6
        shares = relatedness(stems, [stem_])[:, 0]
        order = [stems[place] for place in np.argsort(-shares) if stems[place] != stem_]
        assert [one for one, _ in found] == order[: len(found)]
        expected = sorted(shares)[::-1][1 : len(found) + 1]
        assert [share for _, share in found] == pytest.approx(expected)
        assert min(share for _, share in found) >= 0.2
    assert related_stems(UNKNOWN, 6) == ()


def test_the_gist_of_a_text_is_the_direction_of_its_words() -> None:
    gists = gist_of([["live", "home"], ["home", "live", UNKNOWN], ["bicycl"], [UNKNOWN], []])
    lengths = np.linalg.norm(gists, axis=1)
    assert lengths == pytest.approx([1, 1, 1, 0, 0])
    assert gists[0] == pytest.approx(gists[1])
    assert gists[0] @ gist_of([["resid"]])[0] > gists[2] @ gist_of([["resid"]])[0]


def test_words_that_weigh_more_draw_the_gist_to_them() -> None:
    alone = gist_of([["bicycl"], ["live"]])
    drawn = gist_of([["bicycl", "live"]], np.array([3.0, 1.0]))[0]
    assert drawn @ alone[0] > drawn @ alone[1]
    only = gist_of([["bicycl", "live"]], np.array([0.0, 2.0]))[0]
    assert only == pytest.approx(alone[1])
    assert not gist_of([["bicycl", "live"]], np.zeros(2)).any()
    assert gist_of([]).shape == (0, meaning._table().vectors.shape[1])


def test_a_table_is_read_as_it_was_written(table: Path) -> None:
    """Each number moves by half of a 127th at most."""
    vectors = np.random.default_rng(7).normal(size=(3, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    write_table(table, ["kayak", "café", "x"], vectors)
    read = meaning._table()
    assert list(read.places.items()) == [("kayak", 0), ("café", 1), ("x", 2)]
    assert read.vectors == pytest.approx(vectors, abs=0.02)
    # What was read is a table too: written again it is the same.
    first = table.read_bytes()
    write_table(table, list(read.places), read.vectors)
    forget()
    again = meaning._table()
    assert again.vectors == pytest.approx(read.vectors, abs=0.01)
    write_table(table, ["kayak", "café", "x"], vectors)
    assert table.read_bytes() == first, "the same table has the same bytes"


def test_relatedness_goes_by_the_cosine_above_what_says_nothing(table: Path) -> None:
    angles = np.arccos([1.0, 0.8, 0.5, 0.3, -1.0])
    vectors = np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)
    write_table(table, ["kayak", "canoe", "boat", "river", "desert"], vectors)
    found = relatedness(["canoe", "boat", "river", "desert", "kayak"], ["kayak"])[:, 0]
    assert found == pytest.approx([0.6, 0.15, 0, 0, 1], abs=0.02)
