"""Verbs of a sentence: their subjects, auxiliaries and forms, and the tokens below them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from spacy.symbols import ADJ, PROPN

from recallm.model import Mark
from recallm.syntax.modality import negation_words
from recallm.syntax.tree import SentenceTree

__all__ = [
    "auxiliaries_of",
    "below",
    "finite_of",
    "first_word",
    "has_subject",
    "is_finite",
    "is_imperative",
    "shared_auxiliaries",
    "subject_of",
    "verbs_of",
]

_SUBJECTS: Final = ("nsubj", "nsubj:pass")


def subject_of(tree: SentenceTree, head: int) -> int:
    """The head of a clause's subject, -1 if it has none."""
    return tree.child(head, *_SUBJECTS)


def is_imperative(tree: SentenceTree, head: int) -> bool:
    """Whether a name is called on: "Leo, call Ann and buy some milk."."""
    subject, marks = subject_of(tree, head), tree.words[head].marks
    return (
        tree.lowered[head] == tree.lemmas[head].lower()
        and not marks & (Mark.PAST | Mark.BARE_PAST)
        and finite_of(tree, head) == head
        and tree.tags[subject] == PROPN
        and tree.child(subject, "conj") < 0
    )


def has_subject(tree: SentenceTree, head: int) -> bool:
    """Whether a clause has a subject of its own, such as "it" in "it rains"."""
    return tree.child(head, *_SUBJECTS, "expl") >= 0


def finite_of(tree: SentenceTree, head: int) -> int:
    """The first of a clause's auxiliaries, its copula and its head."""
    children = tree.children[head]
    return min([head, *(i for i in children if tree.bases[i] in ("aux", "cop"))])


def below(tree: SentenceTree, head: int, without: Collection[int] = ()) -> list[int]:
    """The tokens below a head, ascending, without the subtrees of some."""
    found, stack = [], [head]
    while stack:
        i = stack.pop()
        found.append(i)
        stack += [j for j in tree.children[i] if j not in without]
    return sorted(found)


def verbs_of(tree: SentenceTree, head: int) -> list[int]:
    """A clause's head, its auxiliaries, its copula and the adverbs before them."""
    return [
        head,
        *(i for i in tree.children[head] if tree.bases[i] in ("aux", "cop", "advmod")),
    ]


def auxiliaries_of(tree: SentenceTree, head: int) -> list[int]:
    """A verb's auxiliaries."""
    return [i for i in tree.children[head] if tree.bases[i] == "aux"]


def first_word(tree: SentenceTree, tokens: Sequence[int]) -> int:
    """The first of some tokens that is a word, else the first."""
    words = (i for i in tokens if tree.words[i].is_word)
    return next(words, tokens[0])


def is_finite(tree: SentenceTree, first: int, head: int) -> bool:
    """Whether a verb without a subject is finite, or shares the auxiliaries of the first."""
    if auxiliaries_of(tree, head) or tree.child(head, "cop") >= 0:
        return True
    if shared_auxiliaries(tree, first, head):
        return not negation_words(tree, first)
    form, lemma = tree.lowered[head], tree.lemmas[head].lower()
    past = bool(tree.words[head].marks & Mark.PAST)
    if form.endswith("ing") and (form != lemma or tree.child(first, "cop") >= 0):
        return False
    if form == lemma and not past:
        return not auxiliaries_of(tree, first) and tree.lowered[first] == tree.lemmas[first].lower()
    is_passive = any(tree.relations[i] == "aux:pass" for i in tree.children[first])
    describes = tree.child(first, "cop") >= 0 and tree.tags[first] == ADJ
    # "was hired and sent to Rome", "is tall and loved by all"
    return not (past and (is_passive or describes))


def shared_auxiliaries(tree: SentenceTree, first: int, head: int) -> list[int]:
    """The auxiliaries of the first verb that a coordinated one needs: "has visited Peru and
    [has] climbed Misti"."""
    auxiliaries = auxiliaries_of(tree, first)
    if not auxiliaries or auxiliaries_of(tree, head) or tree.child(head, "cop") >= 0:
        return []
    if tree.child(first, "cop") >= 0:
        return []
    form, lemma = tree.lowered[head], tree.lemmas[head].lower()
    is_base = tree.lowered[first] == tree.lemmas[first].lower()
    if form == lemma:
        return auxiliaries if is_base else []
    if form.endswith("ing"):
        return auxiliaries if tree.lowered[first].endswith("ing") else []
    if form.endswith("s") or is_base or tree.lowered[first].endswith("ing"):
        return []
    has = any(tree.lemmas[i].lower() == "have" for i in auxiliaries)
    passive = any(tree.relations[i] == "aux:pass" for i in auxiliaries)
    return auxiliaries if has and not passive else []
