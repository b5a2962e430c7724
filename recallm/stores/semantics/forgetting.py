"""`GraphStore.forget`: what goes with a statement, and every total without it.

What stays is counted and merged anew from what is left; from a concept that lost only mentions
these are subtracted. `references` says when a mention by reference goes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Any

from recallm.model import (
    ConceptMention,
    ElementKey,
    Forgotten,
    GraphNames,
    PreparedUpdate,
    Reference,
    Selection,
    parse_statement_id,
    statement_key,
    t_index_of,
)
from recallm.stores.semantics.cutting import (
    cut,
    spelled,
    without_concept,
    without_elements,
    without_mentions,
)
from recallm.stores.semantics.rows import (
    Changes,
    ConceptTotals,
    ElementRow,
    Keys,
    NamespaceTotals,
    Pair,
    Rows,
    t_of,
)
from recallm.stores.semantics.writing import (
    count_statements,
    count_triplets,
    keys_of,
    pairs_of,
    write_counted_concepts,
)

_CHUNK = 500
"""Updates whose rows are held in memory at a time."""


class DryRun(Exception):
    """Ends the transaction of a dry run; ``forgotten`` is what the selection would have taken."""

    def __init__(self, forgotten: Forgotten) -> None:
        super().__init__()
        self.forgotten = forgotten


def forget(rows: Rows, selection: Selection) -> Forgotten:
    """See `GraphStore.forget`.

    Raises:
        DryRun: ``selection`` is a dry run; the store rolls back.
    """
    forgotten = _forget(rows, selection)
    if selection.dry_run:
        raise DryRun(forgotten)
    return forgotten


def _forget(rows: Rows, selection: Selection) -> Forgotten:
    kind, value = selection.kind, selection.value
    id, position = parse_statement_id(str(value)) or ("", 0)
    opened = rows.open(ids=[id] if kind == "statement" else ())
    if kind == "everything":
        return _forget_everything(rows, opened.totals) if opened.totals.t else Forgotten()
    forgetting = _Forgetting(rows, opened.totals)
    if isinstance(value, GraphNames):
        forgetting.forget_elements(value.entities | value.triplets)
    elif kind == "concept":
        forgetting.forget_concept(str(value))
    elif kind == "statement":
        ts = [opened.passages[id][0]] if id in opened.passages else []
        forgetting.change(ts, lambda update: cut(update, {position}))
    else:
        forgetting.change(rows.select(selection), lambda _: None)
    return forgetting.settle()


def forget_updates(rows: Rows, namespace: NamespaceTotals, ts: Iterable[int]) -> None:
    """Forget whole updates in the middle of another write."""
    forgetting = _Forgetting(rows, namespace)
    forgetting.change(ts, lambda _: None)
    forgetting.settle()


def _forget_everything(rows: Rows, namespace: NamespaceTotals) -> Forgotten:
    forgotten = rows.delete_everything()
    rows.write(
        Changes(
            namespace=NamespaceTotals(
                t=namespace.t,
                origin=namespace.origin,
                revision=namespace.revision + 1,
                vocabulary=namespace.vocabulary + 1,
            )
        )
    )
    return forgotten


def close_session(namespace: NamespaceTotals, t_index: int) -> None:
    """Note that the update at this t is forgotten: no update continues its session."""
    if namespace.open_session and namespace.open_session.t_index == t_index:
        namespace.open_session = None


class _Forgetting:
    """One `forget`: delete rows, then put every total right once (`settle`)."""

    def __init__(self, rows: Rows, namespace: NamespaceTotals) -> None:
        self._rows = rows
        self._namespace = namespace
        self._counts: Counter[str] = Counter()
        # Concept, then t: how many statements that mention the concept are forgotten.
        self._lost_mentions: defaultdict[str, Counter[int]] = defaultdict(Counter)
        # Concept: the t of the updates that no longer mention it.
        self._lost_updates: defaultdict[str, set[int]] = defaultdict(set)
        # Concepts with entities that lost evidence.
        self._recounted: set[str] = set()
        # The ids of passages that are forgotten, and those of passages that are cut, with the names
        # of the concepts that they spelled; the t of updates that refer to any of these, and those
        # of forgotten updates.
        self._forgotten: set[str] = set()
        self._unspelled: defaultdict[str, set[str]] = defaultdict(set)
        self._referring: set[int] = set()
        self._gone: set[int] = set()
        self._has_lost_vectors = False
        # Relations that lost evidence.
        self._pairs: set[Pair] = set()
        # Elements that lost evidence.
        self._elements: set[ElementKey] = set()

    def change(
        self, ts: Iterable[int], left: Callable[[PreparedUpdate], PreparedUpdate | None]
    ) -> None:
        """Write what is ``left`` of the updates at these t, None for nothing; drop the mentions by
        reference to what is gone."""
        ordered = sorted(ts)
        for first in range(0, len(ordered), _CHUNK):
            updates = self._rows.updates(ordered[first : first + _CHUNK])
            self._change((update, left(update)) for update in updates)
        while referring := sorted(self._referring - self._gone)[:_CHUNK]:
            self._referring.difference_update(referring)
            self._change(
                (update, without_mentions(update, partial(self._is_lost, update.id)))
                for update in self._rows.updates(referring)
            )

    def forget_concept(self, name: str) -> None:
        """Forget all that mentions a concept or stands on it."""
        # An entity on no concept has one without a name.
        keys, ids = self._rows.touching(name) if name else ([], [])
        elements: set[ElementKey] = {*ids, *self._rows.triplets_of(ids)}
        ts = {t_index_of(key) for key in keys} | self._showing(elements)
        self.change(ts, partial(without_concept, name=name, elements=elements))

    def forget_elements(self, elements: Collection[ElementKey]) -> None:
        """Forget entities, with their triplets, and triplets."""
        ends = {key for key in elements if isinstance(key, str)}
        doomed = {*elements, *self._rows.triplets_of(ends)}
        self.change(self._showing(doomed), partial(without_elements, elements=doomed))

    def _showing(self, elements: Collection[ElementKey]) -> set[int]:
        """The t of the updates that show any of these elements."""
        known = self._rows.look_up(Keys(elements=set(elements))).elements
        evidence = self._rows.evidence(known.keys())
        return {t_index_of(at) for shown in evidence.values() for at in shown}

    def settle(self) -> Forgotten:
        """Count and merge anew all that has lost something."""
        self._settle_elements()
        if self._pairs:
            self._counts["relations"] = len(self._pairs) - self._rows.count_relations(self._pairs)
        if self._lost_mentions:
            first = {name: min(lost) for name, lost in self._lost_mentions.items()}
            self._counts["summaries"] = self._rows.drop_summaries(first)
        self._counts["concepts"] = self._settle_concepts()
        counts: dict[str, Any] = dict(self._counts)
        return Forgotten(**counts)

    def _settle_concepts(self) -> int:
        """Write the totals of the concepts that lost something; how many concepts nothing touches
        any more."""
        names = (self._lost_mentions.keys() | self._recounted) - {""}
        if not names:
            return 0
        left: dict[str, tuple[int, int] | None] = {}
        for name, totals in self._rows.look_up(Keys(concepts=names)).concepts.items():
            lost = self._lost_mentions[name]
            updates = totals.updates - len(self._lost_updates[name])
            counts = updates, totals.statements - lost.total()
            left[name] = None if name in self._recounted else counts
        return write_counted_concepts(self._rows, self._namespace, left)

    def _change(self, updates: Iterable[tuple[PreparedUpdate, PreparedUpdate | None]]) -> None:
        """Write what is left of updates (before, after), None for nothing, and note what they
        lose."""
        changes = Changes(namespace=self._namespace)
        for update, left in updates:
            if left is not update:
                self._note_losses(changes, update, left)
        ids = {before.id for before, _ in changes.passages if before and before.text is not None}
        # As long as the passages are there: a store may find references through them.
        spelled_less = {id for id in ids if id in self._forgotten or self._unspelled.get(id)}
        self._referring.update(self._rows.referring(spelled_less))
        known = [before for before, _ in changes.passages if before]
        stored = self._rows.look_up(keys_of(known))
        changes.terms, changes.sessions = stored.terms, stored.sessions
        for before, after in changes.passages:
            if before:
                count_statements(changes, before, -1)
            if after:
                count_statements(changes, after, 1)
        self._rows.write(changes)

    def _note_losses(
        self, changes: Changes, before: PreparedUpdate, after: PreparedUpdate | None
    ) -> None:
        t_index = t_of(before)
        gone = {s.position for s in before.statements}
        if after and gone:
            gone.difference_update(s.position for s in after.statements)
            if gone and (before.key is not None or not after.statements):
                after, gone = None, {s.position for s in before.statements}
        changes.passages.append((before, after))
        if after is None:
            self._gone.add(t_index)
            close_session(self._namespace, t_index)
            if before.text is not None:
                self._counts["passages"] += 1
                self._forgotten.add(before.id)
        else:
            names = self._unspelled[before.id]
            names |= spelled(before) - spelled(after)
            own = (m for s in after.statements for m in s.concepts if m.reference)
            if any(self._is_lost(after.id, m.name, m.reference) for m in own if m.reference):
                self._referring.add(t_index)
        if not self._has_lost_vectors and before.vectors != (after.vectors if after else ()):
            self._namespace.revision += 1
            self._has_lost_vectors = True
        self._pairs |= pairs_of(before) - (pairs_of(after) if after else set())
        self._counts["statements"] += len(gone)
        mentions = _mentions_of(after) if after else Counter()
        for name, lost in (_mentions_of(before) - mentions).items():
            self._lost_mentions[name][t_index] += lost
            if name not in mentions:
                self._lost_updates[name].add(t_index)
        left = (
            {(element.element, element.position) for element in after.elements} if after else set()
        )
        for element in before.elements:
            if (element.element, element.position) not in left:
                self._elements.add(element.element)
                at = statement_key(t_index, element.position)
                changes.element_evidence.setdefault(element.element, {})[at] = None

    def _is_lost(self, id: str, name: str, reference: Reference) -> bool:
        """Whether the passage that a reference of the passage ``id`` names spells a concept no
        more."""
        spelling = id if reference.antecedent is None else reference.antecedent
        return spelling in self._forgotten or name in self._unspelled.get(spelling, ())

    def _settle_elements(self) -> None:
        """Delete the entities and triplets without evidence, and the triplets of such entities; the
        others are what the evidence that is left makes of them."""
        if not self._elements:
            return
        left = self._rows.evidence(self._elements)
        doomed = self._elements - left.keys()
        orphans = self._rows.triplets_of({key for key in doomed if isinstance(key, str)}) - doomed
        if orphans:
            self.forget_elements(orphans)
            doomed |= orphans
        stored = self._rows.look_up(
            Keys(
                elements=self._elements,
                predicates={key[1] for key in doomed if not isinstance(key, str)},
            )
        )
        changes = Changes(namespace=self._namespace)
        concepts: dict[str, ConceptMention] = {}
        for key, row in stored.elements.items():
            self._recounted.add(row.concept.name)
            if key in doomed:
                changes.elements[key] = None
                self._counts["entities" if isinstance(key, str) else "triplets"] += 1
                if not isinstance(key, str):
                    count_triplets(changes, stored.predicates, key[1], -1)
            else:
                row = changes.elements[key] = ElementRow.of(left[key])
                concepts[row.concept.name] = row.concept
        concepts.pop("", None)
        self._recounted |= concepts.keys()
        # An entity goes back to a concept that may be gone; it is counted last of all.
        known = self._rows.look_up(Keys(concepts=set(concepts))).concepts
        changes.concepts = {
            name: ConceptTotals(concept.label, concept.kind, 0, 0, 0)
            for name, concept in concepts.items()
            if name not in known
        }
        self._rows.write(changes)


def _mentions_of(update: PreparedUpdate) -> Counter[str]:
    """How many statements of an update mention each concept."""
    return Counter(mention.name for s in update.statements for mention in s.concepts)
