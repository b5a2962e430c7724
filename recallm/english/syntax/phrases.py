"""A clause and the phrases in its places, as tokens of a sentence; and which tokens below a head
belong to a phrase: noun phrases, predicates, clauses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from spacy.symbols import ADJ, VERB

from recallm.english.syntax.tree import TABLE, SentenceTree
from recallm.english.word_lists import word_set

MOST_COORDINATED: Final = 50
"""Coordinated phrases of one place of a clause; those behind are not read."""

_CLAUSES: Final = frozenset(
    ("root", "conj", "ccomp", "xcomp", "advcl", "acl", "parataxis", "csubj")
)
_SUBJECTS: Final = ("nsubj", "nsubj:pass", "nsubj:outer", "csubj", "csubj:pass")

_NOT_IN: Final = {kind: word_set(relations) for kind, relations in TABLE["not_in"].items()}
_NOT_IN_NOUN_PHRASE: Final = _NOT_IN["noun_phrase"]
_NOT_IN_PREDICATE_NOUN: Final = _NOT_IN_NOUN_PHRASE | _NOT_IN["predicate_noun"]
_NOT_BELOW: Final = _NOT_IN["below"]


@dataclass(slots=True)
class NounPhrase:
    """One phrase that stands in a place of a clause.

    ``head`` is its token, ``case`` the tokens of its preposition. ``is_antecedent``: a relative
    pronoun, or nothing, stands for it in its clause.
    """

    head: int
    case: list[int] = field(default_factory=list)
    is_antecedent: bool = False


@dataclass(slots=True)
class Clause:
    """A verb or a predicate noun or adjective, and what belongs to it. All are tokens.

    ``leading`` is the predicate before the head: auxiliaries, negation, adverbs, and the verbs that
    govern the head ("wants to"); ``governors`` are those verbs. ``complement`` is the head of a
    clause in the place of the object, ``xcomp`` of a predicate there. ``subordinate`` are the heads
    of adverbial clauses. ``context`` is the modality that the clause shares with coordinated ones.
    ``merged``: a later clause has this one's verb among its ``governors``.
    """

    head: int
    relation: str
    is_copula: bool
    parent: Clause | None = None
    subjects: list[NounPhrase] = field(default_factory=list)
    objects: list[NounPhrase] = field(default_factory=list)
    indirect: list[NounPhrase] = field(default_factory=list)
    obliques: list[NounPhrase] = field(default_factory=list)
    agents: list[NounPhrase] = field(default_factory=list)
    complement: int = -1
    xcomp: int = -1
    subordinate: list[int] = field(default_factory=list)
    adverbs: list[int] = field(default_factory=list)
    leading: list[int] = field(default_factory=list)
    particles: list[int] = field(default_factory=list)
    governors: list[int] = field(default_factory=list)
    auxiliaries: list[int] = field(default_factory=list)
    passive: bool = False
    negated: bool = False
    modality: str = ""
    context: str = ""
    merged: bool = False
    own_subject: bool = True
    existential: bool = False
    manner: list[str] = field(default_factory=list)


def coordinated(tree: SentenceTree, head: int) -> list[int]:
    """A phrase's head and those coordinated with it, in textual order."""
    found = [head]
    for place in found:
        for i in tree.children[place]:
            if tree.bases[i] == "conj" and len(found) < MOST_COORDINATED and not is_clause(tree, i):
                found.append(i)
    return found


def is_clause(tree: SentenceTree, token: int) -> bool:
    """Whether a token is the head of a clause."""
    children, relations = tree.children[token], tree.relations
    for i in children:
        if relations[i] == "cop" or relations[i] in _SUBJECTS:
            return True
    if tree.tags[token] != VERB:
        return False
    return tree.bases[token] in _CLAUSES


def preposition(tree: SentenceTree, noun: int) -> list[int]:
    """The tokens of a phrase's preposition: "in", "because of"."""
    found: list[int] = []
    for i in tree.children[noun]:
        if tree.bases[i] == "case" and i < noun:
            found.append(i)
            found += [j for j in tree.children[i] if tree.bases[j] == "fixed"]
    return found


def noun_phrase(
    tree: SentenceTree, head: int, left_out: Iterable[int] = (), *, without: str | None = None
) -> list[int]:
    """A noun with its modifiers; without relative clauses, appositions, the preposition, the
    phrases that are coordinated with it, those below the tokens of ``left_out``, and modifiers of
    the relation ``without``."""
    relations = _NOT_IN_NOUN_PHRASE | {without} if without else _NOT_IN_NOUN_PHRASE
    return tree.phrase(head, without=relations, without_below=_NOT_BELOW, without_tokens=left_out)


def subject_phrase(tree: SentenceTree, clause: Clause, head: int) -> list[int]:
    """A subject of a clause, without the clause itself where it modifies the subject."""
    obliques = [phrase.head for phrase in clause.obliques] if clause.existential else []
    return noun_phrase(tree, head, [clause.head, *obliques])


def predicate_phrase(
    tree: SentenceTree, head: int, clause: Clause, others: Iterable[int] = ()
) -> list[int]:
    """The noun or adjective behind a copula, without the tokens below ``others``."""
    left_out = [*clause.leading, *clause.adverbs, *others] if head == clause.head else []
    if tree.tags[head] == ADJ:
        left_out = [i for i in left_out if i < clause.head - 1 or i in clause.leading]
        without = _NOT_IN_NOUN_PHRASE | {"obl:unmarked"}
    else:
        without = _NOT_IN_PREDICATE_NOUN
    return tree.phrase(head, without=without, without_below=_NOT_BELOW, without_tokens=left_out)


def adjective_phrase(tree: SentenceTree, head: int) -> list[int]:
    """An adjective with its adverbs: "very fond"."""
    return tree.phrase(head, without=_NOT_IN["adjective_phrase"])


def adjunct_phrase(tree: SentenceTree, head: int, left_out: Iterable[int] = ()) -> list[int]:
    """An adjunct without its preposition, coordinated phrases included."""
    return tree.phrase(
        head, without=_NOT_IN["adjunct"], without_below=_NOT_BELOW, without_tokens=left_out
    )


def clause_phrase(tree: SentenceTree, head: int) -> list[int]:
    """A clause without its conjunction."""
    return tree.phrase(head, without=_NOT_IN["clause"])
