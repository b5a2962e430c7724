"""Which statements may answer a question: gathered from the graph, cut to a few hundred.

The postings of the question's stems and the mentions of its concepts are read bounded, scored
cheaply in arrays, and only the best are fetched as rows, with what was said just before and after
the best of them. Neighbours by relations bring their newest statements, a summary in force is one
more statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

import numpy as np

from recallm.config import RecallConfig
from recallm.model import (
    NO_POSITION,
    ConceptMention,
    ConceptRow,
    CorpusSize,
    Filter,
    Mentions,
    Postings,
    Question,
    SessionSize,
    StoredStatement,
    Summary,
    empty_mapping,
    statement_key,
)
from recallm.retrieval.activation import Activation, activate
from recallm.retrieval.conditions import meets
from recallm.retrieval.dates import AskedDate, asked_dates
from recallm.retrieval.frequencies import Floats, Keys, StemCounts, count_stems, rarity
from recallm.retrieval.similarity import AskedVector
from recallm.stores.base import GraphReader

__all__ = ["Candidates", "gather"]

FETCHED = 192
"""Statements fetched by the first score, or twice what is wanted where that is more."""

EXPANDED = 64
"""Of these, so many bring what was said just before and after them."""

RELATIONS = 32
"""Relations looked at of each essential concept."""

NEIGHBOURS = 6
"""Neighbours that bring statements: those of greatest activation."""

NEIGHBOUR_STATEMENTS = 16
"""Newest statements that a neighbour brings."""

SIMILAR = 64
"""Statements that the question's vector brings."""

_BITS = NO_POSITION.bit_length()

_OF_THE_PRESENT = frozenset({"now", "current", "nowadai", "still", "anymor", "todai", "moment"})
"""Stems that ask for the present (recency answers them); no statement is better for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All that the ranking needs to know; it never sees a store.

    ``statements`` are the candidates, ascending by key, summaries last. ``context`` holds all
    that was read, by key: what was said around the candidates too. ``terms`` are the question's
    stems without the names of speakers; ``documents`` says how many statements hold each of them,
    ``passages`` (by t_index) and ``sessions`` (by session key) how often each holds them.
    ``dates`` are those that the question names. ``asked`` is the question under the embedding
    model, ``vectors`` those of what was read, by key.
    ``speakers`` are the concepts of the speakers whom the question names; ``mentioned`` says how
    many statements mention each essential concept. ``summaries`` go by the passage id under which
    they stand among the statements.
    """

    question: Question
    statements: tuple[StoredStatement, ...]
    context: Mapping[int, StoredStatement]
    terms: tuple[str, ...]
    documents: Floats
    hits: StemCounts
    sessions: Mapping[str, Floats]
    session_sizes: Mapping[str, SessionSize]
    corpus: CorpusSize
    speakers: frozenset[str]
    essential: Mapping[str, ConceptRow]
    mentioned: Mapping[str, int]
    activation: Mapping[str, Activation]
    summaries: Mapping[str, Summary]
    dates: tuple[AskedDate, ...]
    asked: AskedVector | None
    vectors: Mapping[int, bytes]

    def before(self, statement: StoredStatement) -> StoredStatement | None:
        """What was said just before ``statement`` in its session, where it was read."""
        return None if statement.previous is None else self.context.get(statement.previous)


