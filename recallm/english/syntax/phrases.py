"""Which tokens below a head belong to a phrase: noun phrases, predicates, clauses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from spacy.symbols import ADJ

from recallm.english.syntax.clause_parts import Clause
from recallm.english.syntax.tree import TABLE, SentenceTree
from recallm.english.word_lists import word_set

_NOT_IN: Final = {kind: word_set(relations) for kind, relations in TABLE["not_in"].items()}
_NOT_IN_NOUN_PHRASE: Final = _NOT_IN["noun_phrase"]
_NOT_IN_PREDICATE_NOUN: Final = _NOT_IN_NOUN_PHRASE | _NOT_IN["predicate_noun"]
_NOT_BELOW: Final = _NOT_IN["below"]


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
