"""How often statements, passages and sessions hold the stems of a question, as arrays.

* ``StatementStems``: the stems of statements that were read, each as a number.
* ``StemCounts``: a row of counts for each unit of text, found by the unit's key.
* ``PostingCounts``: the counts that postings and mentions give before any statement is read, and
  the first score, by which candidates are chosen.
* Rarity and saturation as in BM25; products of small matrices in one thread.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recallm.model import POSITION_BITS, CorpusSize, Postings, Sizes

Floats = NDArray[np.float64]
Keys = NDArray[np.int64]

_FREQUENCY_SATURATION = 1.2
_LENGTH_NORMALISATION = 0.75

NEAR_PASSAGES = 3
"""How many passages before and after are near: what answers a question in a conversation often
stands a few turns away from its words."""

_OWN_WEIGHT, _NEAR_WEIGHT, _SESSION_WEIGHT = 3.0, 0.5, 2.0
"""What a statement's own stems, those of the passages near it and those of its session count in its
first score. The session that the question is about holds answers that share no stem with it."""


# Rarity, saturation.


def rarity(documents: Floats, total: int) -> Floats:
    """BM25's inverse document frequency of each stem that ``documents`` of ``total`` statements
    hold; positive for every frequency."""
    rest = np.maximum(total - documents, 0.0)
    weights: Floats = np.log1p((rest + 0.5) / (documents + 0.5))
    return weights


def rarity_of(documents: int, total: int) -> float:
    """``rarity`` of one stem."""
    return math.log1p((max(total - documents, 0) + 0.5) / (documents + 0.5))


def as_shares(weights: Floats) -> Floats:
    """``weights`` as shares of their sum; zeros stay zeros."""
    total = float(weights.sum())
    return weights / total if total else weights


def saturated(counts: Floats, lengths: Floats | Keys, average: float) -> Floats:
    """BM25's weight of each frequency in a unit of this length, as a share of the greatest."""
    norm = 1 - _LENGTH_NORMALISATION + _LENGTH_NORMALISATION * lengths / max(average, 1.0)
    weights: Floats = counts / (counts + _FREQUENCY_SATURATION * norm[:, None])
    return weights


def session_rarity(counts: Floats, corpus: CorpusSize) -> Floats:
    """``rarity`` of each stem over sessions. ``counts[s, j]``: how often session s holds it."""
    return rarity((counts > 0).sum(axis=0).astype(np.float64), corpus.sessions)


def session_scores(names: Sequence[str], counts: Floats, weights: Floats, sizes: Sizes) -> Floats:
    """BM25 of each session as a document, with a weight for each stem."""
    known = sizes.sessions
    lengths = [known[name].terms if name in known else 0 for name in names]
    average = sizes.corpus.terms / max(sizes.corpus.sessions, 1)
    return weighted_sums(saturated(counts, np.array(lengths, dtype=np.int64), average), weights)


# Arrays.


def t_indexes_of(keys: Keys) -> Keys:
    """The temporal index in each of these keys of statements."""
    return keys >> POSITION_BITS


_ONE_THREAD = 1 << 18
"""Products with at most this many multiplications run on one thread in every BLAS library."""

_TILE_STEP = 8
"""The sides of tiles are multiples of 8 if possible."""