def gather(
    reader: GraphReader,
    question: Question,
    *,
    config: RecallConfig,
    where: Filter,
    wanted: int,
    asked: AskedVector | None = None,
    now: datetime | None = None,
) -> Candidates | None:
    """The candidates for ``question``, among which ``wanted`` are to be found; None where nothing
    of the question is known."""
    names = tuple(concept.name for concept in question.concepts)
    stems = _content(question)
    limit = config.candidate_limit
    fetched = max(FETCHED, 2 * wanted)
    postings = reader.postings(stems, limit=limit, where=where)
    mentions = reader.mentions(names, limit=limit, where=where)
    essential = {row.name: row for row in reader.concepts(names)} if names else {}
    near_by = [key for key, _ in asked.nearest(SIMILAR)] if asked is not None else []
    if not postings and not mentions and not near_by:
        return None
    activation = _activation(reader, essential)
    near = sorted(activation.values(), key=lambda one: (-one.value, one.concept.name))[:NEIGHBOURS]
    neighbours = reader.mentions(
        [one.concept.name for one in near], limit=NEIGHBOUR_STATEMENTS, where=where
    )
    corpus = reader.corpus()
    voices = _voices(mentions, postings)
    spoken = {word for name in voices for word in name.split(" ")}
    hits = _Hits.read(stems, postings, mentions, apart=spoken)
    chosen = hits.best(fetched, corpus)
    summaries = [] if where else list(reader.summaries(essential).values())
    dated: dict[str, int] = {
        summary.concept: _newest_covered(summary, mentions.get(summary.concept))
        for summary in summaries
    }
    first = reader.statements(
        {
            *chosen,
            *near_by,
            *chain.from_iterable(found.keys for found in neighbours.values()),
            *dated.values(),
        }
    )
    context = {row.key: row for row in first}
    frontier = [context[key] for key in chosen[:EXPANDED] if key in context]
    while frontier:
        beside = {
            key
            for row in frontier
            for key in (row.previous, row.next)
            if key is not None and key not in context
        }
        frontier = reader.statements(beside)
        context.update((row.key, row) for row in frontier)
        if len(context) >= fetched:
            break
    rows = [context[key] for key in sorted(context)]
    speakers = _named_speakers(names, rows)
    apart = {word for name in speakers for word in name.split(" ")}
    terms = tuple(term for term in stems if term not in apart)
    columns = [place for place, term in enumerate(stems) if term not in apart]
    sessions = hits.sessions(columns)
    allowed = [row for row in rows if meets(row, where)] if where else rows
    revised = [
        _as_statement(summary, place, context.get(dated[summary.concept]), essential)
        for place, summary in enumerate(summaries)
    ]
    return Candidates(
        question=question,
        statements=(*allowed, *revised),
        context=context,
        terms=terms,
        documents=hits.documents[columns],
        hits=hits.over_statements(columns, [*rows, *revised], terms),
        sessions=sessions,
        session_sizes=reader.sessions(sessions),
        corpus=corpus,
        speakers=speakers,
        essential=essential,
        mentioned={name: found.statements for name, found in mentions.items()},
        activation=activation,
        summaries={_summary_id(summary): summary for summary in summaries},
        dates=asked_dates(question.text, now),
        asked=asked,
        vectors={} if asked is None else reader.vectors(context.keys(), model=asked.model),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hits:
    """What the postings and mentions say of the statements that they name, before any is read."""

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
    ) -> _Hits:
        read = [
            (place, np.array(postings[term].keys, dtype=np.int64), postings[term])
            for place, term in enumerate(terms)
            if term in postings
        ]
        said = [np.array(found.keys, dtype=np.int64) for found in mentions.values()]
        none: Keys = np.zeros(0, dtype=np.int64)
        keys: Keys = np.unique(np.concatenate([none, *(one for _, one, _ in read), *said]))
        counts = np.zeros((len(keys), len(terms)))
        documents = np.zeros(len(terms))
        sessions: dict[str, Floats] = {}
        for place, one, found in read:
            counts[np.searchsorted(keys, one), place] = found.counts
            documents[place] = found.documents
            for session, count in zip(found.sessions, found.counts, strict=True):
                if session is not None:
                    row = sessions.get(session)
                    if row is None:
                        row = sessions[session] = np.zeros(len(terms))
                    row[place] += count
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
        own = (self.counts / (self.counts + 1.0)) @ weights
        moments = self.keys >> _BITS
        passages = StemCounts.summed(moments, self.counts)
        held = (passages.counts > 0) @ weights
        together = StemCounts(units=passages.units, counts=held[:, None])
        score = (
            2.0 * own
            + together.of(moments)[:, 0]
            + 0.5 * together.of(moments - 1)[:, 0]
            + self.named
        )
        order = np.lexsort((-self.keys, -score))[:number]
        return [int(key) for key in self.keys[order]]

    def over_statements(
        self, columns: list[int], rows: list[StoredStatement], terms: tuple[str, ...]
    ) -> StemCounts:
        """By key. A row that was read says all, bounded postings only what they hold."""
        read = np.array([row.key for row in rows], dtype=np.int64)
        unread = ~np.isin(self.keys, read)
        counts = count_stems(rows, {term: place for place, term in enumerate(terms)})
        return StemCounts.summed(
            np.concatenate([read, self.keys[unread]]),
            np.vstack([counts, self.counts[unread][:, columns]]),
        )

    def sessions(self, columns: list[int]) -> dict[str, Floats]:
        return {
            session: counts[columns]
            for session, counts in self.session_counts.items()
            if counts[columns].any()
        }


def _content(question: Question) -> tuple[str, ...]:
    if question.intent != "current":
        return question.terms
    return tuple(term for term in question.terms if term not in _OF_THE_PRESENT)


def _activation(reader: GraphReader, essential: Mapping[str, ConceptRow]) -> dict[str, Activation]:
    if not essential:
        return {}
    relations = reader.relations(essential, limit=RELATIONS)
    ends = {end for relation in relations for end in (relation.a, relation.b)}
    return activate(essential, relations, reader.concepts(ends - essential.keys()))


def _voices(mentions: Mapping[str, Mentions], postings: Mapping[str, Postings]) -> list[str]:
    """The concepts that more statements mention than could spell them: those of speakers."""
    return [
        name
        for name, found in mentions.items()
        if found.statements
        > sum(postings[word].documents for word in name.split(" ") if word in postings)
    ]


def _named_speakers(names: tuple[str, ...], rows: list[StoredStatement]) -> frozenset[str]:
    """Of the question's concepts, those that are a speaker's, or a part of a speaker's name."""
    spoken = {row.speaker_concept for row in rows if row.speaker_concept is not None}
    parts = {word for name in spoken for word in name.split(" ")}
    return frozenset(name for name in names if name in spoken or name in parts)


def _newest_covered(summary: Summary, found: Mentions | None) -> int:
    """The key of the newest statement that a summary covers; -1 where none was read."""
    end = statement_key(summary.t_index, NO_POSITION)
    return next((key for key in found.keys if key <= end), -1) if found else -1


def _summary_id(summary: Summary) -> str:
    return f"summary:{summary.concept}"


def _as_statement(
    summary: Summary,
    place: int,
    newest: StoredStatement | None,
    essential: Mapping[str, ConceptRow],
) -> StoredStatement:
    """A summary as one more statement, said when the newest statement that it covers was; its
    position is one that no statement has, ``place`` keeps apart those of the same t."""
    row = essential[summary.concept]
    return StoredStatement(
        key=statement_key(summary.t_index, NO_POSITION - place),
        passage_id=_summary_id(summary),
        text=summary.text,
        timestamp=newest.timestamp if newest is not None else None,
        speaker=None,
        speaker_concept=None,
        source=None,
        session=None,
        session_key=None,
        metadata=empty_mapping(),
        terms=summary.terms,
        concepts=(ConceptMention(name=row.name, label=row.label, kind=row.kind),),
        traits=summary.traits,
        previous=None,
        next=None,
    )
