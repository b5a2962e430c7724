"""Writing numbered updates: from updates with a t to the final values of all rows.

`UpdateWriter` writes for `apply` and for `restore`. It gathers a batch, looks all stored rows up at
once, adds the batch in order of its updates, and writes all changed rows at once.

* Totals grow by what an update shows. A concept's totals are counted anew (`Rows.count_touches`)
  only where growing them would be wrong: evidence at a t that is not the concept's latest, an
  entity that moves to another concept, a label that changes.
* An element (an entity or a triplet) is what its evidence makes of it (`rows.ElementRow`). Stored
  evidence is read only where new evidence does not come after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from recallm.errors import InvalidInputError, UnknownEntityError
from recallm.model import (
    ConceptMention,
    ElementKey,
    EntityUpsert,
    ExtractedStatement,
    PreparedUpdate,
    TripletUpsert,
    content_terms,
    statement_key,
    t_index_of,
)
from recallm.stores.semantics.rows import (
    Changes,
    ConceptTotals,
    ElementRow,
    Evidence,
    Keys,
    NamespaceTotals,
    Pair,
    Rows,
    SessionTotals,
    is_bare,
    stored_session_key,
    t_of,
)


def pairs_of(update: PreparedUpdate) -> set[Pair]:
    """The relations that an update shows."""
    return {(n.a, n.b) for n in update.neighbours}


def antecedents_in(statement: ExtractedStatement) -> set[str]:
    """The ids of the other passages that a statement's references name."""
    references = (mention.reference for mention in statement.concepts)
    return {r.antecedent for r in references if r is not None and r.antecedent is not None}


def antecedents(updates: Iterable[PreparedUpdate]) -> set[str]:
    """The ids of the passages that updates' references name."""
    return {id for u in updates for statement in u.statements for id in antecedents_in(statement)}


def keys_of(updates: Iterable[PreparedUpdate]) -> Keys:
    """The keys of the rows that updates touch."""
    keys = Keys()
    for update in updates:
        for statement in update.statements:
            keys.concepts.update(mention.name for mention in statement.concepts)
            keys.terms.update(statement.terms)
        session = stored_session_key(update)
        if update.text is not None and session is not None:
            keys.sessions.add(session)
        for entity in update.entities:
            keys.elements.add(entity.id)
            if entity.concept.name:
                keys.concepts.add(entity.concept.name)
        for triplet in update.triplets:
            keys.elements.update((triplet.element, triplet.subject, triplet.object))
            keys.predicates.add(triplet.predicate)
    return keys


def count_statements(changes: Changes, update: PreparedUpdate, sign: int) -> None:
    """Add (``sign`` 1) the statements of an update to the totals of stems, of its session and of
    the namespace, or subtract them (-1)."""
    namespace, terms = changes.namespace, changes.terms
    statements = sign * len(update.statements)
    words = map(content_terms, [statement.terms for statement in update.statements])
    length = sign * sum(map(len, words))
    for statement in update.statements:
        for stem in set(statement.terms):
            terms[stem] = terms.get(stem, 0) + sign
    namespace.statements += statements
    namespace.terms += length
    key = stored_session_key(update)
    if update.text is not None and key is not None:
        session = changes.sessions.setdefault(key, SessionTotals())
        namespace.sessions -= bool(session.statements)
        session.statements += statements
        session.terms += length
        namespace.sessions += bool(session.statements)


def count_triplets(
    changes: Changes, stored: Mapping[str, int], predicate: str, change: int
) -> None:
    """Add to the triplets that have a predicate; ``stored`` are their numbers before."""
    before = changes.predicates.get(predicate, stored.get(predicate, 0))
    changes.predicates[predicate] = before + change
    changes.namespace.vocabulary += 0 in (before, before + change)