def weighted_sums(rows: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """``rows @ weights`` in one thread: shapes (n, d) and (d,), the result (n,)."""
    return np.asarray(np.einsum("ij,j->i", rows, weights))


def matrix_product(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """``rows @ columns.T`` in one thread: shapes (n, d) and (m, d), the result (n, m).

    A BLAS library shares a product that it takes for large among all cores, whose threads then wait
    busily for the next one: a recall would cost the machine twice its time. Tiles stay small.
    """
    if not (rows.size and columns.size):
        return np.zeros((len(rows), len(columns)), dtype=rows.dtype)
    side = max(1, math.isqrt(_ONE_THREAD // rows.shape[1]))
    side -= side % _TILE_STEP if side > _TILE_STEP else 0
    left, right = _tiles(rows, side), _tiles(columns, side)
    found = np.empty((len(left), left.shape[1], len(right), right.shape[1]), dtype=rows.dtype)
    np.matmul(left[:, None], right.transpose(0, 2, 1)[None], out=found.transpose(0, 2, 1, 3))
    product = found.reshape(left.shape[0] * left.shape[1], -1)
    return np.asarray(product[: len(rows), : len(columns)])


def _tiles(rows: NDArray[Any], side: int) -> NDArray[Any]:
    """Shape (tiles, side, d), the last tile filled up with zeros."""
    side = min(side, len(rows))
    missing = np.zeros((-len(rows) % side, rows.shape[1]), dtype=rows.dtype)
    filled = np.concatenate([rows, missing]) if len(missing) else rows
    return filled.reshape(-1, side, rows.shape[1])


# Counts.


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementStems:
    """The stems of some statements, in order: ``stem_ids`` holds those of one statement after those
    of another, each as its place, which ``vocabulary`` has by stem, in order; statement i has
    ``lengths[i]`` of them."""

    vocabulary: Mapping[str, int]
    stem_ids: Keys
    lengths: Keys

    @classmethod
    def of(cls, statements: Sequence[Sequence[str]]) -> StatementStems:
        """The stems of each statement, given in its order."""
        lengths = np.fromiter(map(len, statements), np.int64, len(statements))
        places: defaultdict[str, int] = defaultdict(count().__next__)
        found = map(places.__getitem__, chain.from_iterable(statements))
        stem_ids = np.fromiter(found, np.int64, int(lengths.sum()))
        return cls(vocabulary=dict(places), stem_ids=stem_ids, lengths=lengths)

    def first(self, number: int) -> StatementStems:
        """The first ``number`` statements."""
        lengths = self.lengths[:number]
        return StatementStems(
            vocabulary=self.vocabulary, stem_ids=self.stem_ids[: lengths.sum()], lengths=lengths
        )

    @property
    def rows(self) -> Keys:
        """For each of ``stem_ids`` the place of its statement."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def counts(self, terms: Sequence[str]) -> Floats:
        """How often each statement holds each of ``terms``: shape (statements, terms)."""
        of_stem = np.full(len(self.vocabulary) + 1, -1, dtype=np.int64)
        of_stem[[self.vocabulary.get(term, -1) for term in terms]] = np.arange(len(terms))
        of_stem[-1] = -1  # that of a term that no statement holds
        found = of_stem[self.stem_ids]
        known = found >= 0
        cells = self.rows[known] * len(terms) + found[known]
        counts = np.bincount(cells, minlength=len(self.lengths) * len(terms))
        return counts.astype(np.float64).reshape(len(self.lengths), len(terms))

    def sums(self, values: NDArray[Any], weights: Floats | None = None) -> NDArray[Any]:
        """For each statement the sum of the rows of ``values`` (one for each of ``vocabulary``);
        ``weights``: one for each of ``stem_ids``."""
        found = values.take(self.stem_ids, axis=0)
        return self._reduced(np.add, found if weights is None else found * weights[:, None])

    def maxima(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each statement the greatest value in each column of these rows; zeros where it has
        no stems."""
        return self._reduced(np.maximum, values.take(self.stem_ids, axis=0))

    def _reduced(self, reduce: np.ufunc, found: NDArray[Any]) -> NDArray[Any]:
        reduced = np.zeros((len(self.lengths), found.shape[1]), dtype=found.dtype)
        filled = self.lengths > 0
        starts = (np.cumsum(self.lengths) - self.lengths)[filled]
        if found.size:
            reduced[filled] = reduce.reduceat(found, starts)
        return reduced


@dataclass(frozen=True, slots=True, kw_only=True)
class StemCounts:
    """``counts[i, j]``: how often the unit ``units[i]`` (ascending) holds the question's stem j."""

    units: Keys
    counts: Floats

    @classmethod
    def summed(cls, units: Keys, counts: Floats) -> StemCounts:
        """From rows that may name a unit several times."""
        if (units[1:] <= units[:-1]).any():
            order = np.argsort(units, kind="stable")
            units, counts = units[order], counts[order]
            starts = np.flatnonzero(np.diff(units, prepend=units[:1] - 1))
            units, counts = units[starts], np.add.reduceat(counts, starts)
        return cls(units=units, counts=counts)

    def of(self, units: Keys) -> Floats:
        """The rows of ``units``; zeros for a unit that holds none of the stems."""
        if not len(self.units):
            return np.zeros((len(units), self.counts.shape[1]))
        places = np.minimum(np.searchsorted(self.units, units), len(self.units) - 1)
        found: Floats = self.counts[places] * (self.units[places] == units)[:, None]
        return found

    def around(self, units: Keys, first: int, last: int) -> Floats:
        """The sums over the units from ``first`` to ``last`` places away from each of ``units``.

        The keys of statements of different passages lie too far apart for it to cross into another
        passage.
        """
        steps = np.arange(first, last + 1)
        found = self.of((units[:, None] + steps).ravel())
        shape = len(units), len(steps), self.counts.shape[1]
        total: Floats = found.reshape(shape).sum(axis=1)
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class PostingCounts:
    """What postings and mentions say of the ``stems`` before any statement is read.

    ``counts[i, j]``: how often the statement ``keys[i]`` (ascending) holds the question's stem j;
    ``documents[j]``: how many statements hold that stem. ``concept_rarity[i]``: the rarities of
    the question's concepts that the statement mentions, summed. ``is_content[j]`` is 0 where the
    stem is a part of a speaker's name, else 1. ``sessions[i]`` is the statement's session: its
    place among the keys ``session_keys``; -1 where it has none. ``session_counts[s, j]``: how often
    the statements of session s hold stem j.
    """

    stems: tuple[str, ...]
    keys: Keys
    sessions: Keys
    session_keys: tuple[str, ...]
    counts: Floats
    documents: Floats
    concept_rarity: Floats
    is_content: Floats
    session_counts: Floats

    @classmethod
    def read(
        cls,
        stems: tuple[str, ...],
        postings: Mapping[str, Postings],
        mentions: Mapping[str, Postings],
        *,
        speaker_stems: set[str],
    ) -> PostingCounts:
        """From the postings of ``stems`` and the mentions of the question's concepts."""
        posted = {column: postings[stem] for column, stem in enumerate(stems) if stem in postings}
        found = [*posted.values(), *mentions.values()]
        keys = np.concatenate([np.zeros(0, dtype=np.int64), *(each.keys for each in found)])
        keys.sort(kind="stable")  # merges the lists, which are in order
        keys = keys[np.diff(keys, prepend=-1) > 0]  # each key once
        places = [np.searchsorted(keys, each.keys) for each in found]
        counts = np.zeros((len(keys), len(stems)))
        documents = np.zeros(len(stems))
        concept_rarity = np.zeros(len(keys))
        numbers = np.zeros(len(keys), dtype=np.int64)
        for each, at in zip(found, places, strict=True):
            numbers[at] = each.sessions
        for (column, holding), at in zip(posted.items(), places, strict=False):
            counts[at, column] = holding.counts
            documents[column] = holding.statements
        for mentioned, at in zip(mentions.values(), places[len(posted) :], strict=True):
            concept_rarity[at] += 1.0 / np.log2(2 + mentioned.statements)
        names: dict[int, str] = {}
        for each in found:
            names.update(each.session_keys)
        known = np.flatnonzero(numbers)
        sessions = np.full(len(keys), -1, dtype=np.int64)
        named, sessions[known] = np.unique(numbers[known], return_inverse=True)
        return cls(
            stems=stems,
            keys=keys,
            sessions=sessions,
            session_keys=tuple(names[number] for number in named.tolist()),
            counts=counts,
            documents=documents,
            concept_rarity=concept_rarity,
            is_content=np.array([float(stem not in speaker_stems) for stem in stems]),
            session_counts=_summed_by(sessions[known], counts[known], len(named)),
        )

    def with_rarer(self, exact: Collection[str], total: int) -> PostingCounts:
        """With twice the ``rarity`` for those stems that are ``exact``, out of ``total``
        statements: who asks for "E-1042" wants no statement that shares only the other words."""
        places = [place for place, stem in enumerate(self.stems) if stem in exact]
        if not places:
            return self
        documents = self.documents.copy()
        # Rarity is the logarithm of (total + 1) / (documents + ½); twice that is the square's.
        documents[places] = (documents[places] + 0.5) ** 2 / (total + 1) - 0.5
        return replace(self, documents=documents)

    def best(self, number: int, sizes: Sizes) -> list[int]:
        """The keys of the best statements by a first score: rare stems in the statement, in the
        passages at most 3 updates away (its own among them) and in its session, and its concepts;
        the newest of equals first."""
        weights = rarity(self.documents, sizes.corpus.statements) * self.is_content
        own = weighted_sums(self.counts / (self.counts + 1.0), weights)
        passages = StemCounts.summed(t_indexes_of(self.keys), self.counts)
        near = _summed_near(passages.units, weighted_sums(passages.counts > 0, weights))
        near = near[np.searchsorted(passages.units, t_indexes_of(self.keys))]
        of_sessions = session_scores(
            self.session_keys,
            self.session_counts,
            session_rarity(self.session_counts, sizes.corpus) * self.is_content,
            sizes,
        )
        session = np.append(of_sessions, 0.0)[self.sessions]  # the last is that of no session
        score = _OWN_WEIGHT * own + _NEAR_WEIGHT * near + _SESSION_WEIGHT * session
        score += self.concept_rarity
        good = np.arange(len(score))
        if len(score) > number:
            good = np.flatnonzero(score >= np.partition(score, -number)[-number])
        order = np.lexsort((-self.keys[good], -score[good]))[:number]
        found: list[int] = self.keys[good[order]].tolist()
        return found

    def over_statements(self, columns: list[int], read: Keys, counts: Floats) -> StemCounts:
        """The counts of ``columns`` by statement key. For the statements ``read``, ``counts`` holds
        those of their rows: postings are bounded and may miss some."""
        unread = np.ones(len(self.keys), dtype=bool)
        if len(self.keys):
            places = np.minimum(np.searchsorted(self.keys, read), len(self.keys) - 1)
            unread[places[self.keys[places] == read]] = False
        return StemCounts.summed(
            np.concatenate([read, self.keys[unread]]),
            np.vstack([counts, self.counts[unread][:, columns]]),
        )

    def over_sessions(self, columns: list[int]) -> dict[str, Floats]:
        """How often each session holds the stems of ``columns``, where it holds any."""
        counts = self.session_counts[:, columns]
        places = np.flatnonzero(counts.any(axis=1)).tolist()
        return {self.session_keys[place]: counts[place] for place in places}


def _summed_near(units: Keys, values: Floats) -> Floats:
    """For each of ``units`` (ascending) the sum of the values of those at most ``NEAR_PASSAGES``
    away, its own among them."""
    total = values.copy()
    for step in range(1, NEAR_PASSAGES + 1):
        is_near = units[step:] - units[:-step] <= NEAR_PASSAGES
        total[step:] += is_near * values[:-step]
        total[:-step] += is_near * values[step:]
    return total


def _summed_by(sessions: Keys, counts: Floats, number: int) -> Floats:
    """The sums of the rows of each session."""
    total = np.zeros((number, counts.shape[1]))
    rows, columns = np.nonzero(counts)
    np.add.at(total, (sessions[rows], columns), counts[rows, columns])
    return total
