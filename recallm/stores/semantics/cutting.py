"""What is left of an update without some of its statements, a concept, entities and triplets, or
mentions by reference.

**Mentions by reference.** "She" stands for the concept that its own or another passage spells. Such
a mention stays as long as some statement of the antecedent's passage spells the concept, that is:
mentions it without a reference. With the last of these the mention goes, so that no name of a
forgotten text stays in what was said after it; the neighbour pairs that stand on the mention go
too, and so do the entities on the concept that the statement shows, with their triplets there. A
proposition that has the name in its own text says its span of the passage again, without the stems
of the name and without a vector. Where nothing is left of the span, it goes as a whole.

A reference goes back: to a passage that is stored or stands earlier in the batch. No mention is
written whose reference names another passage: that one was forgotten since the text was read.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain, compress
from typing import Any

from recallm.model import (
    ConceptMention,
    ElementKey,
    ExtractedStatement,
    PreparedUpdate,
    Reference,
    TripletUpsert,
    readable_term,
)


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


def cut(update: PreparedUpdate, gone: set[int]) -> PreparedUpdate:
    """``update`` without the statements at the positions ``gone``; itself where none stands
    there."""
    statements = update.statements
    if not any(statement.position in gone for statement in statements):
        return update
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
    if update.statements and not left.statements:
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


def antecedents_in(statement: ExtractedStatement) -> set[str]:
    """The ids of the other passages that a statement's references name."""
    references = (mention.reference for mention in statement.concepts)
    return {r.antecedent for r in references if r is not None and r.antecedent is not None}


def antecedents(updates: Iterable[PreparedUpdate]) -> set[str]:
    """The ids of the passages that updates' references name."""
    return {id for u in updates for statement in u.statements for id in antecedents_in(statement)}


def without_mentions(
    update: PreparedUpdate, is_lost: Callable[[str, Reference], bool]
) -> PreparedUpdate:
    """``update`` without the mentions that are lost, by the concept's name and the reference; the
    update itself where none is."""
    changed: dict[int, ExtractedStatement] = {}
    unnamed: dict[int, set[str]] = {}
    other_texts: set[int] = set()
    gone: set[int] = set()
    for statement in update.statements:
        lost = [m for m in statement.concepts if m.reference and is_lost(m.name, m.reference)]
        if lost:
            names_lost = _names(statement.text, lost)
            changed[statement.position] = _without(statement, lost, names_lost=names_lost)
            unnamed[statement.position] = {mention.name for mention in lost}
            if names_lost:
                (gone if statement.start == statement.end else other_texts).add(statement.position)
    if not changed:
        return update
    statements = [changed.get(s.position, s) for s in update.statements if s.position not in gone]
    names = {s.position: {mention.name for mention in s.concepts} for s in statements}
    ends = {
        (entity.id, entity.position)
        for entity in update.entities
        if entity.position in gone or entity.concept.name in unnamed.get(entity.position, ())
    }
    return replace(
        update,
        statements=tuple(statements),
        neighbours=tuple(
            pair
            for pair in update.neighbours
            if any(
                a in names.get(pair.earlier, ()) and b in names.get(pair.later, ())
                for a, b in ((pair.a, pair.b), (pair.b, pair.a))
            )
        ),
        entities=tuple(e for e in update.entities if (e.id, e.position) not in ends),
        triplets=tuple(
            x
            for x in update.triplets
            if x.position not in gone
            and ends.isdisjoint(((x.subject, x.position), (x.object, x.position)))
        ),
        vectors=tuple(v for v in update.vectors if v.position not in gone | other_texts),
    )


def without_unknown(update: PreparedUpdate, passages: Container[str]) -> PreparedUpdate:
    """``update`` without the mentions whose antecedent is in none of ``passages``, by their ids."""
    return without_mentions(
        update, lambda _, r: r.antecedent is not None and r.antecedent not in passages
    )


def _names(text: str | None, lost: list[ConceptMention]) -> bool:
    """Whether a proposition's own text holds the label of a concept that is lost."""
    return text is not None and any(m.label.lower() in text.lower() for m in lost)


def _without(
    statement: ExtractedStatement, lost: list[ConceptMention], *, names_lost: bool
) -> ExtractedStatement:
    kept = tuple(mention for mention in statement.concepts if mention not in lost)
    if not names_lost:
        return replace(statement, concepts=kept)
    words = {word for m in lost for word in (*m.name.split(), *m.label.lower().split())}
    terms = tuple(term for term in statement.terms if readable_term(term) not in words)
    return replace(statement, text=None, terms=terms, concepts=kept)
