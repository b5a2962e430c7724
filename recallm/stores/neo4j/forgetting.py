"""``forget``, inside of one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, LiteralString

from recallm.model import NO_POSITION, Forgotten, GraphNames, Selection, text_digest
from recallm.stores.cypher import forgetting as cypher
from recallm.stores.cypher.writing import CHANGE_VECTORS
from recallm.stores.neo4j.batch import triplet_key
from recallm.stores.neo4j.properties import EntityKey, TripletKey, merge_again
from recallm.stores.neo4j.transaction import Row, Tx, chunks, rows
from recallm.stores.neo4j.values import fresh_rows, key_of, micros
from recallm.stores.neo4j.writing import lock, recompute_concepts
from recallm.stores.semantics.forgetting import redact
from recallm.stores.sessions import session_key_of

__all__ = ["forget", "forget_updates"]

_LAST = 1 << 62
"""No t comes after it, and the server's integers hold it."""


def forget(tx: Tx, namespace: str, selection: Selection) -> Forgotten:
    """See ``GraphStore.forget``."""
    return _Forgetting(tx, lock(tx, namespace)["rows"]).forget(selection)


def forget_updates(tx: Tx, key: str, ts: Collection[int]) -> Forgotten:
    """Forget the updates at these t, as by their ids. The caller holds the namespace's lock;
    ``key`` is the namespace of its rows."""
    return _Forgetting(tx, key).forget_updates(ts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selected:
    """An update of which the statements ``keys`` are to go; ``whole`` where nothing stays."""

    t: int
    keys: frozenset[int]
    whole: bool
    derived: bool

    @property
    def positions(self) -> list[int]:
        return [key & NO_POSITION for key in self.keys]


@dataclass(slots=True)
class _Lost:
    """The entities and triplets that lost evidence, and those among them that lost what had
    properties."""

    entities: set[EntityKey] = field(default_factory=set)
    triplets: set[TripletKey] = field(default_factory=set)
    told_entities: set[EntityKey] = field(default_factory=set)
    told_triplets: set[TripletKey] = field(default_factory=set)


@dataclass(slots=True)
class _Forgetting:
    """One ``forget``, under the namespace's lock; ``_key`` is the namespace of
    its rows."""

    _tx: Tx
    _key: str
    _counted: Counter[str] = field(default_factory=Counter)
    _concepts: set[str] = field(default_factory=set)

    def forget(self, selection: Selection) -> Forgotten:
        if selection.kind == "everything":
            counts = self._rows(cypher.COUNT_EVERYTHING)[0]
            self._rows(cypher.FORGET_EVERYTHING, fresh=fresh_rows(), garbage=fresh_rows())
            return Forgotten(**counts)
        if isinstance(selection.value, GraphNames):
            return self._forget_graph(selection.value)
        entities: set[EntityKey] = set()
        if selection.kind == "concept":
            found = self._rows(cypher.ENTITIES_ON, value=key_of(str(selection.value)))
            entities = {row["entity"] for row in found}
        return self._forget(self._select(selection), entities)

    def _forgotten(self) -> Forgotten:
        counts: dict[str, Any] = dict(self._counted)
        return Forgotten(**counts)

    def forget_updates(self, ts: Collection[int]) -> Forgotten:
        found = [
            row for chunk in chunks(ts) for row in self._rows(cypher.SELECT["ts"], value=chunk)
        ]
        return self._forget(_selected(found), ())

    def _forget(self, selected: Sequence[_Selected], entities: Collection[str]) -> Forgotten:
        """Forget what is selected, and these entities with it."""
        for chunk in chunks(selected):
            self._forget_statements(chunk)
        lost = self._drop_shown(selected)
        for ts in chunks(it.t for it in selected if it.whole):
            self._counted["passages"] += self._rows(cypher.DELETE_UPDATES, ts=ts)[0]["passages"]
        self._delete_entities(entities, lost.entities)
        self._delete_unshown_triplets(lost.triplets)
        merge_again(self._tx, self._key, entities=lost.told_entities, triplets=lost.told_triplets)
        self._counted["concepts"] += self._recompute_concepts()
        return self._forgotten()

    def _forget_graph(self, names: GraphNames) -> Forgotten:
        self._delete_triplets([list(triplet_key(*triplet)) for triplet in names.triplets])
        self._delete_entities({key_of(id) for id in names.entities}, ())
        self._counted["concepts"] += self._recompute_concepts()
        return self._forgotten()

    def _rows(self, query: LiteralString, **parameters: Any) -> Sequence[Row]:
        return rows(self._tx, query, {"namespace": self._key, **parameters})

    def _select(self, selection: Selection) -> list[_Selected]:
        value = selection.value
        match selection.kind:
            case "statement":
                id, mark, position = str(value).rpartition("#")
                # Only what an id looks like: no sign, no leading zero, no other script's digits.
                if not mark or not position.isascii() or str(position) != str(_number(position)):
                    return []
                found = self._rows(
                    cypher.SELECT_STATEMENT, id=key_of(id), position=_number(position)
                )
            case "concept":
                found = self._rows(cypher.SELECT_CONCEPT, value=key_of(str(value)))
            case "expired" if isinstance(value, datetime):
                found = self._rows(
                    cypher.SELECT["expired"],
                    value=micros(value),
                    limit=_LAST if selection.limit is None else selection.limit,
                )
            case "before" if isinstance(value, datetime):
                found = self._rows(cypher.SELECT["said before"], value=micros(value))
            case "before" if isinstance(value, int):
                found = self._rows(cypher.SELECT["before"], value=min(value, _LAST))
            case "session":
                lane = key_of(session_key_of(str(value), None) or "")
                found = self._rows(cypher.SELECT["session"], value=lane)
            case kind:
                found = self._rows(cypher.SELECT[kind], value=key_of(str(value)))
        return _selected(found)

    def _forget_statements(self, selected: Sequence[_Selected]) -> None:
        """Statements with their mentions, postings, vectors, relations and summaries."""
        self._drop_evidence(selected)
        partial = {it.t: it for it in selected if not it.whole}
        if partial:
            self._redact(partial)
        for keys in chunks(key for it in selected for key in it.keys):
            touched = self._rows(cypher.LOST_CONCEPTS, keys=keys)
            self._concepts |= {row["concept"] for row in touched}
            gone = self._rows(cypher.DELETE_SUMMARIES, rows=[dict(row) for row in touched])
            self._counted["summaries"] += gone[0]["summaries"]
            self._rows(cypher.DELETE_STEMS, keys=keys)
            deleted = self._rows(cypher.DELETE_STATEMENTS, keys=keys)[0]
            self._counted["statements"] += deleted["statements"]
            if deleted["vectors"]:
                self._rows(CHANGE_VECTORS)
            self._recount(deleted["statements"], deleted["terms"], deleted["lanes"])

    def _drop_evidence(self, selected: Sequence[_Selected]) -> None:
        shown = [{"t": it.t, "whole": it.whole, "positions": it.positions} for it in selected]
        dropped = self._rows(cypher.DROP_EVIDENCE, rows=shown)
        pairs = sorted({(row["a"], row["b"]) for row in dropped})
        if pairs:
            counted = self._rows(cypher.RECOMPUTE_RELATIONS, pairs=[list(pair) for pair in pairs])
            self._counted["relations"] += counted[0]["relations"]

    def _redact(self, partial: Mapping[int, _Selected]) -> None:
        """Cut the statements that go out of the passages that stay."""
        cut: list[dict[str, Any]] = []
        for row in self._rows(cypher.PARTIAL, ts=list(partial)):
            gone = partial[row["t"]].keys
            text, spans = redact(
                row["text"],
                [(start, end) for _, start, end in row["spans"]],
                {place for place, (key, _, _) in enumerate(row["spans"]) if key in gone},
            )
            kept = [key for key, _, _ in row["spans"] if key not in gone]
            cut.append(
                {
                    "t": row["t"],
                    "text": text,
                    "digest": text_digest(text),
                    "spans": [[key, *span] for key, span in zip(kept, spans, strict=True)],
                }
            )
        self._rows(cypher.REDACT, rows=cut)

    def _recount(self, statements: int, terms: int, lanes: Collection[str]) -> None:
        for chunk in chunks(lanes):
            self._rows(cypher.RECOMPUTE_SESSIONS, lanes=chunk)
        self._rows(cypher.RECOMPUTE_NAMESPACE, statements=statements, terms=terms)

    def _drop_shown(self, selected: Sequence[_Selected]) -> _Lost:
        """Drop the evidence of entities and triplets."""
        lost = _Lost()
        for chunk in chunks(selected):
            gone = [{"t": it.t, "whole": it.whole, "keys": list(it.keys)} for it in chunk]
            row = self._rows(cypher.DROP_SHOWN, rows=gone)[0]
            lost.entities |= set(row["entities"])
            lost.triplets |= _triplet_keys(row["triplets"])
            lost.told_entities |= set(row["told_entities"])
            lost.told_triplets |= _triplet_keys(row["told_triplets"])
        return lost

    def _delete_entities(self, chosen: Collection[str], shown: Collection[str]) -> None:
        """Delete the entities ``chosen``, and of ``shown`` those that nothing shows any more."""
        doomed: list[str] = []
        for chunk in chunks({*chosen, *shown}):
            for row in self._rows(cypher.UNSHOWN_ENTITIES, entities=chunk):
                if row["concept"]:
                    self._concepts.add(key_of(row["concept"]))
                if row["entity"] in chosen or not row["shown"]:
                    doomed.append(row["entity"])
        for chunk in chunks(doomed):
            deleted = self._rows(cypher.DELETE_ENTITIES, entities=chunk)[0]
            self._counted["entities"] += deleted["entities"]
            self._counted["triplets"] += deleted["triplets"]
            self._rows(cypher.DELETE_EMPTY_UPDATES, ts=deleted["ts"])

    def _delete_unshown_triplets(self, shown: Collection[TripletKey]) -> None:
        for chunk in chunks(shown):
            unshown = self._rows(cypher.UNSHOWN_TRIPLETS, triplets=[list(key) for key in chunk])
            self._delete_triplets([row["triplet"] for row in unshown])

    def _delete_triplets(self, triplets: Sequence[Sequence[str]]) -> None:
        for chunk in chunks(triplets):
            deleted = self._rows(cypher.DELETE_TRIPLETS, triplets=chunk)[0]
            self._counted["triplets"] += deleted["triplets"]
            self._rows(cypher.DELETE_EMPTY_UPDATES, ts=deleted["ts"])

    def _recompute_concepts(self) -> int:
        return sum(
            recompute_concepts(self._tx, self._key, chunk) for chunk in chunks(self._concepts)
        )


def _selected(found: Iterable[Row]) -> list[_Selected]:
    return [
        _Selected(
            t=row["t"], keys=frozenset(row["keys"]), whole=row["whole"], derived=row["derived"]
        )
        for row in found
    ]


def _triplet_keys(found: Iterable[Sequence[str]]) -> set[TripletKey]:
    return {(subject, predicate, object) for subject, predicate, object in found}


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None
