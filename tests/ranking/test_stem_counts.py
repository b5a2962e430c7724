"""Stems in arrays count what the statements hold, and products in tiles are products."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recallm.recall.ranking.stem_counts import StatementStems, matrix_product, weighted_sums

RANDOM = np.random.default_rng(3)
STEMS = ("ingrid", "live", "porto", "opera")

some_statements = st.lists(st.lists(st.sampled_from(STEMS), max_size=6), max_size=7)


@settings(max_examples=40)
@given(statements=some_statements, terms=st.lists(st.sampled_from((*STEMS, "never")), unique=True))
def test_each_term_is_counted_in_each_statement(
    statements: Sequence[Sequence[str]], terms: Sequence[str]
) -> None:
    counts = StatementStems.of(statements).counts(terms)
    assert counts.shape == (len(statements), len(terms))
    assert counts.tolist() == [[stems.count(term) for term in terms] for stems in statements]


@settings(max_examples=40)
@given(statements=some_statements)
def test_sums_and_maxima_go_over_the_stems_of_a_statement(
    statements: Sequence[Sequence[str]],
) -> None:
    read = StatementStems.of(statements)
    values = {stem: float(1 + STEMS.index(stem)) for stem in read.vocabulary}
    column = np.array(list(values.values()))[:, None]
    sums = [sum(values[stem] for stem in stems) for stems in statements]
    assert read.sums(column)[:, 0].tolist() == sums
    maxima = [max((values[stem] for stem in stems), default=0.0) for stems in statements]
    assert read.maxima(column)[:, 0].tolist() == maxima
    places = np.arange(len(read.stem_ids), dtype=np.float64)
    assert read.sums(np.ones_like(column), places).sum() == places.sum()


@settings(max_examples=40)
@given(statements=some_statements, number=st.integers(0, 8))
def test_the_first_statements_count_as_they_did(
    statements: Sequence[Sequence[str]], number: int
) -> None:
    read = StatementStems.of(statements)
    first = read.first(number)
    assert first.counts(STEMS).tolist() == read.counts(STEMS)[:number].tolist()
    assert first.rows.tolist() == read.rows[: len(first.stem_ids)].tolist()


def test_a_product_in_tiles_of_any_size_is_the_product() -> None:
    shapes = [
        (rows, columns, dimension)
        for rows, columns in ((1, 1), (3, 130), (130, 3), (24, 48), (65, 25))
        for dimension in (1, 64, 384, 5_000)
    ]
    for rows, columns, dimension in (*shapes, (3, 4, 300_000)):
        left, right = (RANDOM.normal(size=(n, dimension)) for n in (rows, columns))
        product = matrix_product(left, right)
        assert np.allclose(product, left @ right.T, rtol=1e-9, atol=1e-9), (rows, columns)
    for shape in ((0, 4), (4, 0), (0, 0)):
        other = np.ones((3, shape[1]))
        assert matrix_product(np.ones(shape), other).shape == (shape[0], 3)
        assert not matrix_product(other, np.ones(shape)).any()
        assert weighted_sums(np.ones(shape), np.ones(shape[1])).tolist() == [0.0] * shape[0]
    rows32 = np.ones((70, 9), dtype=np.float32)
    assert matrix_product(rows32, rows32).dtype == np.float32
    assert weighted_sums(rows32, rows32[0]).dtype == np.float32
