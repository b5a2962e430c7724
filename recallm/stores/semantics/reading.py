"""What a read means once an engine has found its rows: what is counted, and in which order.

Engines give rows of one shape: the arguments here, or columns with the names of a value's fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from recallm.model import (
    ConceptMention,
    CorpusSize,
    ElementKey,
    EntityUpsert,
    ExtractedStatement,
    NamespaceState,
    Neighbours,
    OpenSession,
    PreparedUpdate,
    SessionSize,
    Sizes,
    StatementVector,
    Summary,
    Trait,
    TripletUpsert,
    VectorState,
    empty_mapping,
    position_of,
    session_key_of,
)
from recallm.stores.semantics.rows import Evidence, from_microseconds, unpack_timestamp

_Shown = TypeVar("_Shown", EntityUpsert, TripletUpsert)


def mapping_of(text: str | None) -> Mapping[str, Any]:
    """The mapping of a JSON text, which may be missing."""
    found: Mapping[str, Any] = json.loads(text) if text else empty_mapping()
    return found


def evidence_of(
    key: ElementKey,
    at: int,
    properties: str | None,
    description: Sequence[Any] | None,
    vectors: Mapping[str, bytes] | None = None,
) -> Evidence:
    """Evidence of an entity or a triplet; ``description`` is that of `rows.kept_of`."""
    own: dict[str, Any] = {"properties": mapping_of(properties), "position": position_of(at)}
    if not isinstance(key, str):
        return TripletUpsert(subject=key[0], predicate=key[1], object=key[2], **own)
    own |= {"vectors": vectors or empty_mapping()}
    type, name, label, kind, *mentioned = description or []
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


def open_session_of(
    t_index: int, key: str | None, said: int | None, source: str | None
) -> OpenSession | None:
    """The session of the update that the next one may continue, which was said so many
    microseconds after 1970; None where that update has no session or no time, or there is none."""
    if key is None or said is None:
        return None
    return OpenSession(t_index, key, from_microseconds(said), source)


def summary_of(concept: str, t_index: int, text: str, terms: str, traits: int) -> Summary:
    """A summary; its terms are JSON."""
    return Summary(
        concept=concept,
        t_index=t_index,
        text=text,
        terms=tuple(json.loads(terms)),
        traits=Trait(traits),
    )


def update_of(
    t_index: int,
    passage: Mapping[str, Any] | None,
    *,
    session_key: str | None = None,
    speaker_concept: str | None = None,
    neighbours: Iterable[Any] = (),
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
    fields: dict[str, Any] = {"id": "", "text": None, "t_index": t_index}
    if passage is not None:
        named = session_key_of(passage["session"], passage["source"])
        fields = {**passage, "speaker_concept": speaker_concept}
        fields["session_key"] = None if session_key == named else session_key
    return PreparedUpdate(
        **fields,
        statements=tuple(
            ExtractedStatement(
                position=position_of(at),
                start=start,
                end=end,
                terms=terms,
                concepts=concepts,
                traits=Trait(traits),
            )
            for at, start, end, terms, concepts, traits in sorted(said, key=itemgetter(0))
        ),
        neighbours=tuple(
            Neighbours(a=a, b=b, earlier=earlier, later=later)
            for a, b, earlier, later in sorted(neighbours)
        ),
        entities=_in_order(EntityUpsert, evidence),
        triplets=_in_order(TripletUpsert, evidence),
        vectors=tuple(
            StatementVector(position=position_of(at), model=model, blob=blob)
            for at, model, blob in sorted(vectors)
        ),
    )


def _in_order(kind: type[_Shown], evidence: Iterable[Evidence]) -> tuple[_Shown, ...]:
    """The evidence of one kind, in the order of `GraphReader.dump`."""
    shown = (each for each in evidence if isinstance(each, kind))
    return tuple(sorted(shown, key=attrgetter("element", "position")))
