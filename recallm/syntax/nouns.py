"""What noun phrases state without a verb: appositions, titles, possessors, places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spacy.symbols import NOUN, PROPN

from recallm.syntax.clause_parts import preposition
from recallm.syntax.drafts import Draft
from recallm.syntax.phrases import bare_noun_phrase, noun_phrase
from recallm.syntax.tree import SentenceTree

__all__ = ["of_noun"]

_PLACES: Final = frozenset(("in", "at", "near"))


def of_noun(tree: SentenceTree, noun: int) -> Iterator[Draft]:
    """What the modifiers of a noun state: ⟨Carol, is, a friend of Ann⟩ of an apposition, ⟨Bush, is,
    President⟩ of a title, ⟨Ada, has, sister⟩ of a possessor, ⟨a bakery, is in, Porto⟩ of a place.
    """
    for i in tree.children[noun]:
        relation, words = tree.relations[i], "is"
        if relation == "nmod:poss":
            yield from _of_possessor(tree, i, noun)
            continue
        if relation == "appos":
            construction, subject = "apposition", noun_phrase(tree, noun)
        elif relation == "nmod:desc" and not tree.words[i].text.endswith("."):
            construction, subject = "title", bare_noun_phrase(tree, noun, relation)
        elif relation == "nmod" and tree.tags[i] == PROPN:
            case = preposition(tree, i)
            if not case or tree.lowered[case[0]] not in _PLACES:
                continue
            construction, subject = "place", bare_noun_phrase(tree, noun, relation)
            words = f"is {tree.text(case).lower()}"
        else:
            continue
        normal = words.replace("is", "be", 1)
        object_ = noun_phrase(tree, i)
        yield Draft(construction, subject, [], object_, normal, noun, i, words=words)


def _of_possessor(tree: SentenceTree, possessor: int, noun: int) -> Iterator[Draft]:
    """⟨Ada, has, sister⟩; of "Ada's sister Ingrid" and "Ada's sister, Ingrid," ⟨Ada, has sister,
    Ingrid⟩."""
    role, name = noun, -1
    for i in tree.children[noun]:
        if tree.tags[noun] == PROPN and tree.tags[i] == NOUN and possessor < i < noun:
            role, name = i, noun
        elif tree.tags[i] == PROPN and noun < i and tree.relations[i] in ("appos", "flat"):
            name = i if tree.tags[noun] == NOUN else name
    if name < 0:
        owned, words, relation = bare_noun_phrase(tree, noun, "nmod:poss"), "has", "have"
    else:
        owned = noun_phrase(tree, name)
        if name == noun:
            owned = [i for i in owned if i > role]
        words = f"has {tree.words[role].text}"
        relation = f"have {tree.lowered[role]}"
    head = noun if name < 0 else name
    subject = noun_phrase(tree, possessor)
    yield Draft("possessor", subject, [], owned, relation, possessor, head, words=words)
