"""How values of ``recallm.model`` are encoded in the properties of nodes, and read from rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from recallm.model import (
    LARGEST_NUMBER,
    ConceptMention,
    ElementKey,
    ExtractedStatement,
    Passage,
    Postings,
    PreparedUpdate,
    Reference,
    StatementVector,
    StoredStatement,
    Summary,
    Trait,
    canonical_json,
    content_terms,
)
from recallm.stores.semantics.reading import (
    evidence_of,
    mapping_of,
    passage_fields,
    update_of,
)
from recallm.stores.semantics.rows import (
    ConceptTotals,
    json_text,
    microseconds,
    timestamp_text,
    unpack_timestamp,
)

_INDEXABLE = 1000
_RESERVED = "\0"

CONCEPT_WORDS = f"{_RESERVED}concept"
"""The ``model`` of the words that entities bear by their concepts: no embedding model's key."""


def key_of(text: str) -> str:
    """``text`` as an index can hold it (8 kB for all parts of a key): itself where it is short,
    else a digest. What recallm makes up itself begins with NUL; text that does is digested too."""
    short = len(text) <= _INDEXABLE // 4 or len(text.encode()) <= _INDEXABLE
    if short and not text.startswith(_RESERVED):
        return text
    return f"{_RESERVED}#" + hashlib.sha256(text.encode()).hexdigest()


def stem_key(stem: str) -> str:
    """The key of a stem, which is the key of no concept."""
    return f"{_RESERVED}s{key_of(stem)}"


def keys_of(names: Collection[str]) -> list[str]:
    """``key_of`` of each name, sorted."""
    return sorted({key_of(name) for name in names})


def parameter(value: Any) -> Any:
    """A parameter of a query: keys of names, or numbers that a server can take."""
    if isinstance(value, int):
        return min(value, LARGEST_NUMBER)
    if isinstance(value, Collection) and not isinstance(value, str):
        return sorted({key_of(one) if isinstance(one, str) else parameter(one) for one in value})
    return value


def element_key(element: ElementKey) -> str:
    """The key of an entity or a triplet."""
    if isinstance(element, str):
        return key_of(element)
    return f"{_RESERVED}triplet " + hashlib.sha256(json.dumps(element).encode()).hexdigest()


def path_key(path: Sequence[str]) -> str:
    """A path as an index can hold it."""
    return key_of(json.dumps(list(path), ensure_ascii=False))


def item_key(path: Sequence[str], key: str) -> str:
    """An item's path and key in one, as an index can hold it."""
    return key_of(json.dumps([list(path), key], ensure_ascii=False))


def metadata_entries(value: Mapping[str, Any]) -> list[str]:
    """The entries of metadata, each the JSON of [key, value] with sorted keys: equal entries are
    equal strings, so that a filter can compare them."""
    own: dict[str, Any] = json.loads(json_text(value)) if value else {}
    return [canonical_json(entry) for entry in own.items()]


def moment_of(now: datetime | None) -> int:
    """The parameter ``$now`` of a query: microseconds since 1970; nothing has expired by None."""
    return -LARGEST_NUMBER if now is None else microseconds(now)


_SAME = ("id", "text", "source", "session", "speaker", "speaker_concept", "key")
"""The properties of an update's node that are its fields."""


def update_out(update: PreparedUpdate, session_key: str | None) -> dict[str, Any]:
    """The properties of an update's node, but for its namespace."""
    t_index = update.t_index or 0
    if update.text is None:
        return {"t": t_index}
    rows = [[n.a, n.b, n.earlier, n.later] for n in update.neighbours]
    # What the path is at or below: itself and all that it begins with.
    above = [update.path[:depth] for depth in range(len(update.path) + 1)]
    return {
        **{name: getattr(update, name) for name in _SAME},
        "t": t_index,
        "id_key": key_of(update.id),
        "source_key": None if update.source is None else key_of(update.source),
        "session_key": session_key,
        # In which statements follow each other: the session, else the update itself.
        "lane": f"{_RESERVED}{t_index}" if session_key is None else key_of(session_key),
        "timestamp": timestamp_text(update.timestamp),
        "said": microseconds(update.timestamp),
        "metadata": json_text(update.metadata),
        "metadata_entries": metadata_entries(update.metadata) or None,
        "path": None if update.key is None and not update.path else list(update.path),
        "item_key": None if update.key is None else item_key(update.path, update.key),
        "paths": None if update.key is None else [*map(path_key, above)],
        "expires_at": timestamp_text(update.expires_at),
        "expires": microseconds(update.expires_at),
        "withdrawn": update.withdrawn_t,
        "neighbours": _compact_json(rows) if rows else None,
    }


