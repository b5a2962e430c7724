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
    EntityUpsert,
    NamespaceState,
    OpenSession,
    PreparedUpdate,
    Session,
    SessionSize,
    Sizes,
    Summary,
    TripletEvidence,
    TripletUpsert,
    VectorState,
    empty_mapping,
    position_of,
    session_name_in,
)
from recallm.stores.semantics.rows import (
    ConceptTotals,
    Evidence,
    from_microseconds,
    unpack_timestamp,
)

_PAGE = 500
"""Updates that a dump reads at a time."""

by_parts = attrgetter("subject", "predicate", "object")
"""The order of triplets."""


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
    stored: Mapping[str, ConceptTotals],
    t_index: int,
    limit: int | None,
    count: Callable[[Collection[str]], Mapping[str, ConceptTotals]],
    in_force: Callable[[Collection[str]], Mapping[str, tuple[Summary, int]]],
) -> list[ConceptRow]:
    """``GraphReader.concepts`` of the concepts that are shown, by their names.

    Stored totals hold where nothing touched the concept after the view's t; else ``count`` counts
    them up to that t. ``in_force`` gives summaries in force, each with the number of updates that
    touched the concept after it.
    """
    totals = {name: row for name, row in stored.items() if row.t_index <= t_index}
    if len(totals) < len(stored):
        totals |= count(stored.keys() - totals.keys())
    names = sorted(totals, key=lambda name: (-totals[name].t_index, name))[:limit]
    summaries = in_force(names)
    rows: list[ConceptRow] = []
    for name in names:
        row = totals[name]
        summary, merges = summaries.get(name, (None, row.updates - 1))
        rows.append(
            ConceptRow(
                name=name,
                label=row.label,
                kind=row.kind,
                t_index=row.t_index,
                updates=row.updates,
                statements=row.statements,
                merges=merges,
                summary=summary,
            )
        )
    return rows


def latest_first(evidence: Iterable[TripletEvidence], limit: int | None) -> list[TripletEvidence]:
    """``GraphReader.triplet_evidence``."""
    return sorted(evidence, key=lambda e: (-e.t_index, -e.position, *by_parts(e)))[:limit]


def bearers_of(found: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """``GraphReader.entities_by_words``, from words with ids of entities."""
    ids: dict[str, list[str]] = {}
    for word, id in found:
        ids.setdefault(word, []).append(id)
    return {word: tuple(sorted(ids[word])) for word in sorted(ids)}


def update_of(
    t_index: int, passage: Mapping[str, Any] | None, **parts: Iterable[Any]
) -> PreparedUpdate:
    """A stored update with its parts in the order of ``GraphReader.dump``. ``passage``: its other
    fields; None for a graph-only update."""
    fields = {"id": "", "text": None, "t_index": t_index} if passage is None else passage
    ordered: dict[str, Any] = {
        name: tuple(sorted(part, key=DUMP_ORDER[name])) for name, part in parts.items()
    }
    return PreparedUpdate(**fields, **ordered)


DUMP_ORDER: Mapping[str, Callable[[Any], Any]] = {
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
