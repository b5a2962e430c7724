"""Reads what a question leads to: totals, and the keys of statements that may answer.

Its stems have postings, its concepts have mentions, its dates bring the newest passages, and its
vector or related words bring statements without its words. Hardly any of these needs another read
before: on a server they share round trips.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from itertools import chain
from typing import NamedTuple, TypeAlias

from recallm.english.dating import AskedDate
from recallm.model import (
    ConceptRow,
    CorpusSize,
    Filter,
    Passage,
    Postings,
    Question,
    Sizes,
    statement_key,
)
from recallm.recall.predicates.relations import stems_of_states
from recallm.recall.ranking.candidates import Activation, Leads, activate
from recallm.recall.ranking.concepts import NAME_KINDS
from recallm.recall.ranking.meaning import related_stems
from recallm.recall.ranking.stem_counts import rarity_of
from recallm.recall.request import RecallRequest
from recallm.recall.retrieval.nearest import EmbeddedQuestion
from recallm.stores.base import GraphReader

_MENTIONS = 2
"""Mentions are read up to twice the limit of postings: in a talk of two nearly every statement
mentions each of them, as its speaker or by "you" and "we"."""

_OF_ASKER = 128
"""Newest mentions read of who asks: that somebody said "I" says little of what answers."""

_RELATIONS = 16
"""Newest relations read of each of the question's concepts."""

_NEIGHBOURS, _NEIGHBOUR_STATEMENTS = 6, 2
"""Neighbouring concepts, those of greatest activation, and the newest statements of each that are
candidates: "They let Greta go" may answer who the boss is now."""

_NEWEST_PASSAGES = 32
"""Newest passages looked at for a date, in a question that has no concept beside its dates, and for
"I", where nobody knows who that is."""

_NEWEST_POSITIONS = 4
"""Statements of each that are candidates; further ones may come as the statements beside these."""

_NEAREST = 112
"""Statements that the question's vector brings."""

_RELATED_NEWEST = 16
"""Newest statements looked at for a related stem."""

_OF_ONE_STATE = 0.4
"""The meaning that words of one state ("live", "move") share where the table of words has less."""

_RELATED_STATEMENTS = 24
"""Statements that related stems bring."""

Related: TypeAlias = tuple[str, float]
"""A stem of the question, and how much of its meaning a related one shares."""


def read_leads(
    reader: GraphReader,
    question: Question,
    vector: EmbeddedQuestion | None,
    request: RecallRequest,
    dates: Sequence[AskedDate],
) -> Leads:
    """What ``question`` leads to; ``dates`` are those that its text names."""
    names = [concept.name for concept in question.concepts]
    where, limit = request.where, request.config.candidate_limit
    dates = () if _names_more_than(dates, question) else dates
    words: _Words
    mentions: Mapping[str, Postings]
    words, mentions, nearest, dated, newest = reader.together(
        lambda reader: _read_words(reader, question, where, limit, with_related=vector is None),
        lambda reader: _read_mentions(reader, names, question.asker, where, limit),
        lambda reader: [] if vector is None else vector.nearest(reader, _NEAREST),
        lambda reader: _newest_statements(reader, _intervals(dates, request)),
        lambda reader: _newest_statements(
            reader, [where] if question.asks_of_asker and question.asker is None else []
        ),
    )
    return Leads(
        postings=words.postings,
        mentions=mentions,
        sizes=words.sizes,
        is_talk=words.is_talk,
        essential=words.essential,
        similar=statements_of_related_stems(
            question, words.related, words.of_related, mentions, words.sizes.corpus
        )
        if vector is None
        else [key for key, _ in nearest],
        activation=words.activation,
        of_neighbours=words.of_neighbours,
        dated=dated,
        newest=newest,
    )


