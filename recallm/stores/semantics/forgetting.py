"""`GraphStore.forget`: what goes with a statement, and every total without it.

* A statement goes with its mentions, postings, vector and evidence, with the neighbour pairs that
  it shows, and with the summaries of its concepts that cover it. A passage goes with its last
  statement, an item with its first; a passage that keeps statements is cut (`redact`).
* An entity or triplet goes with its last evidence; an entity takes its triplets along; a concept
  goes when nothing touches it. What stays is counted and merged anew from what is left; from a
  concept that lost only mentions of whole updates these are subtracted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, compress
from typing import Any

from recallm.model import (
    ElementKey,
    EntityUpsert,
    Forgotten,
    GraphNames,
    PreparedUpdate,
    Selection,
    parse_statement_id,
    position_of,
    statement_key,
    t_index_of,
)
from recallm.stores.semantics.rows import (
    Changes,
    NamespaceTotals,
    Pair,
    RelationTotals,
    Rows,
    t_of,
)
from recallm.stores.semantics.sessions import close_session
from recallm.stores.semantics.writing import (
    count_statements,
    look_up_contents,
    merged,
    pairs_of,
    write_counted_concepts,
)

__all__ = ["forget", "forget_updates", "redact"]

_CHUNK = 500
"""Updates whose rows are held in memory at a time."""


def redact(
    text: str,
    spans: Sequence[tuple[int, int]],
    drop: Collection[int],
    propositions: Collection[int] = (),
) -> tuple[str, list[tuple[int, int]]]:
    """Cut the spans with the indexes ``drop`` out of ``text``.

    ``spans`` are (start, end) character offsets; those of propositions may overlap. Text that no
    span covers belongs to the spans that end before it, text before all spans to the first of them.
    What a span to drop shares with one to keep goes, unless that one repeats it: ``propositions``
    are the indexes of the statements that do not, since they have a text of their own. Trailing
    white space of the result is stripped.
    Returns the remaining text and the new spans of the kept statements, in order.
    """
    filled = sorted(span for span in spans if span[0] < span[1])
    starts = [start for start, _ in filled]
    furthest = [0, *accumulate((end for _, end in filled), max)]
    stays = bytearray(b"\1") * len(text)
    for is_kept in (False, True):
        for index, (start, end) in enumerate(spans):
            if start == end or (index in drop) is is_kept or (is_kept and index in propositions):
                continue
            begin, following = 0 if start == starts[0] else start, bisect_left(starts, end)
            if furthest[following] == end:  # no other span goes on behind it
                end = starts[following] if following < len(starts) else len(text)
            stays[begin:end] = bytes([is_kept]) * (end - begin)
    place = list(accumulate(stays, initial=0))
    moved = [(place[s], place[e]) for index, (s, e) in enumerate(spans) if index not in drop]
    remaining = "".join(compress(text, stays))
    tail = max((end for _, end in moved), default=0)
    return remaining[:tail] + remaining[tail:].rstrip(), moved


def forget(rows: Rows, selection: Selection) -> Forgotten:
    """See `GraphStore.forget`."""
    kind, value = selection.kind, str(selection.value)
    if kind == "statement":
        parsed = parse_statement_id(value)
        if parsed is None:
            return Forgotten()
        id, position = parsed
        opened = rows.open(ids=[id])
        forgetting = _Forgetting(rows, opened.totals)
        if id in opened.passages:
            forgetting.forget_statements({opened.passages[id][0]: {position}})
        return forgetting.settle()
    namespace = rows.open().totals
    if kind == "everything":
        return _forget_everything(rows, namespace) if namespace.t else Forgotten()
    forgetting = _Forgetting(rows, namespace)
    if isinstance(selection.value, GraphNames):
        forgetting.forget_elements(selection.value.entities | selection.value.triplets)
        return forgetting.settle()
    if kind != "concept":
        forgetting.forget_statements(dict.fromkeys(rows.select(selection)))
        return forgetting.settle()
    keys, entities = rows.touching(value)
    positions: dict[int, set[int]] = {}
    for key in keys:
        positions.setdefault(t_index_of(key), set()).add(position_of(key))
    forgetting.forget_statements(positions)
    forgetting.forget_elements(entities)
    return forgetting.settle()


def forget_updates(rows: Rows, namespace: NamespaceTotals, ts: Iterable[int]) -> None:
    """Forget whole updates in the middle of another write."""
    forgetting = _Forgetting(rows, namespace)
    forgetting.forget_statements(dict.fromkeys(ts))
    forgetting.settle()


def _forget_everything(rows: Rows, namespace: NamespaceTotals) -> Forgotten:
    forgotten = rows.delete_everything()
    rows.write(
        Changes(
            namespace=NamespaceTotals(
                t=namespace.t, origin=namespace.origin, revision=namespace.revision + 1
            )
        )
    )
    return forgotten


class _Forgetting:
    """One `forget`: delete rows, then put every total right once (`settle`)."""

    def __init__(self, rows: Rows, namespace: NamespaceTotals) -> None:
        self._rows = rows
        self._namespace = namespace
        self._counts: Counter[str] = Counter()
        # Concept, then t: how many statements that mention the concept are forgotten.
        self._lost_mentions: defaultdict[str, Counter[int]] = defaultdict(Counter)
        # Concepts that an update may still touch, and those that lost an entity's evidence.
        self._recounted: set[str] = set()
        self._has_lost_vectors = False
        self._relations: dict[Pair, RelationTotals] = {}
        # The t at which relations lost their evidence.
        self._pairs: dict[Pair, set[int]] = {}
        # Elements that lost evidence, and those that go whatever their evidence.
        self._elements: set[ElementKey] = set()
        self._chosen: set[ElementKey] = set()

    def forget_statements(self, positions: Mapping[int, set[int] | None]) -> None:
        """Forget the statements at these positions of updates, by t; None: the whole update."""
        ts = sorted(positions)
        for first in range(0, len(ts), _CHUNK):
            changes = Changes(namespace=self._namespace)
            for update in self._rows.updates(ts[first : first + _CHUNK]):
                self._forget_from(changes, update, positions[t_of(update)])
            stored = look_up_contents(
                self._rows, [before for before, _ in changes.passages if before]
            )
            changes.terms, changes.sessions = stored.terms, stored.sessions
            self._relations |= stored.relations
            for before, after in changes.passages:
                if before:
                    count_statements(changes, before, -1)
                if after:
                    count_statements(changes, after, 1)
            self._rows.write(changes)

    def forget_elements(self, elements: Iterable[ElementKey]) -> None:
        """Forget entities and triplets with all of their evidence."""
        self._chosen.update(elements)

    def settle(self) -> Forgotten:
        """Count and merge anew all that has lost something."""
        self._settle_elements()
        self._settle_relations()
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
        for name, totals in self._rows.look_up(concepts=names).concepts.items():
            lost = self._lost_mentions[name]
            counts = totals.updates - len(lost), totals.statements - lost.total()
            left[name] = None if name in self._recounted else counts
        return write_counted_concepts(self._rows, self._namespace, left)

    def _forget_from(
        self, changes: Changes, update: PreparedUpdate, positions: set[int] | None
    ) -> None:
        """Forget some statements of one update."""
        t_index, after = t_of(update), None
        stored = {s.position for s in update.statements}
        gone = stored if positions is None else stored & positions
        if positions is not None and not gone:
            return
        if positions is None or update.key is not None or gone == stored:
            gone = stored
            close_session(self._namespace, t_index)
            self._counts["passages"] += update.text is not None
        else:
            after = _cut(update, gone)
        changes.passages.append((update, after))
        if not self._has_lost_vectors and any(v.position in gone for v in update.vectors):
            self._namespace.revision += 1
            self._has_lost_vectors = True
        for pair in pairs_of(update) - (pairs_of(after) if after else set()):
            self._pairs.setdefault(pair, set()).add(t_index)
        self._counts["statements"] += len(gone)
        for mention in (m for s in update.statements if s.position in gone for m in s.concepts):
            self._lost_mentions[mention.name][t_index] += 1
            if after:
                self._recounted.add(mention.name)
        for element in update.elements:
            if after is None or element.position in gone:
                self._elements.add(element.element)
                at = statement_key(t_index, element.position)
                changes.element_evidence.setdefault(element.element, {})[at] = None
                if isinstance(element, EntityUpsert):
                    self._recounted.add(element.concept.name)

    def _settle_elements(self) -> None:
        """Delete the entities and triplets that are chosen or have no evidence any more; merge the
        properties of the others anew."""
        if not (self._elements or self._chosen):
            return
        left = self._rows.evidence(self._elements)
        doomed = self._chosen | (self._elements - left.keys())
        doomed |= self._rows.triplets_of({key for key in doomed if isinstance(key, str)})
        changes = Changes(namespace=self._namespace)
        for key, row in self._rows.look_up(elements=self._elements | doomed).elements.items():
            if key in doomed:
                changes.elements[key] = None
                self._counts["entities" if isinstance(key, str) else "triplets"] += 1
                self._recounted.add(row.concept.name)
            else:
                changes.elements[key] = replace(
                    row, properties=merged({}, left[key]), latest=max(left[key])
                )
        self._rows.write(changes)

    def _settle_relations(self) -> None:
        """Delete the evidence of relations, and count their strengths anew."""
        if not self._pairs:
            return
        changes = Changes(namespace=self._namespace)
        since = {pair: min(lost) for pair, lost in self._pairs.items()}
        for pair, shown in self._rows.relation_evidence(since).items():
            lost = self._pairs[pair]
            evidence = changes.relation_evidence[pair] = {}
            strength = self._relations[pair].strength - len(shown)  # up to the first that is shown
            for before, t_index in enumerate(shown, start=strength + 1):
                if t_index in lost:
                    evidence[t_index] = None
                    continue
                strength += 1
                if strength != before:
                    evidence[t_index] = strength
            latest = max((t for t in shown if t not in lost), default=0)
            changes.relations[pair] = RelationTotals(strength, latest) if strength else None
            self._counts["relations"] += not strength
        self._rows.write(changes)


def _cut(update: PreparedUpdate, gone: set[int]) -> PreparedUpdate:
    """``update`` without the statements at the positions ``gone``; it keeps some."""
    statements = update.statements
    text, spans = redact(
        update.text or "",
        [(s.start, s.end) for s in statements],
        {index for index, s in enumerate(statements) if s.position in gone},
        {index for index, s in enumerate(statements) if s.text is not None},
    )
    kept = [s for s in statements if s.position not in gone]
    return replace(
        update,
        text=text,
        statements=tuple(
            replace(s, start=start, end=end) for s, (start, end) in zip(kept, spans, strict=True)
        ),
        neighbours=tuple(n for n in update.neighbours if not {n.earlier, n.later} & gone),
        entities=tuple(e for e in update.entities if e.position not in gone),
        triplets=tuple(x for x in update.triplets if x.position not in gone),
        vectors=tuple(v for v in update.vectors if v.position not in gone),
    )
