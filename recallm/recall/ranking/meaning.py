"""Signals of the text: words that a question and a statement share, words that mean alike, and the
embeddings of statements.

Of shared words rare stems weigh more, as in BM25: shares of the best possible, 1 with all the stems
of the question. They are counted near a candidate and in its session; related words in the
statement itself.

A small table of word vectors ships with the package, so that "live" meets "home" without a model
or a download: ``training/words`` distilled it from all-MiniLM-L6-v2. Where the memory has no
embeddings, the mean of a statement's word vectors stands for its embedding.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recallm.model import POSITION_BITS, Trait
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.stem_counts import (
    NEAR_PASSAGES,
    Floats,
    Keys,
    StatementStems,
    as_shares,
    matrix_product,
    rarity,
    session_rarity,
    session_scores,
    t_indexes_of,
    weighted_sums,
)
from recallm.vectors import decode

DATA = Path(__file__).parent / "data" / "words.npz"

_UNRELATED_COSINE = 0.4
"""Cosines up to this one count as no relatedness."""
_GREATEST_RELATEDNESS = 0.9
"""A related word never counts as much as the word itself."""
_LOOKED_UP = 0.2
"""Words less related than this are not looked up for one another."""
_TABLE_STEP = 64
"""``_Table.tiled`` has a multiple of 64 rows."""
_MOST_LOOKED_UP = 12
"""At most 12 words are looked up for one."""

_LEAST_LENGTH = 1e-4
"""A shorter vector has no direction: differences of equal embeddings are rounding errors."""

_LEAST_SPREAD = 0.03
"""Added to the deviation of word cosines: among few statements chance differences stay small."""

_FEWEST_FACTS = 5
"""The mean of fewer facts about the same names says little of what they share."""

_REACH = 3
"""How many statements before and after count as near in a passage."""

_NOWHERE = -(_REACH + 1)
"""A key that is out of reach of every statement's key."""


# Words.


class _Table(NamedTuple):
    """``tiled`` are the ``vectors`` and, behind them, the rows of zeros that fill the last tile of
    ``matrix_product``; the last row is that of a stem without a vector."""

    stems: list[str]
    places: dict[str, int]
    vectors: NDArray[np.float32]
    tiled: NDArray[np.float32]


def relatedness(
    stems: Collection[str], asked: Collection[str], vectors: NDArray[np.float32] | None = None
) -> Floats:
    """The relatedness of each of ``stems`` with each of ``asked``: 1 for the stem itself, 0 if the
    two are unrelated or not in the table. Shape (stems, asked). ``vectors`` are the word
    vectors of ``stems``, if they are known."""
    found = np.zeros((len(stems), len(asked)))
    if not found.size:
        return found
    cosines = matrix_product(
        word_vectors(stems) if vectors is None else vectors, word_vectors(asked)
    )
    found += _from_cosines(np.clip(cosines, _UNRELATED_COSINE, 1.0))
    places = {stem: place for place, stem in enumerate(stems)}
    for column, stem in enumerate(asked):
        if stem in places:
            found[places[stem], column] = 1.0
    return found


def _from_cosines(cosines: NDArray[Any]) -> NDArray[Any]:
    return _GREATEST_RELATEDNESS * ((cosines - _UNRELATED_COSINE) / (1 - _UNRELATED_COSINE))


def related_stems(stem: str, count: int = _MOST_LOOKED_UP) -> tuple[tuple[str, float], ...]:
    """The ``count`` other stems that are most related to ``stem``, each with its relatedness; none
    where ``stem`` is not in the table or hardly related to any."""
    return _most_related(stem)[:count]


@lru_cache(maxsize=4096)
def _most_related(stem: str) -> tuple[tuple[str, float], ...]:
    table = _table()
    place = table.places.get(stem)
    if place is None:
        return ()
    cosines = matrix_product(table.tiled, table.vectors[place : place + 1])[:, 0]
    cosines[place] = 0.0
    near = np.flatnonzero(cosines > _UNRELATED_COSINE)
    shares = _from_cosines(cosines[near]).tolist()
    found = [
        (table.stems[other], share)
        for other, share in zip(near.tolist(), shares, strict=True)
        if share >= _LOOKED_UP
    ]
    return tuple(sorted(found, key=lambda each: (-each[1], each[0]))[:_MOST_LOOKED_UP])


def word_vectors(stems: Collection[str]) -> NDArray[np.float32]:
    """The vector of each stem, a row each; zeros for a stem that is not in the table."""
    table = _table()
    places = np.fromiter(map(table.places.get, stems, repeat(-1)), np.int64, len(stems))
    return table.tiled.take(places, axis=0, mode="wrap")


