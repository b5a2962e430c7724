"""Stems of many texts in arrays say what the texts say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recallm.retrieval.texts import Texts

STEMS = ("ingrid", "live", "porto", "opera")

some_texts = st.lists(st.lists(st.sampled_from(STEMS), max_size=6), max_size=7)


@given(said=some_texts, terms=st.lists(st.sampled_from((*STEMS, "never")), unique=True))
def test_each_term_is_counted_in_each_text(
    said: Sequence[Sequence[str]], terms: Sequence[str]
) -> None:
    counts = Texts.of(said).counts({term: place for place, term in enumerate(terms)})
    assert counts.shape == (len(said), len(terms))
    assert counts.tolist() == [[text.count(term) for term in terms] for text in said]


@given(said=some_texts)
def test_sums_and_greatest_go_over_the_stems_of_a_text(said: Sequence[Sequence[str]]) -> None:
    texts = Texts.of(said)
    values = {stem: float(1 + STEMS.index(stem)) for stem in texts.stems}
    column = np.array(list(values.values()))[:, None]
    assert texts.summed(column)[:, 0].tolist() == [sum(map(values.get, text)) for text in said]  # type: ignore[arg-type]
    greatest = [max((values[stem] for stem in text), default=0.0) for text in said]
    assert texts.greatest(column)[:, 0].tolist() == greatest
    places = np.arange(len(texts.held), dtype=np.float64)
    assert texts.summed(np.ones_like(column), places).sum() == places.sum()


@given(said=some_texts, number=st.integers(0, 8))
def test_the_first_texts_are_those_of_the_whole(said: Sequence[Sequence[str]], number: int) -> None:
    whole, first = Texts.of(said), Texts.of(said).first(number)
    terms = {stem: place for place, stem in enumerate(STEMS)}
    assert first.counts(terms).tolist() == whole.counts(terms)[:number].tolist()
    assert first.rows.tolist() == whole.rows[: len(first.held)].tolist()
