"""Writing numbered updates: from updates with a t to the final values of all rows.

`UpdateWriter` writes for `apply` and for `restore`. It gathers a batch, looks all stored rows up at
once, adds the batch in order of its updates, and writes all changed rows at once.

* Totals grow by what an update shows. A concept's totals are counted anew (`Rows.count_touches`)
  only where growing them would be wrong: evidence at a t that is not the concept's latest, an
  entity that moves to another concept, a label that changes.
* Properties of an entity or a triplet are those of its evidence, merged in order of ``at``. Its
  evidence is read only where new properties do not come after all that is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recallm.errors import InvalidInputError, UnknownEntityError
from recallm.model import (
    ConceptMention,
    EntityUpsert,
    PreparedUpdate,
    TripletUpsert,
    empty_mapping,
    statement_key,
)
from recallm.stores.semantics.rows import (
    Changes,
    ConceptTotals,
    EntityRow,
    Evidence,
    Keys,
    NamespaceTotals,
    Pair,
    RelationTotals,
    Rows,
    SessionTotals,
    TripletKey,
    TripletRow,
    t_of,
)
from recallm.stores.semantics.sessions import stored_session_key

__all__ = [
    "UpdateWriter",
    "merged",
    "pairs_of",
    "recount_concepts",
]

_NO_CONCEPT = ConceptMention(name="", label="", kind="entity")


def pairs_of(update: PreparedUpdate) -> set[Pair]:
    """The relations that an update shows."""
    return {(n.a, n.b) for n in update.neighbours}


def merged(base: Mapping[str, Any], evidence: Mapping[int, Mapping[str, Any]]) -> Mapping[str, Any]:
    """``base`` and the properties of evidence, merged in order of ``at``: a later value replaces an
    earlier one of the same key."""
    properties = dict(base)
    for at in sorted(evidence):
        properties.update(evidence[at])
    return properties


def recount_concepts(
    rows: Rows, namespace: NamespaceTotals, names: Iterable[str], known: Mapping[str, object]
) -> int:
    """Write the totals of concepts as counted from what is stored now, and delete those of the
    ``known`` ones that nothing touches any more; how many were deleted."""
    listed = sorted(set(names))
    if not listed:
        return 0
    counted = rows.count_touches(listed)
    gone = [name for name in listed if name not in counted and name in known]
    if gone:
        rows.drop_summaries(dict.fromkeys(gone, 0))
    rows.write(Changes(namespace=namespace, concepts={**counted, **dict.fromkeys(gone)}))
    return len(gone)


@dataclass(slots=True)
class _Properties:
    """The properties of one entity or triplet while a batch is added."""

    base: Mapping[str, Any] = field(default_factory=empty_mapping)
    evidence: dict[int, Mapping[str, Any]] = field(default_factory=dict)

    def add(self, at: int, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        """Add properties to the evidence at ``at``; all that it has now."""
        if properties or at not in self.evidence:
            self.evidence[at] = {**self.evidence.get(at, {}), **properties}
        return self.evidence[at]


class UpdateWriter:
    """Writes numbered updates in batches.

    With ``late_entities`` (`restore`), a triplet may name an entity that a later update brings;
    ``missing`` holds the ids that no update has brought yet.
    """

    def __init__(
        self, rows: Rows, namespace: NamespaceTotals, *, late_entities: bool = False
    ) -> None:
        self._rows = rows
        self._namespace = namespace
        self._late_entities = late_entities
        self.missing: set[str] = set()

    def write(
        self, updates: Sequence[PreparedUpdate], vector_sizes: Mapping[str, int] | None = None
    ) -> None:
        """Write updates that have a t. An update with an id but without a text joins the stored
        passage at its t. ``vector_sizes``: models whose size in bytes is new.

        Raises:
            UnknownEntityError: a triplet names an entity that does not exist.
            InvalidInputError: a neighbour pair names a concept that no statement mentions.
        """
        known = self._known = self._rows.look_up(_keys_of(updates))
        # All rows that were looked up change; the batch adds to them in place.
        self._changes = Changes(
            namespace=self._namespace,
            concepts=dict(known.concepts),
            terms=known.terms,
            sessions=known.sessions,
            relations=dict(known.relations),
            vector_sizes=dict(vector_sizes or {}),
        )
        late = self._late_evidence(updates)
        self._entities = {
            id: _Properties(evidence=late.entities[id])
            if id in late.entities
            else _Properties(row.properties)
            for id, row in known.entities.items()
        }
        self._triplets = {
            key: _Properties(evidence=late.triplets[key])
            if key in late.triplets
            else _Properties(row.properties)
            for key, row in known.triplets.items()
        }
        self._recount: set[str] = set()
        for update in updates:
            self._add(update)
        for id, entity in self._changes.entities.items():
            if entity is not None:
                entity.properties = merged(self._entities[id].base, self._entities[id].evidence)
        for key, triplet in self._changes.triplets.items():
            if triplet is not None:
                triplet.properties = merged(self._triplets[key].base, self._triplets[key].evidence)
        self._rows.write(self._changes)
        recount_concepts(self._rows, self._namespace, self._recount, self._changes.concepts)

    def _late_evidence(self, updates: Sequence[PreparedUpdate]) -> Evidence:
        """All evidence of what gets properties at an ``at`` that is not after its latest one."""
        known = self._known
        entities: set[str] = set()
        triplets: set[TripletKey] = set()
        for update in updates:
            for e in update.entities:
                at = statement_key(t_of(update), e.position)
                row = known.entities.get(e.id)
                if e.properties and not e.mentioned and row is not None and at <= row.latest:
                    entities.add(e.id)
            for x in update.triplets:
                at, key = statement_key(t_of(update), x.position), _key_of(x)
                if x.properties and key in known.triplets and at <= known.triplets[key].latest:
                    triplets.add(key)
        return self._rows.evidence(entities, triplets) if entities or triplets else Evidence()

    def _add(self, update: PreparedUpdate) -> None:
        if update.text is not None:
            self._add_passage(update)
        elif not update.id:
            self._changes.passages.append((None, update))
        for entity in update.entities:
            self._add_entity(t_of(update), entity)
        for triplet in update.triplets:
            self._add_triplet(t_of(update), triplet)

    # -- passages ----------------------------------------------------------------------------

    def _add_passage(self, update: PreparedUpdate) -> None:
        changes, namespace, terms = self._changes, self._namespace, self._changes.terms
        t_index = t_of(update)
        changes.passages.append((None, update))
        statements = sorted(update.statements, key=lambda statement: statement.position)
        names: set[str] = set()
        length = 0
        for statement in statements:
            length += statement.length
            for mention in statement.concepts:
                self._touch(mention, t_index, is_mention=True)
                names.add(mention.name)
            for stem in set(statement.terms):
                terms[stem] = terms.get(stem, 0) + 1
        namespace.statements += len(statements)
        namespace.terms += length
        key = stored_session_key(update)
        if key is not None:
            session = changes.sessions.setdefault(key, SessionTotals())
            namespace.sessions += bool(statements) and not session.statements
            session.statements += len(statements)
            session.terms += length
        for pair in pairs_of(update):
            if not names.issuperset(pair):
                name = pair[0] if pair[0] not in names else pair[1]
                raise InvalidInputError(
                    f"a neighbour pair names {name!r}, which no statement mentions",
                    argument="neighbours",
                )
            relation = changes.relations.get(pair)
            if relation is None:
                relation = changes.relations[pair] = RelationTotals(0, 0)
            relation.strength += 1
            relation.t_index = t_index
            changes.relation_evidence.setdefault(pair, {})[t_index] = relation.strength

    def _touch(self, mention: ConceptMention, t_index: int, *, is_mention: bool) -> None:
        """Count that the update ``t_index`` touches a concept, by a statement or by an entity."""
        name = mention.name
        totals = self._changes.concepts.get(name)
        if totals is None:
            totals = self._changes.concepts[name] = ConceptTotals(
                mention.label, mention.kind, t_index, 1, 0
            )
        elif t_index > totals.t_index:
            totals.t_index = t_index
            totals.updates += 1
        elif t_index < totals.t_index:
            self._recount.add(name)
        if is_mention:
            if not totals.statements:
                totals.label, totals.kind = mention.label, mention.kind
            totals.statements += 1
        elif not totals.statements and (totals.label, totals.kind) != (mention.label, mention.kind):
            self._recount.add(name)

    # -- entities and triplets ---------------------------------------------------------------

    def _add_entity(self, t_index: int, upsert: EntityUpsert) -> None:
        row = self._known.entities.get(upsert.id)
        is_new = row is None or upsert.id in self.missing
        self.missing.discard(upsert.id)
        if row is None:
            row = self._new_entity(upsert.id)
        stays = upsert.mentioned and not is_new
        if not stays:
            if not is_new and row.concept.name != upsert.concept.name:
                self._recount.update({row.concept.name, upsert.concept.name} - {""})
            row.type, row.concept = upsert.type, upsert.concept
            for model, blob in upsert.vectors.items():
                self._changes.entity_vectors[upsert.id, model] = blob
        at = statement_key(t_index, upsert.position)
        properties = empty_mapping() if stays else upsert.properties
        evidence = self._entities[upsert.id].add(at, properties)
        self._changes.entity_evidence[upsert.id, at] = evidence
        row.latest = max(row.latest, at)
        self._changes.entities[upsert.id] = row
        if row.concept.name:
            self._touch(row.concept, t_index, is_mention=False)

    def _add_triplet(self, t_index: int, upsert: TripletUpsert) -> None:
        for id in (upsert.subject, upsert.object):
            if id not in self._known.entities:
                if not self._late_entities:
                    raise UnknownEntityError(id)
                self._changes.entities[id] = self._new_entity(id)
                self.missing.add(id)
        key = _key_of(upsert)
        row = self._known.triplets.get(key)
        if row is None:
            row = self._known.triplets[key] = TripletRow(empty_mapping(), -1)
            self._triplets[key] = _Properties()
        at = statement_key(t_index, upsert.position)
        evidence = self._triplets[key].add(at, upsert.properties)
        self._changes.triplet_evidence[key, at] = evidence
        row.latest = max(row.latest, at)
        self._changes.triplets[key] = row

    def _new_entity(self, id: str) -> EntityRow:
        row = self._known.entities[id] = EntityRow("", _NO_CONCEPT, empty_mapping(), -1)
        self._entities[id] = _Properties()
        return row


def _keys_of(updates: Sequence[PreparedUpdate]) -> Keys:
    """The keys of all rows that updates touch."""
    concepts: set[str] = set()
    terms: set[str] = set()
    entities: set[str] = set()
    for update in updates:
        for statement in update.statements:
            concepts.update(mention.name for mention in statement.concepts)
            terms.update(statement.terms)
        for entity in update.entities:
            entities.add(entity.id)
            if entity.concept.name:
                concepts.add(entity.concept.name)
        for triplet in update.triplets:
            entities.update((triplet.subject, triplet.object))
    keys = {stored_session_key(update) for update in updates if update.text is not None}
    return Keys(
        concepts=concepts,
        terms=terms,
        sessions={key for key in keys if key is not None},
        relations={pair for update in updates for pair in pairs_of(update)},
        entities=entities,
        triplets={_key_of(x) for update in updates for x in update.triplets},
    )


def _key_of(triplet: TripletUpsert) -> TripletKey:
    return triplet.subject, triplet.predicate, triplet.object
