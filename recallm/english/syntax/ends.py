"""What the ends of facts are called: whole names, whole noun phrases, and relatives by their owner.

"Ada was promoted to head of sales" is about "head of sales", "my son" of a user is "son of user",
each time the same entity. A pronoun, and a noun phrase that refers to somebody named before, stand
for the concept that they refer to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from spacy.symbols import NOUN

from recallm.english.syntax.clause_parts import preposition
from recallm.english.syntax.name_phrases import name_around
from recallm.english.syntax.phrases import noun_phrase
from recallm.english.syntax.tree import WORDS, SentenceTree
from recallm.model import ConceptMention

ConceptAt = Callable[[int], ConceptMention | None]
"""The concept that a token of a text stands for, pronouns resolved; None if it stands for none."""

_LONGEST: Final = 80
"""Characters of an end that is no single concept."""

_RELATIVES: Final = WORDS["relatives_of_somebody"]
_MODIFIERS: Final = frozenset(("amod", "compound", "nummod", "nmod:desc"))
_INSIDE: Final = frozenset(("of", "for"))
"""Prepositions of phrases that belong to an end: "head of sales", "budget for the laptop"."""


def end_of(
    tree: SentenceTree, head: int, concept: ConceptMention | None, concept_at: ConceptAt
) -> ConceptMention | None:
    """The concept of the phrase with this head, whose own concept is ``concept``; None where it
    names nothing, or a relative whose owner is unknown. A phrase of several words is no concept of
    its statement, and has no key yet."""
    if head < 0 or (concept is not None and concept.reference is not None):
        return concept
    label = tree.text(name_around(tree, head))
    if not label and concept is not None and tree.tags[head] == NOUN:
        label = tree.text(_whole(tree, head))
        owner = tree.child(head, "nmod:poss")
        if owner >= 0 and tree.lemmas[head].lower() in _RELATIVES:
            bearer = end_of(tree, owner, concept_at(tree.first + owner), concept_at)
            if bearer is None:
                return None
            label = f"{label} of {bearer.label}"
    if len(label) <= len(concept.label if concept else "") or len(label) > _LONGEST:
        return concept
    return ConceptMention(name="", label=label, kind="entity")


def _whole(tree: SentenceTree, head: int) -> list[int]:
    """The tokens of a noun phrase without articles, owners and what only says where or when."""
    outside = [
        i
        for i in tree.children[head]
        if tree.relations[i] not in _MODIFIERS
        and (tree.relations[i] != "nmod" or tree.text(preposition(tree, i)).lower() not in _INSIDE)
    ]
    return noun_phrase(tree, head, outside)
