"""Hypothesis strategies for what a store is told and asked.

All draw from vocabularies so small that ids, names, sessions and moments meet each other often.
"""

from __future__ import annotations

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
    PreparedUpdate,
    Selection,
    StatementVector,
    Summary,
    Trait,
    TripletUpsert,
)

__all__ = [
    "concept_names",
    "entity_ids",
    "filters",
    "horizons",
    "moments",
    "predicates",
    "prepared_updates",
    "selections",
    "stems",
    "summaries",
    "t_indexes",
]

_NAMES = ("ann", "bo", "cy", "univers", "\x00'\"", "\U0001f600")
_STEMS = ("tea", "milk", "e\u0301", "\x00", "'--")
_ENTITIES = ("e", "E", "uni", "\x00`")
_SESSIONS = ("s", "t", "@1", "")
_SPEAKERS = ("Ann", "Bo", "")
_IDS = (*"abcdefghij", "a#0", "")
_NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
_MINUTES = (0, 30, 59.999, 60, 61, 120, 300)

concept_names = st.sampled_from(_NAMES)
stems = st.sampled_from(_STEMS)
entity_ids = st.sampled_from(_ENTITIES)
predicates = st.sampled_from(("is", "IS", ""))
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
_mentions = st.builds(
    ConceptMention, name=concept_names, label=st.sampled_from(("Label", "label")), kind=_kinds
)
_concept_lists = st.lists(_mentions, max_size=3, unique_by=lambda mention: mention.name)
_traits = st.integers(min_value=0, max_value=int(~Trait(0))).map(Trait)


@st.composite
def prepared_updates(draw: st.DrawFn) -> PreparedUpdate:
    """An update with a passage, or one of entities and triplets alone."""
    if draw(st.integers(min_value=0, max_value=5)) == 0:
        return PreparedUpdate(
            id=draw(st.sampled_from(_IDS)),
            text=None,
            entities=draw(_entities(0)),
            triplets=draw(_triplets(0)),
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
        path=tuple(draw(st.lists(st.sampled_from(_SESSIONS), max_size=2))),
        key=draw(st.none() | st.just("key")),
        expires_at=draw(st.none() | st.none() | moments),
        entities=draw(_entities(len(statements))),
        triplets=draw(_triplets(len(statements))),
        vectors=draw(_vectors(len(statements))),
    )


def horizons() -> st.SearchStrategy[Horizon]:
    """All that there is, or what a t, a moment or an expiry hides."""
    return st.builds(Horizon, as_of=st.none() | t_indexes | moments, now=st.none() | moments)


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
    )


def selections() -> st.SearchStrategy[Selection]:
    """Selections of every kind; single statements most often, everything seldom."""
    statements = st.builds(
        lambda id, position: f"{id}#{position}",
        st.sampled_from(_IDS),
        st.sampled_from(("0", "1", "2", "00")),
    )
    return st.one_of(
        st.builds(Selection, kind=st.just("statement"), value=statements),
        st.builds(Selection, kind=st.just("statement"), value=statements),
        st.builds(Selection, kind=st.just("id"), value=st.sampled_from(_IDS)),
        st.builds(Selection, kind=st.just("source"), value=st.sampled_from(_SESSIONS)),
        st.builds(Selection, kind=st.just("session"), value=st.sampled_from(_SESSIONS)),
        st.builds(Selection, kind=st.just("concept"), value=concept_names),
        st.builds(Selection, kind=st.just("before"), value=t_indexes | moments),
        st.builds(
            Selection,
            kind=st.sampled_from(("everything", "id")),
            value=st.just(True) | st.just("a"),
        ).map(_everything_is_true),
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


def _everything_is_true(selection: Selection) -> Selection:
    if selection.kind == "everything":
        return Selection(kind="everything", value=True)
    return Selection(kind="id", value="a")


def _positions(statements: int) -> st.SearchStrategy[int]:
    shown = st.integers(min_value=0, max_value=statements - 1) if statements else st.nothing()
    return st.just(NO_POSITION) | shown


def _entities(statements: int) -> st.SearchStrategy[tuple[EntityUpsert, ...]]:
    one = st.builds(
        EntityUpsert,
        id=entity_ids,
        type=st.sampled_from(("A", "B")),
        concept=_mentions,
        properties=_objects,
        position=_positions(statements),
    )
    return _few(one)


def _triplets(statements: int) -> st.SearchStrategy[tuple[TripletUpsert, ...]]:
    one = st.builds(
        TripletUpsert,
        subject=entity_ids,
        predicate=predicates,
        object=entity_ids,
        properties=_objects,
        position=_positions(statements),
    )
    return _few(one)


def _vectors(statements: int) -> st.SearchStrategy[tuple[StatementVector, ...]]:
    if not statements:
        return st.just(())
    one = st.builds(
        StatementVector,
        position=st.integers(min_value=0, max_value=statements - 1),
        model=st.sampled_from(("m", "n")),
        blob=st.binary(max_size=2),
    )
    return st.lists(one, max_size=2, unique_by=lambda v: (v.position, v.model)).map(tuple)


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
