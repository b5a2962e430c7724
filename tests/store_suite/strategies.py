"""Hypothesis strategies for what a store is told and asked.

All draw from vocabularies so small that ids, names, sessions and moments meet each other often.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from recallm.model import (
    NO_POSITION,
    ConceptKind,
    ConceptMention,
    EntityUpsert,
    ExtractedStatement,
    Filter,
    Horizon,
    Neighbours,
    Passage,
    PreparedUpdate,
    Reference,
    Selection,
    SelectionKind,
    StatementVector,
    Summary,
    Trait,
    TripletUpsert,
)

_NAMES = ("ann", "bo", "cy", "univers", "\x00'\"", "\U0001f600")
_STEMS = ("tea", "milk", "e\u0301", "\x00", "'--", '"of')
_ENTITIES = ("e", "E", "uni", "\x00`")
_SESSIONS = ("s", "t", "@1", "")
_SPEAKERS = ("Ann", "Bo", "")
_PARTS = ("p", "pq", "p\x1f", "", "\U0001f600", "\uffff")
_IDS = (*"abcdefghij", "a#0", "")
_NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
_MINUTES = (0, 30, 59.999, 60, 61, 120, 300)

concept_names = st.sampled_from(_NAMES)
stems = st.sampled_from(_STEMS)
entity_ids = st.sampled_from(_ENTITIES)
predicates = st.sampled_from(("is", "IS", ""))
item_keys = st.sampled_from(("key", "\x00'", ""))
item_paths = st.lists(st.sampled_from(_PARTS), max_size=2).map(tuple)
t_indexes = st.integers(min_value=0, max_value=24)
moments = st.sampled_from([_NOON + timedelta(minutes=minutes) for minutes in _MINUTES])

_json = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.5, "1", "\x00é"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=3,
)
_objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(("k", "l", "$.k")), _json, max_size=2
)
_kinds: st.SearchStrategy[ConceptKind] = st.sampled_from(("noun", "name", "number", "entity"))
_references = st.builds(
    Reference, st.just(0), st.just(1), st.none() | st.sampled_from((*_IDS[:4], ""))
)
_mentions = st.builds(
    ConceptMention, name=concept_names, label=st.sampled_from(("Label", "label")), kind=_kinds
)
_said_mentions = st.builds(
    ConceptMention,
    name=concept_names,
    label=st.sampled_from(("Label", "label")),
    kind=_kinds,
    reference=st.none() | st.none() | _references,
)
_unnamed = st.builds(
    ConceptMention, name=st.just(""), label=st.sampled_from(("Label", "label")), kind=_kinds
)
_models = st.sampled_from(("m", "n"))
blobs = st.sampled_from((b"\x00\x00", b"ab", b"cd", b"ef", b"gh", b"\xff\x00", b"long"))
_concept_lists = st.lists(_said_mentions, max_size=3, unique_by=lambda mention: mention.name)
_traits = st.integers(min_value=0, max_value=int(~Trait(0))).map(Trait)


@st.composite
def prepared_updates(draw: st.DrawFn) -> PreparedUpdate:
    """An update with a passage, or one of entities and triplets alone."""
    if draw(st.integers(min_value=0, max_value=5)) == 0:
        entities = draw(_entities(0))
        return PreparedUpdate(
            id=draw(st.just("") | st.sampled_from(_IDS)),
            text=None,
            entities=entities,
            triplets=draw(_triplets(0, entities)),
        )
    spoken = draw(st.lists(st.lists(stems, max_size=3), max_size=3))
    concepts = [tuple(draw(_concept_lists)) for _ in spoken]
    text, statements = draw(st.sampled_from(("", " "))), []
    for position, terms in enumerate(spoken):
        said = " ".join((*terms, *(mention.label for mention in concepts[position]), "."))
        statements.append(
            ExtractedStatement(
                position=position,
                start=len(text),
                end=len(text) + len(said),
                terms=tuple(terms),
                concepts=concepts[position],
                traits=draw(_traits),
            )
        )
        text += said + draw(st.sampled_from(("", " ", "\n\n")))
    entities = draw(_entities(len(statements)))
    return PreparedUpdate(
        id=draw(st.sampled_from(_IDS)),
        text=text,
        statements=tuple(statements),
        neighbours=_neighbours(concepts),
        source=draw(st.none() | st.sampled_from(_SESSIONS)),
        session=draw(st.none() | st.none() | st.sampled_from(_SESSIONS)),
        speaker=draw(st.none() | st.sampled_from(_SPEAKERS)),
        speaker_concept=draw(st.none() | concept_names),
        timestamp=draw(st.none() | moments),
        metadata=draw(_objects),
        path=draw(item_paths),
        key=draw(st.none() | st.none() | item_keys),
        expires_at=draw(st.none() | st.none() | moments),
        entities=entities,
        triplets=draw(_triplets(len(statements), entities)),
        vectors=draw(_vectors(len(statements))),
        replaces=draw(st.booleans()),
    )


def horizons() -> st.SearchStrategy[Horizon]:
    """All that there is, or what a t, a moment, an expiry or a withdrawal hides."""
    return st.builds(
        Horizon,
        as_of=st.none() | t_indexes | moments,
        now=st.none() | moments,
        withdrawn=st.just(False) | st.booleans(),
    )


def filters() -> st.SearchStrategy[Filter]:
    """Filters of which mostly one or two conditions are set."""
    bounds = st.none() | st.none() | t_indexes | moments
    return st.builds(
        Filter,
        since=bounds,
        until=bounds,
        speaker=st.none() | st.none() | st.sampled_from(_SPEAKERS),
        session=st.none() | st.none() | st.sampled_from(_SESSIONS),
        metadata=st.just({}) | _objects,
        path=st.none() | st.none() | item_paths,
    )


def selections(passages: Collection[Passage] = ()) -> st.SearchStrategy[Selection]:
    """Selections of every kind, mostly of something that ``passages`` has; everything seldom."""
    ids = st.sampled_from(sorted({passage.id for passage in passages}) or _IDS)
    sources = sorted({passage.source for passage in passages if passage.source is not None})
    sessions = sorted({passage.session for passage in passages if passage.session is not None})
    positions = st.sampled_from(("0", "1", "2", "00"))
    statements = st.builds(lambda id, position: f"{id}#{position}", ids, positions)
    values: dict[SelectionKind, st.SearchStrategy[Any]] = {
        "id": ids,
        "statement": statements,
        "source": st.sampled_from(sources or _SESSIONS),
        "session": st.sampled_from(sessions + sources or _SESSIONS),
        "concept": concept_names,
        "before": st.integers(min_value=1, max_value=6) | moments,
        "expired": moments,
        "everything": st.just(True),
    }
    kinds: list[SelectionKind] = ["statement", "statement", *values]
    return st.sampled_from(kinds).flatmap(
        lambda kind: st.builds(
            Selection,
            kind=st.just(kind),
            value=values[kind],
        )
    )


def summaries(concept: str, t_index: int) -> st.SearchStrategy[Summary]:
    """Summaries of one concept at one t."""
    return st.builds(
        Summary,
        concept=st.just(concept),
        t_index=st.just(t_index),
        text=st.sampled_from(("in short", "\x00 '")),
        terms=st.lists(stems, max_size=2).map(tuple),
        traits=_traits,
    )


def _positions(statements: int) -> st.SearchStrategy[int]:
    shown = st.integers(min_value=0, max_value=statements - 1) if statements else st.nothing()
    return st.just(NO_POSITION) | shown


def _entities(statements: int) -> st.SearchStrategy[tuple[EntityUpsert, ...]]:
    one = st.builds(
        EntityUpsert,
        id=entity_ids,
        type=st.sampled_from(("A", "B")),
        concept=_mentions | _mentions | _unnamed,
        properties=_objects,
        vectors=st.just({}) | st.just({}) | st.dictionaries(_models, blobs, max_size=2),
        mentioned=st.booleans(),
        position=_positions(statements),
    )
    return _few(one)


def _triplets(
    statements: int, entities: tuple[EntityUpsert, ...]
) -> st.SearchStrategy[tuple[TripletUpsert, ...]]:
    """Mostly between entities of the same update; the others may be unknown."""
    if not entities:
        return st.just(()) | st.just(()) | st.just(()) | _few(_triplet(statements, entity_ids))
    known = st.sampled_from([entity.id for entity in entities])
    return _few(_triplet(statements, known))


def _triplet(statements: int, ends: st.SearchStrategy[str]) -> st.SearchStrategy[TripletUpsert]:
    return st.builds(
        TripletUpsert,
        subject=ends,
        predicate=predicates,
        object=ends,
        properties=_objects,
        position=_positions(statements),
    )


def _vectors(statements: int) -> st.SearchStrategy[tuple[StatementVector, ...]]:
    if not statements:
        return st.just(())
    one = st.builds(
        StatementVector,
        position=st.integers(min_value=0, max_value=statements - 1),
        model=st.sampled_from(("m",) * 11 + ("n",)),
        blob=blobs,
    )
    return st.lists(one, max_size=2, unique_by=lambda v: v.position).map(tuple)


def _few(one: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.just(()) | st.lists(one, min_size=1, max_size=3).map(tuple)


def _neighbours(concepts: list[tuple[ConceptMention, ...]]) -> tuple[Neighbours, ...]:
    """Each concept with the next, across statements, as extraction has it."""
    row = [(mention.name, place) for place, said in enumerate(concepts) for mention in said]
    pairs = {
        Neighbours(a=min(left, right), b=max(left, right), earlier=earlier, later=later): None
        for (left, earlier), (right, later) in pairwise(row)
        if left != right
    }
    return tuple(pairs)