def write_counted_concepts(
    rows: Rows, namespace: NamespaceTotals, left: Mapping[str, tuple[int, int] | None]
) -> int:
    """Write the totals that `Rows.count_touches` gives for these concepts, and delete those that
    nothing touches any more, with their summaries; how many were deleted."""
    if not left:
        return 0
    concepts: dict[str, ConceptTotals | None] = {**dict.fromkeys(left), **rows.count_touches(left)}
    gone = [name for name, totals in concepts.items() if totals is None]
    if gone:
        rows.drop_summaries(dict.fromkeys(gone, 0))
    rows.write(Changes(namespace=namespace, concepts=concepts))
    return len(gone)


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

    def write(self, updates: Sequence[PreparedUpdate]) -> None:
        """Write updates that have a t. An update with an id but without a text joins the stored
        passage at its t.

        Raises:
            UnknownEntityError: a triplet names an entity that does not exist.
            InvalidInputError: a neighbour pair names a concept that no statement mentions.
        """
        known = self._rows.look_up(keys_of(updates))
        # All rows that were looked up change, but for some elements; the batch adds to them in
        # place.
        self._changes = Changes(
            namespace=self._namespace,
            concepts=dict(known.concepts),
            terms=known.terms,
            sessions=known.sessions,
        )
        self._predicates = known.predicates
        self._elements = known.elements
        self._evidence: dict[ElementKey, dict[int, Evidence]] = {}
        self._late: list[tuple[ElementKey, int, Evidence]] = []
        self._recount: set[str] = set()
        for update in updates:
            if update.text is not None:
                self._add_passage(update)
            elif not update.id:
                self._changes.passages.append((None, update))
            for entity in sorted(update.entities, key=attrgetter("position")):
                self._add_element(t_of(update), entity)
            for triplet in update.triplets:
                self._add_element(t_of(update), triplet)
        self._add_late()
        self._rows.write(self._changes)
        recount = dict.fromkeys(sorted(self._recount))
        write_counted_concepts(self._rows, self._namespace, recount)

    # -- passages ----------------------------------------------------------------------------

    def _add_passage(self, update: PreparedUpdate) -> None:
        changes = self._changes
        t_index = t_of(update)
        changes.passages.append((None, update))
        count_statements(changes, update, 1)
        names: set[str] = set()
        for statement in sorted(update.statements, key=lambda statement: statement.position):
            for mention in statement.concepts:
                self._touch(mention, t_index, is_mention=True)
                names.add(mention.name)
        for pair in pairs_of(update):
            if not names.issuperset(pair):
                name = pair[0] if pair[0] not in names else pair[1]
                raise InvalidInputError(
                    f"a neighbour pair names {name!r}, which no statement mentions",
                    argument="neighbours",
                )

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

    def _add_element(self, t_index: int, upsert: Evidence) -> None:
        key, at = upsert.element, statement_key(t_index, upsert.position)
        if isinstance(upsert, TripletUpsert):
            for id in (upsert.subject, upsert.object):
                self._require_entity(id)
            if key not in self._elements:
                count_triplets(self._changes, self._predicates, upsert.predicate, 1)
        else:
            self.missing.discard(upsert.id)
        row = self._changes.elements[key] = self._elements.setdefault(key, ElementRow())
        is_new, before = row.latest < 0, row.concept.name
        if isinstance(upsert, EntityUpsert) and (is_new or not upsert.mentioned):
            for model, blob in upsert.vectors.items():
                self._changes.entity_vectors[upsert.id, model] = blob
        if at > row.latest:
            row.add(at, upsert)
            self._evidence.setdefault(key, {})[at] = upsert
        elif at < row.latest or not is_bare(upsert):
            self._late.append((key, at, upsert))
        if not is_new and before != row.concept.name:
            self._recount |= {before, row.concept.name} - {""}
        if row.concept.name:
            self._touch(row.concept, t_index, is_mention=False)

    def _require_entity(self, id: str) -> None:
        if id not in self._elements:
            if not self._late_entities:
                raise UnknownEntityError(id)
            self._changes.elements[id] = self._elements[id] = ElementRow()
            self.missing.add(id)

    def _add_late(self) -> None:
        """Add the evidence that comes before some that is there."""
        late = {key for key, _, _ in self._late}
        stored = self._rows.evidence(late) if late else {}
        for key, at, evidence in self._late:
            own = self._evidence.setdefault(key, {})
            if there := own.get(at) or stored.get(key, {}).get(at):
                properties = {**there.properties, **evidence.properties}
                evidence = there if is_bare(evidence) else replace(evidence, properties=properties)
            own[at] = evidence
        for key in late:
            before = self._elements[key].concept
            row = ElementRow.of({**stored.get(key, {}), **self._evidence[key]})
            self._changes.elements[key] = row
            if row.concept != before:
                self._recount |= {before.name, row.concept.name} - {""}
                if row.concept.name:
                    self._touch(row.concept, t_index_of(row.latest), is_mention=False)
        self._changes.element_evidence.update(
            {key: dict(shown) for key, shown in self._evidence.items()}
        )