def statement_out(
    update: PreparedUpdate, statement: ExtractedStatement, vector: StatementVector | None
) -> dict[str, Any]:
    """The properties of a statement's node that it does not share with its update's."""
    return {
        "text": statement.text_in(update.text or ""),
        "start": statement.start,
        "end": statement.end,
        "content": content_out(statement),
        "length": len(content_terms(statement.terms)),
        "traits": int(statement.traits),
        "model": vector and vector.model,
        "blob": vector and vector.blob,
    }


def content_out(statement: ExtractedStatement) -> str:
    """The property of a statement's node that holds its terms and its concepts, as JSON, which is
    much smaller than lists of strings. A concept is its name, its label, its kind, and its
    reference where it has one."""
    concepts = [
        [mention.name, mention.label, mention.kind, *filter(None, [mention.reference])]
        for mention in statement.concepts
    ]
    return _compact_json([statement.terms, concepts])


def content_in(text: str) -> tuple[tuple[str, ...], tuple[ConceptMention, ...]]:
    """The terms and the concepts of a statement's node."""
    terms, rows = json.loads(text)
    concepts = tuple(
        ConceptMention(
            name=name,
            label=label,
            kind=kind,
            reference=Reference(*spans[0]) if spans else None,
        )
        for name, label, kind, *spans in rows
    )
    return tuple(terms), concepts


def _compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def counted_in(rows: Iterable[Sequence[Any]]) -> dict[str, ConceptTotals]:
    """The totals of concepts in rows of ``COUNT_TOUCHES``."""
    counted: dict[str, ConceptTotals] = {}
    for name, content, label, kind, t_index, updates, statements in rows:
        if content:
            first = next(each for each in content_in(content)[1] if each.name == name)
            label, kind = first.label, first.kind
        counted[name] = ConceptTotals(label, kind, t_index, updates, statements)
    return counted


def passage_in(row: Sequence[Any]) -> Passage:
    """The passage of a row of ``PASSAGES``."""
    id, t, text, metadata, others = row
    node = {"id": id, "t": t, "text": text, "metadata": metadata, **others}
    return Passage(**passage_fields(node, others["path"] or ()))


def statement_in(row: Sequence[Any]) -> StoredStatement:
    """The statement of a row of ``STATEMENTS``."""
    key, id, text, metadata, content, traits, start, end, others, _ = row
    timestamp, *said, previous, next, path = others
    item_path = None if path is None else tuple(path)
    before = key, id, text, unpack_timestamp(timestamp), *said, mapping_of(metadata)
    after = Trait(traits), previous, next, item_path, start, end
    return StoredStatement._make((*before, *content_in(content), *after))


def summary_out(summary: Summary) -> dict[str, Any]:
    """The properties of a concept's node that hold its summary."""
    return {
        "summary_t": summary.t_index,
        "summary": summary.text,
        "summary_terms": json.dumps(summary.terms),
        "summary_traits": int(summary.traits),
    }


def postings_in(row: Sequence[Any]) -> tuple[str, Postings]:
    """The name of a row of ``POSTINGS``, and its postings."""
    name, total, texts, sessions = row
    numbers = np.array("".join(texts).split(), dtype=np.int64).reshape(-1, 3)
    return name, Postings(
        statements=total,
        keys=numbers[:, 0],
        sessions=numbers[:, 1],
        counts=numbers[:, 2],
        session_keys=dict(sessions),
    )


def update_in(row: Sequence[Any]) -> PreparedUpdate:
    """The update of a row of ``UPDATES``."""
    t, node, said, shown = row
    is_passage = node.get("id") is not None
    return update_of(
        t,
        passage_fields(node, node.get("path") or ()) if is_passage else None,
        session_key=node.get("session_key"),
        speaker_concept=node.get("speaker_concept"),
        neighbours=json.loads(node.get("neighbours") or "[]"),
        said=[
            (key, start, end, *content_in(content), traits)
            for key, start, end, content, traits, _ in said
        ],
        # Else the vector is being written.
        vectors=[(key, *vector) for key, *_, vector in said if None not in vector],
        shown=[
            evidence_of(
                key if isinstance(key, str) else tuple(key),
                at,
                properties,
                description,
                dict(vectors),
            )
            for key, at, properties, description, vectors in shown
        ],
    )