class _Words(NamedTuple):
    """What the words of a question lead to: the fields of ``Leads`` with these names, the stems
    ``related`` to the question's, and the postings ``of_related`` stems."""

    postings: Mapping[str, Postings]
    essential: Mapping[str, ConceptRow]
    sizes: Sizes
    is_talk: bool
    related: Mapping[str, Related]
    of_related: Mapping[str, Postings]
    activation: Mapping[str, Activation]
    of_neighbours: Sequence[int]


def _read_words(
    reader: GraphReader, question: Question, where: Filter, limit: int, *, with_related: bool
) -> _Words:
    stems = (*question.search_terms, *question.tokens)
    names = [concept.name for concept in question.concepts]
    postings: Mapping[str, Postings]
    concepts: list[ConceptRow]
    postings, concepts = reader.together(
        lambda reader: reader.postings(stems, limit=limit, where=where),
        lambda reader: reader.concepts(names) if names else [],
    )
    sessions = set[str]().union(*(found.session_names() for found in postings.values()))
    related = related_stems_of(question) if with_related else {}
    is_talk = _is_talk(postings.values(), len(sessions))
    # In a talk the statements around lead on.
    known = [row for row in concepts if row.name != question.asker] if not is_talk else []
    sizes: Sizes
    of_related: Mapping[str, Postings]
    neighbours: tuple[dict[str, Activation], list[int]]
    sizes, of_related, neighbours = reader.together(
        lambda reader: reader.sizes(sessions),
        lambda reader: (
            reader.postings(related.keys(), limit=_RELATED_NEWEST, where=where) if related else {}
        ),
        lambda reader: _read_neighbours(reader, known, where) if known else ({}, []),
    )
    essential = {row.name: row for row in concepts}
    return _Words(postings, essential, sizes, is_talk, related, of_related, *neighbours)


def _is_talk(postings: Collection[Postings], sessions: int) -> bool:
    """Whether the statements that hold a question's stems stand in conversations: more than two of
    them in each of the ``sessions``, in the mean. A statement without a session stands alone."""
    alone: int = sum(found.sessions.tolist().count(0) for found in postings)
    return sum(len(found.keys) for found in postings) > 2 * (sessions + alone)


def _read_neighbours(
    reader: GraphReader, known: Collection[ConceptRow], where: Filter
) -> tuple[dict[str, Activation], list[int]]:
    """The concepts that those ``known`` activate, and the keys of the newest statements of those
    that are activated most."""
    essential = {row.name: row for row in known}
    relations = reader.relations(essential.keys(), limit=_RELATIONS)
    ends = {end for relation in relations for end in (relation.a, relation.b)} - essential.keys()
    if not ends:
        return {}, []
    activation = activate(essential, relations, reader.concepts(ends))
    nearest = sorted(
        activation.values(), key=lambda neighbour: (-neighbour.value, neighbour.concept.name)
    )
    most = [neighbour.concept.name for neighbour in nearest[:_NEIGHBOURS]]
    found = reader.mentions(most, limit=_NEIGHBOUR_STATEMENTS, where=where)
    return activation, [key for each in found.values() for key in each.keys.tolist()]


def _read_mentions(
    reader: GraphReader, names: Sequence[str], asker: str | None, where: Filter, limit: int
) -> Mapping[str, Postings]:
    """The mentions of the question's concepts; of who asks the newest alone."""
    asking = {name for name in names if name == asker}
    mentions: Mapping[str, Postings]
    of_asker: Mapping[str, Postings]
    mentions, of_asker = reader.together(
        lambda reader: reader.mentions({*names} - asking, limit=_MENTIONS * limit, where=where),
        lambda reader: reader.mentions(asking, limit=_OF_ASKER, where=where) if asking else {},
    )
    return {**mentions, **of_asker}


def _names_more_than(dates: Sequence[AskedDate], question: Question) -> bool:
    """Whether a question has concepts beside ``dates`` and who asks: "What happened in May?" and
    "What did I do in May?" have none."""
    of_dates = {word for asked in dates for word in _words(asked.name)}
    return any(
        concept.name != question.asker and not of_dates.issuperset(_words(concept.label))
        for concept in question.concepts
    )


