"""What postings and mentions say of the statements that they name, before any of these is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from recallm.model import NO_POSITION, CorpusSize, Mentions, Postings
from recallm.retrieval.frequencies import Floats, Keys, StemCounts, distinct, rarity
from recallm.retrieval.products import applied

__all__ = ["Hits"]

_POSITION_BITS = NO_POSITION.bit_length()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """``counts[i, j]`` says how often the statement ``keys[i]`` (ascending) holds the question's
    stem j, ``documents[j]`` how many statements do. ``named`` says how many of the question's
    concepts each statement mentions, by rarity. ``apart`` is 0 for stems of speakers' names, 1 for
    others. ``session_counts`` goes by session key."""

    keys: Keys
    counts: Floats
    documents: Floats
    named: Floats
    apart: Floats
    session_counts: Mapping[str, Floats]

    @classmethod
    def read(
        cls,
        terms: tuple[str, ...],
        postings: Mapping[str, Postings],
        mentions: Mapping[str, Mentions],
        *,
        apart: set[str],
    ) -> Hits:
        """What was found of ``terms`` and of the question's concepts."""
        read = [
            (place, np.array(postings[term].keys, dtype=np.int64), postings[term])
            for place, term in enumerate(terms)
            if term in postings
        ]
        said = [np.array(found.keys, dtype=np.int64) for found in mentions.values()]
        none: Keys = np.zeros(0, dtype=np.int64)
        keys = distinct(np.concatenate([none, *(one for _, one, _ in read), *said]))
        counts = np.zeros((len(keys), len(terms)))
        documents = np.zeros(len(terms))
        numbers = {
            session: number
            for number, session in enumerate(
                dict.fromkeys(chain.from_iterable(found.sessions for _, _, found in read))
            )
        }
        of_sessions = np.zeros((len(numbers), len(terms)))
        for place, one, found in read:
            held = np.array(found.counts, dtype=np.float64)
            counts[np.searchsorted(keys, one), place] = held
            documents[place] = found.documents
            said_in = np.fromiter(
                map(numbers.__getitem__, found.sessions), np.int64, len(found.sessions)
            )
            of_sessions[:, place] = np.bincount(said_in, held, len(numbers))
        sessions = {
            session: of_sessions[number]
            for session, number in numbers.items()
            if session is not None
        }
        named = np.zeros(len(keys))
        for one, mentioned in zip(said, mentions.values(), strict=True):
            named[np.searchsorted(keys, one)] += 1.0 / np.log2(2 + mentioned.statements)
        return cls(
            keys=keys,
            counts=counts,
            documents=documents,
            named=named,
            apart=np.array([0.0 if term in apart else 1.0 for term in terms]),
            session_counts=sessions,
        )

    def best(self, number: int, corpus: CorpusSize) -> list[int]:
        """The keys of the best statements by a first score: rare stems in the statement, in its
        passage and in the passage before; the newest of equals first."""
        weights = rarity(self.documents, corpus.statements) * self.apart
        own = applied(self.counts / (self.counts + 1.0), weights)
        moments = self.keys >> _POSITION_BITS
        passages = StemCounts.summed(moments, self.counts)
        held = applied(passages.counts > 0, weights)
        together = StemCounts(units=passages.units, counts=held[:, None])
        score = (
            2.0 * own
            + together.of(moments)[:, 0]
            + 0.5 * together.of(moments - 1)[:, 0]
            + self.named
        )
        order = np.lexsort((-self.keys, -score))[:number]
        return [int(key) for key in self.keys[order]]

    def over_statements(self, columns: list[int], read: Keys, counts: Floats) -> StemCounts:
        """By key. Statements that were ``read`` say themselves what they hold (``counts``), bounded
        postings only some of it."""
        unread = np.ones(len(self.keys), dtype=bool)
        if len(self.keys):
            places = np.minimum(np.searchsorted(self.keys, read), len(self.keys) - 1)
            unread[places[self.keys[places] == read]] = False
        return StemCounts.summed(
            np.concatenate([read, self.keys[unread]]),
            np.vstack([counts, self.counts[unread][:, columns]]),
        )

    def sessions(self, columns: list[int]) -> dict[str, Floats]:
        """How often each session holds the stems of these columns, where it holds any."""
        return {
            session: counts[columns]
            for session, counts in self.session_counts.items()
            if counts[columns].any()
        }
