"""Which tokens below a head belong to a phrase: noun phrases, predicates, clauses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from spacy.symbols import ADJ

from recallm.english.syntax.clause_parts import Clause
from recallm.english.syntax.tree import SentenceTree

# Relations of Universal Dependencies that belong to no phrase of that kind.
# fmt: off
_NOT_IN_NOUN_PHRASE: Final = frozenset((
    "case", "cc", "cc:preconj", "conj", "mark", "cop", "aux", "nsubj", "nsubj:pass",
    "nsubj:outer", "csubj", "advcl", "acl:relcl", "appos", "parataxis", "discourse", "vocative",
    "expl", "reparandum", "list", "dep", "orphan",
))
_NOT_IN_PREDICATE_NOUN: Final = _NOT_IN_NOUN_PHRASE | frozenset((
    "obl:unmarked", "obl:agent", "advmod", "ccomp", "obl",
))
_NOT_IN_ADJECTIVE_PHRASE: Final = frozenset((
    "nsubj", "nsubj:pass", "nsubj:outer", "csubj", "cop", "aux", "mark", "obl", "obl:unmarked",
    "obl:agent", "advcl", "ccomp", "xcomp", "conj", "cc", "punct", "parataxis", "acl:relcl",
    "advcl:relcl", "discourse", "vocative", "expl", "dep",
))
_NOT_IN_ADJUNCT: Final = frozenset(("case", "acl:relcl", "appos", "parataxis"))
_NOT_IN_CLAUSE: Final = frozenset(("mark", "parataxis", "discourse", "vocative", "cc"))
_NOT_BELOW: Final = frozenset(("acl:relcl", "parataxis", "discourse", "reparandum", "list"))
# fmt: on


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


def predicate_phrase(tree: SentenceTree, head: int, clause: Clause) -> list[int]:
    """The noun or adjective behind a copula."""
    left_out = [*clause.leading, *clause.adverbs] if head == clause.head else []
    if tree.tags[head] == ADJ:
        left_out = [i for i in left_out if i < clause.head - 1 or i in clause.leading]
        without = _NOT_IN_NOUN_PHRASE | {"obl:unmarked"}
    else:
        without = _NOT_IN_PREDICATE_NOUN
    return tree.phrase(head, without=without, without_below=_NOT_BELOW, without_tokens=left_out)


def adjective_phrase(tree: SentenceTree, head: int) -> list[int]:
    """An adjective with its adverbs: "very fond"."""
    return tree.phrase(head, without=_NOT_IN_ADJECTIVE_PHRASE)


def adjunct_phrase(tree: SentenceTree, head: int, left_out: Iterable[int] = ()) -> list[int]:
    """An adjunct without its preposition, coordinated phrases included."""
    return tree.phrase(
        head, without=_NOT_IN_ADJUNCT, without_below=_NOT_BELOW, without_tokens=left_out
    )


def clause_phrase(tree: SentenceTree, head: int) -> list[int]:
    """A clause without its conjunction."""
    return tree.phrase(head, without=_NOT_IN_CLAUSE)