def _words(text: str) -> list[str]:
    """The words and numbers without punctuation: the dates and the concepts of a question split
    "New Year's Eve" and "2025-10-03" at other places."""
    return re.findall(r"\w+", text.casefold())


def _intervals(dates: Sequence[AskedDate], request: RecallRequest) -> list[Filter]:
    """When what may answer was said, whatever its words are: at one of the ``dates``. A date
    without its year ("May") is the latest that has begun."""
    where = request.where
    conditions: list[Filter] = []
    for asked in dates:
        interval = asked.near(date.max if request.asked_at is None else request.asked_at.date())
        if interval is None:
            continue
        first = datetime.combine(interval.start, time.min, request.zone)
        last = datetime.combine(interval.last, time.max, request.zone)
        since = max(first, where.since) if isinstance(where.since, datetime) else first
        until = min(last, where.until) if isinstance(where.until, datetime) else last
        conditions.append(replace(where, since=since, until=until))
    return conditions


def _newest_statements(reader: GraphReader, conditions: Sequence[Filter]) -> list[int]:
    """The keys that the statements of the newest passages may have which meet one of the
    ``conditions``."""
    passages: list[list[Passage]] = reader.together(
        *(
            lambda reader, where=where: reader.passages(where, limit=_NEWEST_PASSAGES)
            for where in conditions
        )
    )
    return [
        statement_key(passage.t_index, position)
        for passage in chain.from_iterable(passages)
        for position in range(_NEWEST_POSITIONS)
    ]


def related_stems_of(question: Question) -> dict[str, Related]:
    """The stems related to the question's, each with that stem and how much of its meaning they
    share. Names have no related words. What somebody who asks where Ada lives looks for may be
    that she moved: the words of one state are related where a question asks for states."""
    named = [concept.name for concept in question.concepts if concept.kind in NAME_KINDS]
    names = {word for name in named for word in name.split(" ")}
    stems = [stem for stem in question.terms if stem not in names]
    related: dict[str, Related] = {}
    for stem in stems:
        for other, share in related_stems(stem):
            if other not in question.terms and share > related.get(other, ("", 0.0))[1]:
                related[other] = (stem, share)
    if question.time.recency or question.time.previous or question.time.spread:
        for state in stems_of_states():
            asked = next((stem for stem in question.terms if stem in state), None)
            if asked in stems:
                for other in state.difference(question.terms):
                    related.setdefault(other, (asked, _OF_ONE_STATE))
    return related


def statements_of_related_stems(
    question: Question,
    related: Mapping[str, Related],
    postings: Mapping[str, Postings],
    mentions: Mapping[str, Postings],
    corpus: CorpusSize,
) -> list[int]:
    """The keys of statements with words related to the question's: "I reside in Porto" answers
    "Where does she live?". ``postings`` are those of the ``related`` stems. A statement that
    mentions the names of the question (``mentions`` holds its concepts) counts up to twice. Rare
    words come first, then newer statements."""
    named = [concept.name for concept in question.concepts if concept.kind in NAME_KINDS]
    worth: dict[str, dict[int, float]] = defaultdict(dict)  # by stem and key, the greatest last
    for value, stem, keys in sorted(
        (share * rarity_of(found.statements, corpus.statements), stem, found.keys.tolist())
        for other, found in postings.items()
        for stem, share in (related[other],)
    ):
        worth[stem].update(dict.fromkeys(keys, value))
    values: dict[int, float] = defaultdict(float)
    for by_key in worth.values():
        for key, value in by_key.items():
            values[key] += value
    mentioning = Counter[int]()
    for name in named:
        if name in mentions:
            mentioning.update(values.keys() & mentions[name].keys.tolist())
    for key, number in mentioning.items():
        values[key] *= 1.0 + number / len(named)
    best = sorted(zip(values.values(), values, strict=True), reverse=True)
    return [key for _, key in best[:_RELATED_STATEMENTS]]
