"""Stems in arrays count what the statements hold, and products in tiles are products."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallm.ranking.stem_counts import StatementStems, matrix_product, weighted_sums

RANDOM = np.random.default_rng(3)
STEMS = ("ingrid", "live", "porto", "opera")

some_statements = st.lists(st.lists(st.sampled_from(STEMS), max_size=6), max_size=7)


@given(statements=some_statements, terms=st.lists(st.sampled_from((*STEMS, "never")), unique=True))
def test_each_term_is_counted_in_each_statement(
    statements: Sequence[Sequence[str]], terms: Sequence[str]
) -> None:
    counts = StatementStems.of(statements).counts(terms)
    assert counts.shape == (len(statements), len(terms))
    assert counts.tolist() == [[stems.count(term) for term in terms] for stems in statements]


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


@given(statements=some_statements, number=st.integers(0, 8))
def test_the_first_statements_count_as_they_did(
    statements: Sequence[Sequence[str]], number: int
) -> None:
    read = StatementStems.of(statements)
    first = read.first(number)
    assert first.counts(STEMS).tolist() == read.counts(STEMS)[:number].tolist()
    assert first.rows.tolist() == read.rows[: len(first.stem_ids)].tolist()


@pytest.mark.parametrize("dimension", [1, 64, 384, 5_000, 300_000])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 130), (130, 3), (24, 48), (65, 25)])
def test_a_product_in_tiles_of_any_size_is_the_product(
    rows: int, columns: int, dimension: int
) -> None:
    if dimension > 10_000:
        rows, columns = min(rows, 3), min(columns, 4)
    left, right = (RANDOM.normal(size=(n, dimension)) for n in (rows, columns))
    assert matrix_product(left, right) == pytest.approx(left @ right.T, rel=1e-9, abs=1e-9)
    assert matrix_product(left, left) == pytest.approx(left @ left.T, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_products_of_empty_matrices_are_zeros(shape: tuple[int, int]) -> None:
    other = np.ones((3, shape[1]))
    assert matrix_product(np.ones(shape), other).shape == (shape[0], 3)
    assert not matrix_product(other, np.ones(shape)).any()
    assert weighted_sums(np.ones(shape), np.ones(shape[1])).tolist() == [0.0] * shape[0]


def test_products_keep_the_type_of_the_numbers() -> None:
    rows = np.ones((70, 9), dtype=np.float32)
    assert matrix_product(rows, rows).dtype == weighted_sums(rows, rows[0]).dtype == np.float32
