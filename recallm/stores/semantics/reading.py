"""What a read means once an engine has found its rows: what is counted, and in which order.

Engines give rows of one shape: the arguments here, or columns with the names of a value's fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from recallm.model import (
    ConceptMention,
    ConceptRow,
    CorpusSize,
    ElementKey,
    Entity,
    EntityUpsert,
    ExtractedStatement,
    NamespaceState,
    Neighbours,
    OpenSession,
    PreparedUpdate,
    Relation,
    Session,
    SessionSize,
    Sizes,
    StatementVector,
    Summary,
    Trait,
    Triplet,
    TripletEvidence,
    TripletUpsert,
    VectorState,
    empty_mapping,
    position_of,
    session_key_of,
    session_name_in,
    t_index_of,
)
from recallm.stores.semantics.rows import (
    ConceptTotals,
    Evidence,
    from_microseconds,
    unpack_timestamp,
)

_PAGE = 500
"""Updates that a dump reads at a time."""


def mapping_of(text: str | None) -> Mapping[str, Any]:
    """The mapping of a JSON text, which may be missing."""
    found: Mapping[str, Any] = json.loads(text) if text else empty_mapping()
    return found


def evidence_of(
    key: ElementKey,
    at: int,
    properties: str | None,
    description: Sequence[Any],
    vectors: Mapping[str, bytes] | None = None,
) -> Evidence:
    """Evidence of an entity or a triplet; ``description`` is that of `rows.description_of`."""
    own: dict[str, Any] = {"properties": mapping_of(properties), "position": position_of(at)}
    if not isinstance(key, str):
        return TripletUpsert(subject=key[0], predicate=key[1], object=key[2], **own)
    own |= {"vectors": vectors or empty_mapping()}
    type, name, label, kind, *mentioned = description
    concept = ConceptMention(name=name, label=label, kind=kind)
    return EntityUpsert(id=key, type=type, concept=concept, mentioned=bool(mentioned), **own)


def state_of(
    t_index: int,
    vector_bytes: Mapping[str, int],
    vocabulary: int,
    model: str | None,
    origin: str,
    revision: int,
) -> NamespaceState:
    """``GraphReader.state``; ``model`` is None where no statement ever had a vector."""
    vectors = None
    if model is not None:
        size = vector_bytes[model]
        vectors = VectorState(model=model, size=size, origin=origin, revision=revision)
    return NamespaceState(
        t_index=t_index, vectors=vectors, vector_bytes=vector_bytes, vocabulary=vocabulary
    )


def sizes_of(corpus: Iterable[int], sessions: Iterable[tuple[str, int, int]]) -> Sizes:
    """``GraphReader.sizes``: statements, terms and sessions of the namespace, and (key, statements,
    terms) of some sessions."""
    return Sizes(
        corpus=CorpusSize(**dict(zip(("statements", "terms", "sessions"), corpus, strict=True))),
        sessions={
            key: SessionSize(statements=statements, terms=terms)
            for key, statements, terms in sorted(sessions)
        },
    )


def passage_fields(row: Mapping[str, Any], path: Iterable[str]) -> dict[str, Any]:
    """The arguments that ``Passage`` and ``PreparedUpdate`` share. What a row lacks is None."""
    return {
        "id": row["id"],
        "t_index": row["t"],
        "text": row["text"],
        "source": row.get("source"),
        "session": row.get("session"),
        "speaker": row.get("speaker"),
        "timestamp": unpack_timestamp(row.get("timestamp")),
        "metadata": json.loads(row["metadata"]),
        "path": tuple(path),
        "key": row.get("key"),
        "expires_at": unpack_timestamp(row.get("expires_at")),
        "withdrawn_t": row.get("withdrawn"),
    }


def session_of(
    key: str, passages: int, first_t: int, t_index: int, began: int | None, ended: int | None
) -> Session:
    """A session, whose times are microseconds since 1970."""
    return Session(
        name=session_name_in(key),
        passages=passages,
        first_t=first_t,
        t_index=t_index,
        began=None if began is None else from_microseconds(began),
        ended=None if ended is None else from_microseconds(ended),
    )


def open_session_of(
    t_index: int, key: str | None, said: int | None, source: str | None
) -> OpenSession | None:
    """The session of the update that the next one may continue, which was said so many
    microseconds after 1970; None where that update has no session or no time, or there is none."""
    if key is None or said is None:
        return None
    return OpenSession(t_index, key, from_microseconds(said), source)


def concept_rows(
    found: Iterable[Sequence[Any]],
    t_index: int,
    limit: int | None,
    count: Callable[[Collection[str]], Mapping[str, ConceptTotals]],
) -> list[ConceptRow]:
    """``GraphReader.concepts`` of the concepts that are shown.

    Stored totals hold where nothing touched the concept after the view's t; else ``count`` counts
    them up to that t.

    Args:
        found: the columns of ``Reader.concepts``.
        t_index: the view's t.
        limit: the most rows; None: all.
        count: counts the totals of concepts, by their names.
    """
    stored = {row[0]: row for row in found}
    totals = {name: ConceptTotals(*row[1:6]) for name, row in stored.items() if row[3] <= t_index}
    if len(totals) < len(stored):
        totals |= count(stored.keys() - totals.keys())
    concepts: list[ConceptRow] = []
    for name in sorted(totals, key=lambda name: (-totals[name].t_index, name))[:limit]:
        row = totals[name]
        summary_t, text, terms, traits, later = stored[name][6:]
        is_revised = summary_t is not None
        concepts.append(
            ConceptRow(
                name=name,
                label=row.label,
                kind=row.kind,
                t_index=row.t_index,
                updates=row.updates,
                statements=row.statements,
                merges=later if is_revised else row.updates - 1,
                summary=summary_of(name, summary_t, text, terms, traits) if is_revised else None,
            )
        )
    return concepts


def summary_of(concept: str, t_index: int, text: str, terms: str, traits: int) -> Summary:
    """A summary; its terms are JSON."""
    return Summary(
        concept=concept,
        t_index=t_index,
        text=text,
        terms=tuple(json.loads(terms)),
        traits=Trait(traits),
    )


def entity_of(row: Sequence[Any]) -> Entity:
    """The entity of a row of its fields."""
    id, type, label, concept, properties, t_index, updates, source = row
    return Entity(
        id=id,
        type=type,
        label=label,
        concept=concept,
        properties=mapping_of(properties),
        t_index=t_index,
        updates=updates,
        source=source,
    )


def triplet_of(row: Sequence[Any]) -> Triplet:
    """The triplet of a row of its fields."""
    subject, predicate, object, properties, strength, t_index, source = row
    return Triplet(
        subject=subject,
        predicate=predicate,
        object=object,
        properties=mapping_of(properties),
        strength=strength,
        t_index=t_index,
        source=source,
    )


def relation_of(row: Sequence[Any]) -> Relation:
    """The relation of a row of its fields."""
    a, b, strength, t_index = row
    return Relation(a=a, b=b, strength=strength, t_index=t_index)


def evidence_row_of(row: Sequence[Any]) -> TripletEvidence:
    """The evidence of a row: subject (id, label, concept), predicate, object (id, label, concept,
    type), properties, ``at``, and the passage (id, timestamp, source) of the update."""
    *ends, properties, at, passage, timestamp, source = row
    update = t_index_of(at), position_of(at), passage, unpack_timestamp(timestamp), source
    return TripletEvidence._make([*ends, mapping_of(properties), *update])


def latest_first(evidence: Iterable[TripletEvidence], limit: int | None) -> list[TripletEvidence]:
    """``GraphReader.triplet_evidence``."""
    return sorted(
        evidence, key=lambda e: (-e.t_index, -e.position, e.subject, e.predicate, e.object)
    )[:limit]


def bearers_of(found: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """``GraphReader.entities_by_words``, from words with ids of entities."""
    ids: dict[str, list[str]] = {}
    for word, id in found:
        ids.setdefault(word, []).append(id)
    return {word: tuple(sorted(ids[word])) for word in sorted(ids)}


def update_of(
    t_index: int,
    passage: Mapping[str, Any] | None,
    *,
    session_key: str | None = None,
    speaker_concept: str | None = None,
    neighbours: Iterable[Sequence[Any]] = (),
    said: Iterable[Sequence[Any]] = (),
    vectors: Iterable[tuple[int, str, bytes]] = (),
    shown: Iterable[Evidence] = (),
) -> PreparedUpdate:
    """A stored update with its parts in the order of ``GraphReader.dump``.

    Args:
        t_index: its t.
        passage: the ``passage_fields`` of its passage; None for a graph-only update.
        session_key: the key of the session that it belongs to.
        speaker_concept: see ``PreparedUpdate``.
        neighbours: (a, b, earlier, later).
        said: (``at``, start, end, terms, concepts, traits) of each statement.
        vectors: (``at``, model, vector).
        shown: the evidence of entities and of triplets.
    """
    evidence = list(shown)
    parts: dict[str, list[Any]] = {
        "statements": [
            ExtractedStatement(
                position=position_of(at),
                start=start,
                end=end,
                terms=terms,
                concepts=concepts,
                traits=Trait(traits),
            )
            for at, start, end, terms, concepts, traits in said
        ],
        "neighbours": [
            Neighbours(a=a, b=b, earlier=earlier, later=later)
            for a, b, earlier, later in neighbours
        ],
        "entities": [one for one in evidence if isinstance(one, EntityUpsert)],
        "triplets": [one for one in evidence if isinstance(one, TripletUpsert)],
        "vectors": [
            StatementVector(position=position_of(at), model=model, blob=blob)
            for at, model, blob in vectors
        ],
    }
    ordered: dict[str, Any] = {
        name: tuple(sorted(part, key=_DUMP_ORDER[name])) for name, part in parts.items()
    }
    if passage is None:
        return PreparedUpdate(id="", text=None, t_index=t_index, **ordered)
    named = session_key_of(passage["session"], passage["source"])
    return PreparedUpdate(
        **passage,
        session_key=None if session_key == named else session_key,
        speaker_concept=speaker_concept,
        **ordered,
    )


_DUMP_ORDER: Mapping[str, Callable[[Any], Any]] = {
    "statements": attrgetter("position"),
    "neighbours": attrgetter("a", "b", "earlier", "later"),
    "entities": attrgetter("id", "position"),
    "triplets": attrgetter("subject", "predicate", "object", "position"),
    "vectors": attrgetter("position", "model"),
}
"""The order of the parts of an update in `GraphReader.dump`."""


def dump_records(
    page: Callable[[int, int], Sequence[PreparedUpdate]], summaries: Callable[[], Iterable[Summary]]
) -> Iterator[PreparedUpdate | Summary]:
    """See `GraphReader.dump`. ``page(after, limit)`` gives the next updates after a t."""
    after = 0
    while updates := page(after, _PAGE):
        yield from updates
        after = updates[-1].t_index or 0
    yield from sorted(summaries(), key=lambda summary: (summary.t_index, summary.concept))
