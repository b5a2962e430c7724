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
from operator import itemgetter

import numpy as np

from recallm.config import RecallConfig
from recallm.dating import AskedDate, asked_dates
from recallm.exact import content
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
from recallm.retrieval.frequencies import Floats, Keys, StemCounts
from recallm.retrieval.hits import Hits
from recallm.retrieval.kindred import kindred
from recallm.retrieval.similarity import AskedVector
from recallm.retrieval.texts import Texts
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

_OF_TIME = frozenset({
    "now", "current", "nowadai", "still", "anymor", "todai", "moment", "last", "latest", "first",
    "previou", "previous", "former", "formerli", "recent", "newest", "earlier", "earliest",
    "origin", "initi", "befor",
})  # fmt: skip
"""Stems that ask for a time by its order (the signals of recency answer them): no statement is
better for them, "last Friday" no later than others."""
_OF_NUMBER = frozenset({"time", "often"})
"""The same of "how many times" and "how often"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All that the ranking needs to know; it never sees a store.

    ``statements`` are the candidates, ascending by key, summaries last. ``context`` holds all
    that was read, by key: what was said around the candidates too. ``read`` are the candidates and
    then all others of the context; ``texts`` are their stems, ``befores`` the places among them of
    what was said just before each, -1 where it was not read. ``terms`` are the question's
    stems without the names of speakers; ``documents`` says how many statements hold each of them,
    ``hits`` (by key of a statement) and ``sessions`` (by session key) how often each holds them.
    ``dates`` are those that the question names. ``asked`` is the question under the embedding
    model, ``vectors`` those of what was read, by key.
    ``speakers`` are the concepts of the speakers whom the question names; ``mentioned`` says how
    many statements mention each essential concept. ``summaries`` go by the passage id under which
    they stand among the statements.
    """

    question: Question
    statements: tuple[StoredStatement, ...]
    context: Mapping[int, StoredStatement]
    read: tuple[StoredStatement, ...]
    texts: Texts
    befores: Keys
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
    postings = reader.postings((*stems, *question.tokens), limit=limit, where=where)
    tokens = tuple(token for token in question.tokens if token in postings)
    stems += tokens
    mentions = reader.mentions(names, limit=limit, where=where)
    essential = {row.name: row for row in reader.concepts(names)} if names else {}
    sizes = reader.sizes(
        {key for found in postings.values() for key in found.sessions if key is not None}
    )
    corpus = sizes.corpus
    if asked is None:
        near_by = kindred(reader, question, corpus, where=where)
    else:
        near_by = [key for key, _ in asked.nearest(SIMILAR)]
    if not postings and not mentions and not near_by:
        return None
    activation = _activation(reader, essential)
    near = sorted(activation.values(), key=lambda one: (-one.value, one.concept.name))[:NEIGHBOURS]
    neighbours = reader.mentions(
        [one.concept.name for one in near], limit=NEIGHBOUR_STATEMENTS, where=where
    )
    voices = _voices(mentions, postings)
    spoken = {word for name in voices for word in name.split(" ")}
    hits = Hits.read(stems, postings, mentions, apart=spoken)
    chosen = hits.best(fetched, corpus)
    summaries = [
        row.summary
        for _, row in sorted(essential.items(), key=itemgetter(0))
        if row.summary is not None and not where
    ]
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
    statements = (*allowed, *revised)
    others = [row for row in rows if not meets(row, where)] if where else []
    read = (*statements, *others)
    texts = Texts.of([row.terms if tokens else content(row.terms) for row in read])
    return Candidates(
        question=question,
        statements=statements,
        context=context,
        read=read,
        texts=texts,
        befores=_befores(read),
        terms=terms,
        documents=hits.documents[columns],
        hits=hits.over_statements(
            columns,
            np.array([row.key for row in read], dtype=np.int64),
            texts.counts({term: place for place, term in enumerate(terms)}),
        ),
        sessions=sessions,
        session_sizes=sizes.sessions,
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


def _befores(read: tuple[StoredStatement, ...]) -> Keys:
    places = {row.key: place for place, row in enumerate(read)}
    found = (-1 if row.previous is None else places.get(row.previous, -1) for row in read)
    return np.fromiter(found, np.int64, len(read))


def _content(question: Question) -> tuple[str, ...]:
    reading = question.time
    apart: frozenset[str] = frozenset()
    if reading.order != "any" or reading.previous or reading.intent == "current":
        apart |= _OF_TIME
    if reading.spread:
        apart |= _OF_NUMBER
    return tuple(term for term in question.terms if term not in apart) or question.terms


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