def mean_vectors(
    statements: StatementStems, vectors: NDArray[np.float32], weights: Floats | None = None
) -> NDArray[Any]:
    """The mean of the word vectors of each statement, of length 1; zeros where it has none.
    ``vectors`` are those of the vocabulary; ``weights``: one for each of ``stem_ids``."""
    found = statements.sums(vectors, weights)
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
    return found


@cache
def _table() -> _Table:
    with np.load(DATA, allow_pickle=False) as read:
        stems = read["stems"].tobytes().decode().split("\n")
        vectors = read["vectors"].astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    tiled = np.pad(vectors, ((0, _TABLE_STEP - len(vectors) % _TABLE_STEP), (0, 0)))
    places = {stem: place for place, stem in enumerate(stems)}
    return _Table(stems, places, tiled[: len(stems)], tiled)


# Shared words.


def overlap_signals(candidates: Candidates) -> dict[str, Floats]:
    """The signals ``passage``, ``answer`` and ``session``."""
    weights = as_shares(rarity(candidates.documents, candidates.corpus.statements))
    passage_before, follows_question = _passages_before(candidates)
    counts = candidates.stem_counts
    before = counts.around(passage_before, -_REACH, 0)
    near = counts.around(candidates.keys, -_REACH, _REACH)
    return {
        "passage": weighted_sums((near + before) > 0, weights),
        "answer": follows_question * weighted_sums(before > 0, weights),
        "session": _session_overlap(candidates),
    }


def _passages_before(candidates: Candidates) -> tuple[Keys, Floats]:
    """For each candidate the key of the last statement of the passage before its own, and whether
    a question stands in that passage. Statements further than ``2 * _REACH`` from
    the start of their passage have none: the statements before them are of their own passage."""
    last_before: dict[int, int] = {}
    asking: set[int] = set()
    for key, row in candidates.context.items():
        previous = row.previous
        if previous is not None and previous >> POSITION_BITS != key >> POSITION_BITS:
            last_before[key >> POSITION_BITS] = previous
        if Trait.QUESTION in row.traits:
            asking.add(key >> POSITION_BITS)
    keys = np.full(len(candidates.statements), _NOWHERE, dtype=np.int64)
    follows_question = np.zeros(len(keys))
    near = candidates.keys & ((1 << POSITION_BITS) - 1) <= 2 * _REACH
    for place in np.flatnonzero(near).tolist() if last_before else ():
        last = last_before.get(candidates.statements[place].key >> POSITION_BITS)
        if last is not None:
            keys[place] = last
            follows_question[place] = last >> POSITION_BITS in asking
    return keys, follows_question


def _session_overlap(candidates: Candidates) -> Floats:
    """BM25 of sessions as documents, rarity counted over sessions, as a share of the best."""
    names = [*candidates.session_counts]
    if not names:
        return np.zeros(len(candidates.statements))
    counts = np.vstack([*candidates.session_counts.values()])
    weights = as_shares(session_rarity(counts, candidates.corpus))
    matched = session_scores(names, counts, weights, candidates.leads.sizes)
    shares = matched / (matched.max() or 1.0)
    scores = dict(zip(names, shares.tolist(), strict=True))
    return np.array([scores.get(each.session_key or "", 0.0) for each in candidates.statements])


# Related words and embeddings.


def meaning_signals(candidates: Candidates) -> tuple[dict[str, Floats], NDArray[Any]]:
    """The signals ``meaning``, ``similar``, ``similar window`` and ``similar alone``, and the unit
    vectors by which candidates are similar, a row each (zeros where one has none).

    ``meaning`` is the rarity-weighted share of the question's stems, each by the word of the
    statement that is most related to it. The others are cosines with the question's vector. Without
    embeddings a statement's vector is the mean of its word vectors, and there is no window.
    """
    number = len(candidates.statements)
    stems, terms = candidates.stems, candidates.terms
    rarities = rarity(candidates.documents, candidates.corpus.statements)
    of_words = word_vectors(stems.vocabulary)
    nearest = stems.maxima(relatedness(stems.vocabulary, terms, of_words))

    def by_words() -> tuple[NDArray[Any], Floats]:
        vectors = mean_vectors(stems, of_words)
        asked = mean_vectors(StatementStems.of([terms]), word_vectors(terms), rarities)[0]
        return vectors, np.maximum(weighted_sums(vectors, asked), 0.0)

    if candidates.question_vector is None:
        vectors, similar = by_words()
        window = np.zeros(number)
    else:
        vectors, similar, window, known = _embedding_cosines(candidates, candidates.question_vector)
        if not known.all():
            _, of_means = by_words()
            similar = _estimated(similar, known, of_means)
            window = _estimated(window, known, of_means)
    # Nothing is similar to an id: its share of the question's rarity counts where it is held.
    exact = as_shares(rarities) * [term in candidates.question.exact_terms for term in terms]
    similar = similar * (1.0 - exact.sum()) + weighted_sums(nearest, exact)
    meaning = weighted_sums(nearest, as_shares(rarities))
    return {
        "meaning": meaning,
        "meaning rank": _reciprocal_ranks(meaning),
        "similar": similar,
        "similar window": window,
        "similar alone": similar * candidates.alone,
        "near similar": _greatest_near(candidates.keys, similar),
    }, vectors


