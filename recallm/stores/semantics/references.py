"""Mentions by reference: "she" stands for the concept that its own or another passage spells.

**The rule.** Such a mention stays as long as some statement of the antecedent's passage spells the
concept, that is: mentions it without a reference. With the last of these the mention goes, so that
no name of a forgotten text stays in what was said after it; the neighbour pairs that stand on the
mention go too, and so do the entities on the concept that the statement shows, with their triplets
there. A proposition that has the name in its own text says its span of the passage again,
without the stems of the name and without a vector. Where nothing is left of the span, it goes as a
whole.

**Order.** A reference goes back: to a passage that is stored or stands earlier in the batch. No
mention is written whose reference names another passage: that one was forgotten since the text was
read.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace

from recallm.model import (
    ConceptMention,
    ExtractedStatement,
    PreparedUpdate,
    Reference,
    readable_term,
)


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
