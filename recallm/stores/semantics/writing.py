"""Writing and forgetting updates: from updates before and after to the final values of all rows.

Whatever is written, amended or forgotten goes through a `Ledger`, as updates before and after.
`Ledger.write` looks all stored rows of a batch up at once, counts, and writes all changed rows at
once; `Ledger.settle` ends the transaction's part with what has to be read again:

* Totals grow and shrink by what updates show. A concept's totals are counted anew
  (`Rows.count_touches`) where that would be wrong: for a mention or evidence that is lost, evidence
  at a t that is not the latest, an entity that moves to another concept, a label that changes.
* An element (an entity or a triplet) is what its evidence makes of it (`rows.ElementRow`). Stored
  evidence is read only where some goes, or where new evidence does not come after it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias

from recallm.errors import InvalidInputError, UnknownEntityError
from recallm.model import (
    ConceptMention,
    ElementKey,
    EntityUpsert,
    ExtractedStatement,
    Forgotten,
    PreparedUpdate,
    Reference,
    TripletUpsert,
    content_terms,
    statement_key,
    t_index_of,
)
from recallm.stores.semantics.cutting import spelled, without_elements, without_mentions
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

Left: TypeAlias = Callable[[PreparedUpdate], PreparedUpdate | None]
"""What is left of an update; None for nothing, the update itself where it stays as it is."""

_CHUNK = 500
"""Stored updates whose rows are held in memory at a time."""


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


class Ledger:
    """Writes what becomes of updates, and puts every total right.

    With ``missing`` (`restore`), a triplet may name an entity that a later update brings; the set
    holds the ids that no update has brought yet.
    """

    def __init__(
        self, rows: Rows, namespace: NamespaceTotals, *, missing: set[str] | None = None
    ) -> None:
        self._rows = rows
        self._namespace = namespace
        self._missing = missing
        self._counts: Counter[str] = Counter()
        """What is forgotten, by the fields of ``Forgotten``."""
        self._first: dict[str, int] = {}
        """Concept → the first t from which on a summary says too much, or too little."""
        self._recount: set[str] = set()
        """The concepts that are counted anew."""
        self._shown: dict[ElementKey, dict[int, Evidence]] = {}
        """The whole evidence of the elements that are made anew."""
        self._predicates: dict[str, int] = {}
        self._gone: set[str] = set()
        """The ids of the passages that are forgotten."""
        self._unspelled: defaultdict[str, set[str]] = defaultdict(set)
        """The ids of the passages that are cut → the concepts that they spell no more."""
        self._referring: set[int] = set()
        """The t of the updates that refer to a passage in ``_gone`` or ``_unspelled``."""

    def change(self, ts: Iterable[int], left: Left) -> None:
        """Write what is ``left`` of the stored updates at these t; drop the mentions by reference
        to what is gone."""
        ordered = sorted(ts)
        for first in range(0, len(ordered), _CHUNK):
            self._change(ordered[first : first + _CHUNK], left)
        while referring := sorted(self._referring)[:_CHUNK]:
            self._referring.difference_update(referring)
            self._change(referring, self._without_lost_mentions)

    def _change(self, ts: list[int], left: Left) -> None:
        changes = [(update, left(update)) for update in self._rows.updates(ts)]
        self.write([(before, after) for before, after in changes if after is not before])

    def _without_lost_mentions(self, update: PreparedUpdate) -> PreparedUpdate:
        def is_lost(name: str, reference: Reference) -> bool:
            id = reference.antecedent  # None: see `cut`
            return id is not None and (id in self._gone or name in self._unspelled.get(id, ()))

        return without_mentions(update, is_lost)

    def drop(self, elements: set[ElementKey]) -> None:
        """Forget entities, with their triplets, and triplets."""
        ids = {key for key in elements if isinstance(key, str)}
        doomed = elements | self._rows.triplets_of(ids)
        self.change(self.showing(doomed), partial(without_elements, elements=doomed))

    def showing(self, elements: set[ElementKey]) -> set[int]:
        """The t of the updates that show at least one of ``elements``."""
        known = self._rows.look_up(Keys(elements=elements)).elements
        evidence = self._rows.evidence(known.keys())
        return {t_index_of(at) for shown in evidence.values() for at in shown}

    def write(self, changed: Iterable[tuple[PreparedUpdate | None, PreparedUpdate | None]]) -> None:
        """Write updates that have a t, (before, after): a new one has no before, a forgotten one no
        after. A new one with an id but without a text joins the stored passage at its t.

        Raises:
            UnknownEntityError: a triplet names an entity that does not exist.
            InvalidInputError: a neighbour pair names a concept that no statement mentions.
        """
        changed = list(changed)
        if not changed:
            return
        self._known = self._rows.look_up(keys_of(u for pair in changed for u in pair if u))
        self._predicates.update(self._known.predicates)
        self._changes = Changes(namespace=self._namespace)
        self._late: list[tuple[ElementKey, int, Evidence | None]] = []
        for before, after in changed:
            if before is not None:
                self._lose(before, after)
            elif after is not None:
                self._add(after)
        ids = {before.id for before, _ in changed if before}
        if ids := ids.intersection(self._gone | self._unspelled.keys()):
            # As long as the passages are there: a store may find references through them.
            self._referring.update(self._rows.referring(ids))
        if self._late:
            self._read_evidence()
        self._counts["relations"] += self._rows.write(self._changes)

    # -- passages ----------------------------------------------------------------------------

    def _add(self, update: PreparedUpdate) -> None:
        t_index = t_of(update)
        if update.text is not None or not update.id:
            self._changes.passages.append((None, update))
        self._count_statements(update, 1)
        names: set[str] = set()
        for statement in sorted(update.statements, key=attrgetter("position")):
            for mention in statement.concepts:
                self._touch(mention, t_index, is_mention=True)
                names.add(mention.name)
        if not names.issuperset(chain.from_iterable(pairs_of(update))):
            raise InvalidInputError(
                "a neighbour pair names a concept that no statement mentions",
                argument="neighbours",
            )
        for entity in sorted(update.entities, key=attrgetter("position")):
            self._add_element(t_index, entity)
        for triplet in update.triplets:
            self._add_element(t_index, triplet)

    def _lose(self, before: PreparedUpdate, after: PreparedUpdate | None) -> None:
        """Count what an update loses."""
        t_index = t_of(before)
        self._changes.passages.append((before, after))
        if after is None:
            close_session(self._namespace, t_index)
            if before.text is not None:
                self._counts["passages"] += 1
                self._gone.add(before.id)
        elif lost := spelled(before) - spelled(after):
            self._unspelled[before.id] |= lost
        self._namespace.revision += before.vectors != (after.vectors if after else ())
        if after is None or after.statements is not before.statements:
            self._lose_statements(before, after)
        if after and after.withdrawn_t != before.withdrawn_t:
            self._outdate_summaries(_mentions_of(before), t_index)
        left = {(e.element, e.position) for e in after.elements} if after else set()
        self._late += [
            (e.element, statement_key(t_index, e.position), None)
            for e in before.elements
            if (e.element, e.position) not in left
        ]

    def _lose_statements(self, before: PreparedUpdate, after: PreparedUpdate | None) -> None:
        self._count_statements(before, -1)
        self._counts["statements"] += len(before.statements)
        if after is not None:
            self._count_statements(after, 1)
            self._counts["statements"] -= len(after.statements)
        lost = _mentions_of(before) - _mentions_of(after)
        self._outdate_summaries(lost, t_of(before))
        for name in lost:
            self._changes.concepts[name] = self._known.concepts[name]
        self._recount |= lost.keys()

    def _count_statements(self, update: PreparedUpdate, sign: int) -> None:
        """Add (``sign`` 1) the statements of an update to the totals of stems, of its session and
        of the namespace, or subtract them (-1)."""
        namespace, terms, changed = self._namespace, self._known.terms, self._changes.terms
        statements = sign * len(update.statements)
        words = map(content_terms, [statement.terms for statement in update.statements])
        length = sign * sum(map(len, words))
        for statement in update.statements:
            for stem in set(statement.terms):
                terms[stem] = changed[stem] = terms.get(stem, 0) + sign
        namespace.statements += statements
        namespace.terms += length
        key = stored_session_key(update)
        if update.text is not None and key is not None:
            session = self._known.sessions.setdefault(key, SessionTotals())
            self._changes.sessions[key] = session
            namespace.sessions -= bool(session.statements)
            session.statements += statements
            session.terms += length
            namespace.sessions += bool(session.statements)

    def _outdate_summaries(self, names: Iterable[str], t_index: int) -> None:
        for name in names:
            self._first[name] = min(t_index, self._first.get(name, t_index))

    def _touch(self, mention: ConceptMention, t_index: int, *, is_mention: bool) -> None:
        """Count that the update ``t_index`` touches a concept, by a statement or by an entity."""
        name = mention.name
        totals = self._known.concepts.get(name)
        if totals is None:
            totals = ConceptTotals(mention.label, mention.kind, t_index, 1, 0)
            self._known.concepts[name] = totals
        elif t_index > totals.t_index:
            totals.t_index = t_index
            totals.updates += 1
        elif t_index < totals.t_index:
            self._recount.add(name)
        self._changes.concepts[name] = totals
        if is_mention:
            if not totals.statements:
                totals.label, totals.kind = mention.label, mention.kind
            totals.statements += 1
        elif not totals.statements and (totals.label, totals.kind) != (mention.label, mention.kind):
            self._recount.add(name)

    # -- entities and triplets ---------------------------------------------------------------

    def _add_element(self, t_index: int, upsert: Evidence) -> None:
        key, at = upsert.element, statement_key(t_index, upsert.position)
        elements = self._known.elements
        if isinstance(upsert, TripletUpsert):
            for id in (upsert.subject, upsert.object):
                self._require_entity(id)
            if key not in elements:
                self._count_triplets(self._changes, upsert.predicate, 1)
        elif self._missing:
            self._missing.discard(upsert.id)
        row = self._changes.elements[key] = elements.setdefault(key, ElementRow())
        is_new, before = row.latest < 0, row.concept.name
        if isinstance(upsert, EntityUpsert) and (is_new or not upsert.mentioned):
            for model, blob in upsert.vectors.items():
                self._changes.entity_vectors[upsert.id, model] = blob
        if at > row.latest:
            row.add(at, upsert)
            self._changes.element_evidence.setdefault(key, {})[at] = upsert
        elif at < row.latest or not is_bare(upsert):
            self._late.append((key, at, upsert))
        if not is_new and before != row.concept.name:
            self._recount |= {before, row.concept.name}
        if row.concept.name:
            self._touch(row.concept, t_index, is_mention=False)

    def _require_entity(self, id: str) -> None:
        if id not in self._known.elements:
            if self._missing is None:
                raise UnknownEntityError(id)
            self._changes.elements[id] = self._known.elements[id] = ElementRow()
            self._missing.add(id)

    def _count_triplets(self, changes: Changes, predicate: str, change: int) -> None:
        before = self._predicates.get(predicate, 0)
        changes.predicates[predicate] = self._predicates[predicate] = before + change
        self._namespace.vocabulary += 0 in (before, before + change)

    def _read_evidence(self) -> None:
        """Read the evidence of the elements that lose some (None), or get some before what is
        there, and change it."""
        keys = {key for key, _, _ in self._late}
        stored = self._rows.evidence(keys - self._shown.keys())
        evidence = self._changes.element_evidence
        for key, at, late in self._late:
            shown = self._shown.setdefault(key, stored.get(key, {}))
            own = evidence.setdefault(key, {})
            there = own.get(at) or shown.get(at)
            if late and there:
                properties = {**there.properties, **late.properties}
                late = there if is_bare(late) else replace(late, properties=properties)
            own[at] = late
        for key in keys:
            self._recount.add(self._known.elements[key].concept.name)
            now = {**self._shown[key], **evidence[key]}
            self._shown[key] = {at: shown for at, shown in now.items() if shown}

    # -- the end -----------------------------------------------------------------------------

    def settle(self) -> Forgotten:
        """Make elements and count concepts anew that lost something; delete those of which nothing
        is left, with the triplets of deleted entities. How much was forgotten."""
        if self._shown:
            self._settle_elements()
        if self._first:
            self._counts["summaries"] = self._rows.drop_summaries(self._first)
        self._settle_concepts()
        counts: dict[str, Any] = dict(self._counts)
        return Forgotten(**counts)

    def _orphans(self) -> set[ElementKey]:
        """The triplets that lost an end, and have evidence still."""
        gone = {key for key, shown in self._shown.items() if not shown}
        ids = {key for key in gone if isinstance(key, str)}
        orphans: set[ElementKey] = {*self._rows.triplets_of(ids)} if ids else set()
        return orphans - gone

    def _settle_elements(self) -> None:
        while orphans := self._orphans():
            self.drop(orphans)
            for key in orphans:
                self._shown.setdefault(key, {})  # damage may have taken all evidence
        changes = Changes(namespace=self._namespace)
        concepts: dict[str, ConceptMention] = {}
        for key, shown in self._shown.items():
            if shown:
                row = changes.elements[key] = ElementRow.of(shown)
                concepts[row.concept.name] = row.concept
            else:
                changes.elements[key] = None
                self._counts["entities" if isinstance(key, str) else "triplets"] += 1
                if not isinstance(key, str):
                    self._count_triplets(changes, key[1], -1)
        concepts.pop("", None)
        self._recount |= concepts.keys()
        # An entity goes back to a concept that may be gone; it is counted last of all.
        known = self._rows.look_up(Keys(concepts=set(concepts))).concepts
        changes.concepts = {
            name: ConceptTotals(concept.label, concept.kind, 0, 0, 0)
            for name, concept in concepts.items()
            if name not in known
        }
        self._rows.write(changes)

    def _settle_concepts(self) -> None:
        """Write the totals of the concepts that are counted anew, and delete those that nothing
        touches any more, with their summaries."""
        names = sorted(self._recount - {""})
        if not names:
            return
        counted = self._rows.count_touches(names)
        concepts = {name: counted.get(name) for name in names}
        gone = [name for name, totals in concepts.items() if totals is None]
        if gone:
            self._rows.drop_summaries(dict.fromkeys(gone, 0))
        self._counts["concepts"] = len(gone)
        self._rows.write(Changes(namespace=self._namespace, concepts=concepts))


def close_session(namespace: NamespaceTotals, t_index: int) -> None:
    """Note that the update at this t is forgotten: no update continues its session."""
    if namespace.open_session and namespace.open_session.t_index == t_index:
        namespace.open_session = None


def _mentions_of(update: PreparedUpdate | None) -> Counter[str]:
    """How many statements of an update mention each concept."""
    statements = update.statements if update else ()
    return Counter(mention.name for s in statements for mention in s.concepts)