def similar_in_topic(
    candidates: Candidates, facts: NDArray[np.bool_], similar: Floats, vectors: NDArray[Any]
) -> Floats:
    """The signal ``similar`` for ``facts`` about the same names without what all of them share,
    mostly these names: cosines of the differences from their mean embedding. Few facts, or facts
    without embeddings, stay as they are. ``vectors`` are the rows of ``meaning_signals``."""
    asked = candidates.question_vector
    facts = facts & vectors.any(axis=1)
    if asked is None or facts.sum() < _FEWEST_FACTS:
        return similar
    mean = vectors[facts].mean(axis=0)
    found = similar.copy()
    found[facts] = _cosines(asked.astype(np.float32) - mean, vectors[facts] - mean)
    return found


def _reciprocal_ranks(values: Floats) -> Floats:
    """For each value 1 / (1 + the number of greater ones), 0 where it is 0."""
    greater = len(values) - np.searchsorted(np.sort(values), values, side="right")
    return np.where(values > 0, 1.0 / (1.0 + greater), 0.0)


def _greatest_near(keys: Keys, values: Floats) -> Floats:
    """For each statement the greatest value, at least 0, in its passage and in those at most
    ``NEAR_PASSAGES`` updates away."""
    passages, places = np.unique(t_indexes_of(keys), return_inverse=True)
    greatest = np.zeros(len(passages))
    np.maximum.at(greatest, places, values)
    near = greatest.copy()
    for step in range(1, NEAR_PASSAGES + 1):
        is_near = passages[step:] - passages[:-step] <= NEAR_PASSAGES
        near[step:] = np.maximum(near[step:], is_near * greatest[:-step])
        near[:-step] = np.maximum(near[:-step], is_near * greatest[step:])
    return near[places]


def _embedding_cosines(
    candidates: Candidates, question: Floats
) -> tuple[NDArray[np.float32], Floats, Floats, NDArray[np.bool_]]:
    """The embeddings of the candidates, their cosines with the question's, the cosines of the mean
    of each embedding and the one before, and which candidates have an embedding."""
    number = len(candidates.statements)
    asked = question.astype(np.float32)
    vectors, known = _embeddings(candidates, len(asked))
    before = candidates.previous_places[:number]
    own = vectors[:number]
    window = own + np.where((before < 0)[:, None], np.float32(0), vectors[before])
    return own, _cosines(asked, own), _cosines(asked, window), known[:number]


def _embeddings(
    candidates: Candidates, dimension: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The embeddings of ``candidates.read`` (zeros where missing), and which rows have one."""
    blobs = [candidates.vectors.get(statement.key) for statement in candidates.read]
    known = np.array([blob is not None for blob in blobs], dtype=bool)
    vectors = np.zeros((len(blobs), dimension), dtype=np.float32)
    vectors[known] = decode(b"".join(blob for blob in blobs if blob is not None)).reshape(
        -1, dimension
    )
    return vectors, known


def _cosines(asked: NDArray[np.float32], rows: NDArray[np.float32]) -> Floats:
    lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), _LEAST_LENGTH)
    asked = asked / max(float(np.linalg.norm(asked)), _LEAST_LENGTH)
    found: Floats = weighted_sums(rows, asked) / lengths
    return found.astype(np.float64)


def _estimated(cosines: Floats, known: NDArray[np.bool_], of_words: Floats) -> Floats:
    """The cosines with an estimate for what has no embedding, such as a fact: its place among the
    others by the mean of its word vectors (``of_words``), on the scale of the known cosines."""
    if not known.any():
        return of_words
    words = of_words[known]
    places = (of_words - words.mean()) / (words.std() + _LEAST_SPREAD)
    estimate = cosines[known].mean() + places * cosines[known].std()
    return np.where(known, cosines, np.clip(estimate, -1.0, 1.0))
