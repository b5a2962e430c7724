"""Prepared updates from texts whose concepts are marked by hand: no pipeline is needed.

``prepared("p1", "[Brandon] loves [coffee=coffe]")`` has the text "Brandon loves coffee", two
concepts (the name is what stands after ``=``, else the label in lower case) and one neighbour
pair. Each further string is a further statement. Terms are the words in lower case.
``{She>brandon}`` is a pronoun that stands for a concept which its passage spells,
``{She>brandon@p1}`` for one that the passage "p1" spells.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

from recallm.model import (
    ConceptKind,
    ConceptMention,
    EntityUpsert,
    ExtractedStatement,
    Neighbours,
    PreparedUpdate,
    Reference,
    StatementVector,
    Trait,
    TripletUpsert,
)

_MARK = re.compile(r"\[([^\]=]+)(?:=([^\]]+))?\]|\{([^}>]+)>([^}@]+)(?:@([^}]+))?\}")


def prepared(id: str, *marked: str, gap: str = " ", **fields: Any) -> PreparedUpdate:
    """One update with a statement for each marked text, ``gap`` between them; ``fields`` are
    further fields of ``PreparedUpdate``."""
    text = ""
    statements: list[ExtractedStatement] = []
    row: list[tuple[str, int]] = []
    for position, words in enumerate(marked):
        text += gap if position else ""
        plain, mentions = _read(words)
        concepts = {mention.name: mention for mention in reversed(mentions)}
        statements.append(
            ExtractedStatement(
                position=position,
                start=len(text),
                end=len(text) + len(plain),
                terms=tuple(word.lower() for word in re.findall(r"\w+", plain)),
                concepts=tuple(reversed(concepts.values())),
                traits=Trait.QUESTION if plain.endswith("?") else Trait(0),
            )
        )
        text += plain
        row += [(mention.name, position) for mention in mentions]
    return PreparedUpdate(
        id=id, text=text, statements=tuple(statements), neighbours=_neighbours(row), **fields
    )


def mention(label: str, name: str | None = None) -> ConceptMention:
    """A concept's mention; its name is the label in lower case unless given."""
    kind: ConceptKind = "name" if label[:1].isupper() else "noun"
    return ConceptMention(name=name or label.lower(), label=label, kind=kind)


def entity(id: str, label: str, name: str | None = None, **fields: Any) -> EntityUpsert:
    """An entity that stands on the concept ``name``; its type is "Thing" unless given."""
    fields = {"type": "Thing", **fields}
    return EntityUpsert(id=id, concept=mention(label, name), **fields)


def triplet(subject: str, predicate: str, object: str, **fields: Any) -> TripletUpsert:
    """A triplet between two entity ids."""
    return TripletUpsert(subject=subject, predicate=predicate, object=object, **fields)


def vector(position: int, blob: bytes, model: str = "m") -> StatementVector:
    """The vector of one statement."""
    return StatementVector(position=position, model=model, blob=blob)


def _read(words: str) -> tuple[str, list[ConceptMention]]:
    """The text without its marks, and what each mark mentions."""
    plain, mentions, end = "", [], 0
    for mark in _MARK.finditer(words):
        label, name, pronoun, concept, antecedent = mark.groups()
        plain += words[end : mark.start()]
        start, end = len(plain), mark.end()
        plain += label or pronoun
        mentions.append(
            mention(label, name)
            if label
            else replace(
                mention(concept.title(), concept),
                reference=Reference(start, len(plain), antecedent),
            )
        )
    return plain + words[end:], mentions


def _neighbours(row: list[tuple[str, int]]) -> tuple[Neighbours, ...]:
    pairs: dict[Neighbours, None] = {}
    for (left, earlier), (right, later) in pairwise(row):
        if left != right:
            a, b = sorted((left, right))
            pairs[Neighbours(a=a, b=b, earlier=earlier, later=later)] = None
    return tuple(pairs)
