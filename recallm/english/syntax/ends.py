"""What the ends of facts are called: whole names, whole noun phrases, and relatives by their owner.

"Ada was promoted to head of sales" is about "head of sales", "my son" of a user is "son of user",
each time the same entity. A pronoun, and a noun phrase that refers to somebody named before, stand
for the concept that they refer to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from spacy.symbols import NOUN, NUM, PRON, PROPN

from recallm.english.syntax.clause_parts import preposition
from recallm.english.syntax.name_phrases import name_around
from recallm.english.syntax.phrases import noun_phrase
from recallm.english.syntax.tree import TABLE, SentenceTree
from recallm.english.word_lists import word_set
from recallm.model import ConceptMention, Mark

ConceptAt = Callable[[int], ConceptMention | None]
"""The concept that a token of a text stands for, pronouns resolved; None if it stands for none."""

_LONGEST: Final = 80
"""Characters of an end that is no single concept."""

_QUOTES: Final = frozenset(('"', "“", "”", "``", "''"))
_LONGEST_TITLE: Final = 12
"""Tokens before and behind the head."""

RELATIVES: Final = {who: word_set(words) for who, words in TABLE["kin"].items()}
"""The nouns of relatives that are women, men, or others."""
EVERY_RELATIVE: Final = frozenset().union(*RELATIVES.values())
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
    label = _code(tree, head) or _title(tree, head) or tree.text(name_around(tree, head))
    owner = tree.child(head, "nmod:poss")
    if label and 0 <= owner < head and tree.tags[owner] == PROPN:
        label = tree.text(range(name_around(tree, owner)[0], head + 1))  # "Hwang's Kitchen"
    if not label and _is_named_by_noun(tree, head, concept):
        label = tree.text(_whole(tree, head)).replace('"', "")
        if owner >= 0 and is_relative(tree, head):
            bearer = end_of(tree, owner, concept_at(tree.first + owner), concept_at)
            if bearer is None:
                return None
            label = f"{label} of {bearer.label}"
    if len(label) <= len(concept.label if concept else "") or len(label) > _LONGEST:
        return concept
    return ConceptMention(name="", label=label, kind="entity")


def _is_named_by_noun(tree: SentenceTree, head: int, concept: ConceptMention | None) -> bool:
    """Whether a phrase names something: by a noun, or by a word in the place of one that the tagger
    does not know ("I hate cilantro"), or by a gerund ("I like swimming")."""
    if concept is not None:
        return tree.tags[head] not in (PROPN, PRON, NUM)
    word = tree.words[head]
    if not word.is_word or word.marks & (Mark.PRONOUN | Mark.COUNT | Mark.NUMERAL):
        return False
    is_gerund = tree.bases[head] == "xcomp" and word.lowered.endswith("ing")
    modifiers = [i for i in tree.children[head] if tree.bases[i] not in ("cc", "punct")]
    is_alone = not modifiers or tree.tags[head] == NOUN
    return is_alone and (is_gerund or tree.bases[head] in ("obj", "obl", "conj"))


def _code(tree: SentenceTree, head: int) -> str:
    """The code that a token is a part of: "tulip-49-lamp". A full stop at its end is the
    sentence's."""
    together = tree.written_together(head)
    text = tree.text(together) if len(together) > 1 else ""
    is_code = "-" in text and any(character.isdigit() for character in text)
    return text.removesuffix(".") if is_code else ""


def _title(tree: SentenceTree, head: int) -> str:
    """The words between quotation marks that a token stands among, without the marks."""
    first = next(
        (i for i in range(head, max(head - _LONGEST_TITLE, -1), -1) if _is_quote(tree, i)), -1
    )
    last = next(
        (i for i in range(head, min(head + _LONGEST_TITLE, len(tree))) if _is_quote(tree, i)), -1
    )
    if first < 0 or last < 0 or sum(_is_quote(tree, i) for i in range(first)) % 2:
        return ""
    return tree.text(range(first + 1, last)).strip(" ,.")


def _is_quote(tree: SentenceTree, token: int) -> bool:
    return tree.lowered[token] in _QUOTES


def is_relative(tree: SentenceTree, noun: int) -> bool:
    """Whether a noun tells somebody by somebody else: "son", "neighbours"."""
    return not EVERY_RELATIVE.isdisjoint((tree.lowered[noun], tree.lemmas[noun].lower()))


def _whole(tree: SentenceTree, head: int) -> list[int]:
    """The tokens of a noun phrase without articles, owners and what only says where or when."""
    outside = [
        i
        for i in tree.children[head]
        if tree.relations[i] not in _MODIFIERS
        and (
            tree.bases[i] not in ("nmod", "obl")
            or tree.text(preposition(tree, i)).lower() not in _INSIDE
        )
    ]
    tokens = noun_phrase(tree, head, outside)
    while len(tokens) > 1 and (
        tree.words[tokens[0]].marks & Mark.EDGE or tree.bases[tokens[0]] == "cc"
    ):
        tokens = tokens[1:]
    return tokens
