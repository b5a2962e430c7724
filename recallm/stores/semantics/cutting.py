"""What is left of an update without some of its statements, a concept, entities and triplets, or
mentions by reference.

**Mentions by reference.** "She" stands for the concept that its own or another passage spells. Such
a mention stays as long as some statement of the antecedent's passage spells the concept, that is:
mentions it without a reference. With the last of these the mention goes, so that no name of a
forgotten text stays in what was said after it; the neighbour pairs that stand on the mention go
too, and so do the entities on the concept that the statement shows, with their triplets there.

A reference goes back: to a passage that is stored or stands earlier in the batch. No mention is
written whose reference names another passage: that one was forgotten since the text was read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

from recallm.model import ElementKey, PreparedUpdate, Reference, TripletUpsert


def redact(
    text: str, spans: Sequence[tuple[int, int]], drop: Collection[int]
) -> tuple[str, list[tuple[int, int]]]:
    """Cut the spans with the indexes ``drop`` out of ``text``.

    ``spans`` are (start, end) character offsets, disjoint and in order. Text that no span covers
    belongs to the span before it, text before all spans to the first of them. Trailing white space
    of the result is stripped.
    Returns the remaining text and the new spans of the kept statements, in order.
    """
    borders = [0, *(start for start, _ in spans[1:]), len(text)]
    remaining, moved = "", []
    for index, ((start, end), (first, last)) in enumerate(
        zip(spans, pairwise(borders), strict=True)
    ):
        if index not in drop:
            shift = len(remaining) - first
            moved.append((start + shift, end + shift))
            remaining += text[first:last]
    tail = moved[-1][1] if moved else 0
    return remaining[:tail] + remaining[tail:].rstrip(), moved


def cut(update: PreparedUpdate, gone: set[int]) -> PreparedUpdate | None:
    """``update`` without the statements at the positions ``gone``; itself where none stands there.
    None for an item, and where no statement is left."""
    statements = update.statements
    if not any(statement.position in gone for statement in statements):
        return update
    kept = [s for s in statements if s.position not in gone]
    if not kept or update.key is not None:
        return None
    text, spans = redact(
        update.text or "",
        [(s.start, s.end) for s in statements],
        {index for index, s in enumerate(statements) if s.position in gone},
    )
    left = replace(
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
    lost = spelled(update) - spelled(left)
    return without_mentions(
        left, lambda name, r: name in lost and r.antecedent in (None, update.id)
    )


def without_concept(
    update: PreparedUpdate, *, name: str, elements: Collection[ElementKey]
) -> PreparedUpdate | None:
    """What is left of an update without a concept; ``elements`` stand on it or have an end there.
    Where an entity stands on another concept by now, what called it by this one goes.

    The ends of a triplet that goes stay where another triplet at their place names them: a row of a
    table keeps what its other cells say. A passage goes with its last statement, one without
    statements (a fact, a row) with its last entity or triplet.
    """
    said = [(s.position, m) for s in update.statements for m in s.concepts if m.name == name]
    left = cut(update, {position for position, _ in said})
    if left is None:
        return None
    triplets = [x for x in left.triplets if x.element not in elements]
    named = [e for e in update.entities if e.id in elements or e.concept.name == name]
    ends = _ends(left.triplets) - _ends(triplets)
    left = replace(
        left,
        entities=tuple(
            e for e in left.entities if e not in named and (e.id, e.position) not in ends
        ),
        triplets=tuple(triplets),
    )
    if left.text is not None and not left.statements and not left.elements:
        return None
    labels = {m.label for _, m in said}
    labels.update(e.concept.label for e in named)
    return replace(left, metadata=without_entries(left.metadata, labels))


def _ends(triplets: Iterable[TripletUpsert]) -> set[tuple[str, int]]:
    """The ends of triplets, with the positions where they stand."""
    return {(end, x.position) for x in triplets for end in (x.subject, x.object)}


def without_elements(
    update: PreparedUpdate, *, elements: Collection[ElementKey]
) -> PreparedUpdate | None:
    """``update`` without these entities and triplets; None where no other, no statement and
    no text is left."""
    left = replace(
        update,
        entities=tuple(e for e in update.entities if e.id not in elements),
        triplets=tuple(x for x in update.triplets if x.element not in elements),
    )
    return left if left.elements or left.statements or (left.text or "").strip() else None


def without_entries(metadata: Mapping[str, Any], labels: Iterable[str]) -> Mapping[str, Any]:
    """``metadata`` without the entries in which a label stands, in any case, as whole words."""
    spelled = "|".join(map(re.escape, sorted(labels)))
    if not spelled:
        return metadata
    pattern = re.compile(rf"(?<!\w)(?:{spelled})(?!\w)", re.IGNORECASE)
    return {
        key: value
        for key, value in metadata.items()
        if not any(map(pattern.search, _texts([key, value])))
    }


def _texts(value: Any) -> Iterator[str]:
    """The texts in a JSON value."""
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        yield from chain.from_iterable(map(_texts, value))
    else:
        yield str(value)


def spelled(update: PreparedUpdate) -> set[str]:
    """The names of the concepts that an update's statements spell."""
    return {
        mention.name
        for statement in update.statements
        for mention in statement.concepts
        if mention.reference is None
    }


def without_mentions(
    update: PreparedUpdate, is_lost: Callable[[str, Reference], bool]
) -> PreparedUpdate:
    """``update`` without the mentions that are lost, by the concept's name and the reference; the
    update itself where none is."""
    lost: defaultdict[int, set[str]] = defaultdict(set)
    for statement in update.statements:
        for mention in statement.concepts:
            if mention.reference and is_lost(mention.name, mention.reference):
                lost[statement.position].add(mention.name)
    if not lost:
        return update
    statements = tuple(
        replace(s, concepts=tuple(m for m in s.concepts if m.name not in lost[s.position]))
        for s in update.statements
    )
    names = {s.position: {mention.name for mention in s.concepts} for s in statements}
    ends = {
        (entity.id, entity.position)
        for entity in update.entities
        if entity.concept.name in lost[entity.position]
    }
    return replace(
        update,
        statements=statements,
        neighbours=tuple(
            pair
            for pair in update.neighbours
            if any(
                a in names[pair.earlier] and b in names[pair.later]
                for a, b in ((pair.a, pair.b), (pair.b, pair.a))
            )
        ),
        entities=tuple(e for e in update.entities if (e.id, e.position) not in ends),
        triplets=tuple(
            x
            for x in update.triplets
            if ends.isdisjoint(((x.subject, x.position), (x.object, x.position)))
        ),
    )


def without_unknown(update: PreparedUpdate, passages: Container[str]) -> PreparedUpdate:
    """``update`` without the mentions whose antecedent is in none of ``passages``, by their ids."""
    return without_mentions(
        update, lambda _, r: r.antecedent is not None and r.antecedent not in passages
    )
