"""The clauses of a sentence that can stand alone.

Where a split could say something that the sentence does not say, the sentence stays whole: in
questions, quotations, conditions and what somebody says or thinks, around "or" and negation, where
two verbs may share more than their subject, and where a pronoun would lose its antecedent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from spacy.symbols import AUX, NOUN, PRON, PROPN, VERB

from recallm.model import Mark
from recallm.syntax.clause_parts import is_clause
from recallm.syntax.mending import mend
from recallm.syntax.modality import is_negated, negation_words
from recallm.syntax.tree import WORDS, SentenceTree
from recallm.syntax.verbs import (
    auxiliaries_of,
    below,
    finite_of,
    first_word,
    has_subject,
    is_finite,
    is_imperative,
    shared_auxiliaries,
    subject_of,
    verbs_of,
)

__all__ = ["MARKS_OF_PARTS", "POSSESSIVES", "QUOTES", "StandaloneClause", "standalone_clauses"]

_LONGEST_SENTENCE: Final = 120
"""Tokens. A longer sentence is no prose; it stays whole."""

_PHRASES: Final = frozenset(("nsubj", "obj", "iobj", "obl"))
_EMBEDDED: Final = frozenset(("ccomp", "advcl", "acl", "parataxis", "csubj"))
_BROKEN: Final = frozenset(("orphan", "reparandum", "dislocated", "list", "goeswith", "dep"))
"""Relations of sentences that are no plain clauses."""

QUOTES: Final = frozenset(('"', "“", "”", "«", "»", "``", "''", "„", "‘"))
_KEPT_WHOLE: Final = QUOTES | frozenset(
    ("?", "if", "unless", "whether", "lest", "provided", "supposing", "assuming", "otherwise")
)
"""Tokens of questions, quotations and conditions."""
_HEDGES: Final = WORDS["modal_adverbs"] | {"according"}

_ADDING: Final = frozenset(("and", "but", "&"))
_SUBJECT_SCOPE: Final = frozenset(
    ("only", "few", "fewer", "hardly", "neither", "nor", "not", "one", "another")
)
"""In a subject: what holds of two verb phrases together need not hold of each."""

POSSESSIVES: Final = frozenset(("his", "its", "their", "theirs", "hers"))
_OF_SUBJECT: Final = POSSESSIVES | {"her"}
_THIRD_PERSONS: Final = POSSESSIVES | frozenset(("he", "she", "it", "they", "him", "her", "them"))
_POINTING: Final = frozenset(("this", "that", "these", "those", "there", "one", "ones", "so"))
_BREAKS: Final = frozenset((";", ":", "-", "--", "–", "—"))
MARKS_OF_PARTS: Final = frozenset((",", ";", ":", "-", "--", "–", "—", "(", ")", "[", "]"))
_PERSONS: Final = ("PER", "PERSON")
_PLACES: Final = ("LOC", "GPE", "FAC")


@dataclass(slots=True)
class StandaloneClause:
    """A clause, its own tokens, and what it borrows to stand before them: tokens, and inserted
    words."""

    head: int
    tokens: list[int] = field(default_factory=list)
    before: list[int | str] = field(default_factory=list)


def standalone_clauses(tree: SentenceTree, names: Mapping[int, str]) -> list[StandaloneClause]:
    """The clauses of a sentence that is split, in order, those of relative clauses and appositions
    last; fewer than two where it stays whole.

    ``names`` are the names that pronouns stand for, by token.
    """
    if len(tree) > _LONGEST_SENTENCE or _KEPT_WHOLE & set(tree.lowered):
        return []
    mend(tree)
    return [] if _BROKEN & set(tree.bases) else _Splitter(tree, names).clauses()


class _Splitter:
    """Finds the clauses of one sentence."""

    def __init__(self, tree: SentenceTree, names: Mapping[int, str]) -> None:
        self._tree = tree
        self._names = names

    def clauses(self) -> list[StandaloneClause]:
        """The clauses, in order; those of relative clauses and appositions are last."""
        tree = self._tree
        roots = [i for i, head in enumerate(tree.heads) if head < 0 and tree.bases[i] != "punct"]
        if len(roots) != 1 or (not is_clause(tree, roots[0]) and tree.tags[roots[0]] != VERB):
            return []
        root = roots[0]
        if not 0 <= subject_of(tree, root) < finite_of(tree, root) or is_imperative(tree, root):
            return []
        modifiers = self._modifiers(root)
        heads = self._coordinated(root)
        split = {*heads, *(i for i, _ in modifiers)}
        found = list(self._coordination(root, heads, split))
        for modifier, noun in modifiers:
            found += self._of_modifier(modifier, noun, split)
        return found

    # -- coordination ----------------------------------------------------------------------

    def _coordination(
        self, first: int, heads: Sequence[int], split: Collection[int]
    ) -> Iterator[StandaloneClause]:
        """The clause of ``first`` and those coordinated with it."""
        main = StandaloneClause(first, below(self._tree, first, split))
        yield main
        shared = self._before_verb(first, main.tokens)
        for head in heads:
            tokens = below(self._tree, head, split)
            tokens = [i for i in tokens if not (self._tree.bases[i] == "cc" and i < head)]
            before: list[int | str] = []
            if not has_subject(self._tree, head):
                before = [*shared, *shared_auxiliaries(self._tree, first, head)]
            yield StandaloneClause(head, tokens, before)

    def _before_verb(self, head: int, tokens: Sequence[int]) -> list[int]:
        """The tokens of a clause before its verb: its subject, and what stands before that."""
        tree = self._tree
        left_out = {
            j
            for i in tree.children[head]
            if tree.bases[i] in ("cc", "discourse", "vocative", "punct")
            for j in below(tree, i)
        }
        subject = subject_of(tree, head)
        end = min(i for i in verbs_of(tree, head) if i > subject)
        # "Oh, and by the way - I moved": what stands before the dash is no part of the clause.
        begin = max(
            (i + 1 for i in tokens if i < subject and tree.lowered[i] in _BREAKS), default=0
        )
        return [i for i in tokens if begin <= i < end and i not in left_out]

    def _coordinated(self, first: int) -> list[int]:
        """The clauses that are coordinated with ``first`` and can stand alone; none if one of them
        cannot."""
        tree = self._tree
        found = [
            i
            for i in tree.children[first]
            if (tree.bases[i] == "conj" and (is_clause(tree, i) or tree.tags[i] == AUX))
            or (tree.bases[i] == "parataxis" and self._follows_semicolon(i))
        ]
        for head in found:  # those coordinated with them join it
            found += [
                i for i in tree.children[head] if tree.bases[i] == "conj" and is_clause(tree, i)
            ]
        found.sort()
        if not found or not self._may_be_split(first, found):
            return []
        return found if all(self._stands_alone(first, head) for head in found) else []

    def _follows_semicolon(self, head: int) -> bool:
        begin = first_word(self._tree, below(self._tree, head))
        return (
            begin > 0 and self._tree.lowered[begin - 1] == ";" and subject_of(self._tree, head) >= 0
        )

    def _may_be_split(self, first: int, heads: Sequence[int]) -> bool:
        """Whether nothing in the sentence but its subject may belong to all of the clauses."""
        tree = self._tree
        if _HEDGES & set(tree.lowered):
            return False
        if "cc:preconj" in tree.relations:
            return False  # "both the staff and the visitors"
        joined = [tree.lowered[i] for h in heads for i in tree.children[h] if tree.bases[i] == "cc"]
        if not set(joined) <= _ADDING:
            return False
        if tree.child(heads[-1], "cc") < 0 and not self._follows_semicolon(heads[-1]):
            return False  # "Sales rose, costs fell, the firm added"
        before = first
        for head in heads:
            if not self._is_closed(before, head, heads):
                return False
            before = head
        return not any(
            tree.bases[i] == "parataxis" and i not in heads for i in range(len(tree))
        ) and not any(tree.bases[i] in _EMBEDDED and i < first for i in tree.children[first])

    def _is_closed(self, before: int, head: int, heads: Sequence[int]) -> bool:
        """Whether the clause ``before`` has all of its words before the next one begins, and none
        in which the next verb could stand."""
        tree = self._tree
        own = below(tree, before, heads)
        begin = first_word(tree, below(tree, head))
        if begin < before:
            return False
        behind = [i for i in own if i > before and tree.words[i].is_word]
        if any(i > begin for i in behind):
            return False
        if not behind and tree.child(before, "cop") < 0:
            return False  # "washed and dried the dishes"
        base_form = tree.lowered[head] == tree.lemmas[head].lower()
        for i in behind:
            if tree.bases[i] in _EMBEDDED:
                return False
            if tree.bases[i] == "xcomp" and base_form and not auxiliaries_of(tree, head):
                return False
            if tree.bases[i] == "conj" and is_clause(tree, i):
                return False
        return True

    def _stands_alone(self, first: int, head: int) -> bool:
        """Whether a coordinated clause says the same alone, with the subject of ``first`` where it
        has none."""
        tree = self._tree
        if tree.tags[head] == AUX or (
            tree.lemmas[head].lower() == "do" and not self._has_object(head)
        ):
            return False
        if has_subject(tree, head):
            subject = subject_of(tree, first)
            fronted = [
                i
                for i in tree.children[first]
                if i < subject and tree.bases[i] in ("obl", "advmod")
            ]
            return not fronted and self._has_antecedents(head, shares_subject=False)
        if tree.child(first, "expl") >= 0 or self._is_scoped(subject_of(tree, first)):
            return False
        subject = subject_of(tree, first)
        negation = negation_words(tree, first)
        adverbs = [
            i
            for i in tree.children[first]
            if tree.bases[i] == "advmod" and subject < i < first and i not in negation
        ]
        if adverbs or any(tree.lowered[i] not in ("not", "n't", "n’t") for i in negation):
            return False
        return is_finite(tree, first, head) and self._has_antecedents(head, shares_subject=True)

    def _has_object(self, head: int) -> bool:
        return self._tree.child(head, "obj", "xcomp", "ccomp") >= 0

    def _is_scoped(self, subject: int) -> bool:
        """Whether a subject says how many do something."""
        tree = self._tree
        return is_negated(tree, subject) or any(
            tree.lowered[i] in _SUBJECT_SCOPE for i in below(tree, subject)
        )

    def _has_antecedents(self, head: int, *, shares_subject: bool) -> bool:
        """Whether the pronouns of a clause are clear without the words around it.

        ``shares_subject``: it gets the subject that its possessives go back to.
        """
        tree = self._tree
        for i in below(tree, head):
            word = tree.lowered[i]
            if i in self._names or (shares_subject and self._goes_back_to_subject(i)):
                continue
            if word in _THIRD_PERSONS and tree.relations[i] != "expl":
                return False
            if word in _POINTING and (tree.tags[i] == PRON or tree.bases[i] in ("obj", "advmod")):
                return False
        return True

    def _goes_back_to_subject(self, token: int) -> bool:
        word = self._tree.lowered[token]
        return word in _OF_SUBJECT and self._tree.bases[token] in ("nmod", "det")

    # -- relative clauses, appositions, participles -----------------------------------------

    def _modifiers(self, root: int) -> list[tuple[int, int]]:
        """What is said of named things beside the sentence: (its head, the name)."""
        tree = self._tree
        return [
            (i, noun)
            for i, noun in enumerate(tree.heads)
            if noun >= 0
            and tree.bases[i] in ("acl", "appos")
            and self._is_name(noun, root)
            and self._is_set_off(i, noun)
            and self._can_be_said(i, noun)
        ]

    def _is_name(self, noun: int, root: int) -> bool:
        """Whether a token is the head of a name that stands alone in a place of a main clause."""
        tree = self._tree
        if tree.tags[noun] != PROPN or tree.bases[noun] not in _PHRASES:
            return False
        # "the mayor of Porto, who ...": nobody knows which of the two.
        if any(tree.bases[i] in ("conj", "nmod") and i > noun for i in tree.children[noun]):
            return False
        head = tree.heads[noun]
        while head >= 0 and head != root and tree.bases[head] in ("conj", "xcomp"):
            head = tree.heads[head]
        return head == root

    def _name_of(self, noun: int) -> list[int]:
        """The tokens of a name."""
        tree = self._tree
        split = [i for i in tree.children[noun] if tree.bases[i] in ("acl", "appos", "case")]
        tokens = below(tree, noun, split)
        while len(tokens) > 1 and tree.lowered[tokens[-1]] in MARKS_OF_PARTS:
            tokens.pop()
        return tokens

    def _is_set_off(self, modifier: int, noun: int) -> bool:
        """Whether a modifier stands behind its name, between commas or brackets."""
        tree = self._tree
        words = [i for i in below(tree, modifier) if tree.words[i].is_word]
        if not words:
            return False
        begin, end = words[0], words[-1] + 1
        if words != [i for i in range(begin, end) if tree.words[i].is_word]:
            return False
        return (
            tree.lowered[begin - 1] in (",", "(", "–", "—")
            and begin - 2 == self._name_of(noun)[-1]
            and (end == len(tree) or tree.lowered[end] in (",", ")", "–", "—", ".", "!", ";"))
        )

    def _can_be_said(self, modifier: int, noun: int) -> bool:
        tree = self._tree
        if any(
            tree.bases[i] in _EMBEDDED and i != modifier for i in below(tree, modifier)
        ) or not self._has_antecedents(modifier, shares_subject=True):
            return False
        if tree.bases[modifier] == "appos":
            return self._is_description(modifier)
        begin = first_word(tree, below(tree, modifier))
        word = tree.lowered[begin]
        label = tree.entity_labels.get(noun, "")
        if word == "whose":
            return tree.heads[begin] == subject_of(tree, modifier) < finite_of(tree, modifier)
        if word in ("who", "which"):
            subjects = [i for i in tree.children[modifier] if tree.bases[i] == "nsubj"]
            if subjects != [begin] or begin > finite_of(tree, modifier):
                return False
            if word == "who":
                # "I met the mayor in Porto, who ..."
                return label not in _PLACES and tree.child(noun, "case") < 0
            # At the end "which" may stand for the whole: "Ann moved to Porto, which surprised us".
            return label not in _PERSONS and tree.bases[noun] == "nsubj"
        return (
            tree.relations[modifier] == "acl"
            and begin == modifier
            and bool(tree.words[modifier].marks & Mark.PAST or word == "born")
        )

    def _is_description(self, noun: int) -> bool:
        """Whether an apposition says what one thing is: "an engineer at Cisco"."""
        tree = self._tree
        begin = tree.words[first_word(tree, below(tree, noun))].lowered
        return (
            tree.tags[noun] == NOUN
            and begin in ("a", "an", "the", "my", "our", "your")
            and not any(tree.bases[i] == "conj" for i in tree.children[noun])
        )

    def _of_modifier(
        self, modifier: int, noun: int, split: Collection[int]
    ) -> list[StandaloneClause]:
        """The clauses that a modifier of a name becomes."""
        tree = self._tree
        name: list[int | str] = [*self._name_of(noun)]
        if tree.relations[modifier] == "acl:relcl":
            heads = self._coordinated(modifier)
            found = list(self._coordination(modifier, heads, {*split, *heads} - {modifier}))
            relative = first_word(tree, found[0].tokens)
            if tree.lowered[relative] == "whose":
                name.append("'s")
            for clause in found:
                is_shared = relative in clause.before or relative in clause.tokens
                clause.tokens = [i for i in clause.tokens if i != relative]
                clause.before = [i for i in clause.before if i != relative]
                if is_shared:
                    clause.before = [*name, *clause.before]
            return found
        tokens = below(tree, modifier, [i for i in split if i != modifier])
        verb = "was" if tree.bases[modifier] == "acl" or self._is_past(noun) else "is"
        return [StandaloneClause(modifier, tokens, [*name, verb])]

    def _is_past(self, token: int) -> bool:
        """Whether the clause that a token stands in tells of the past."""
        tree = self._tree
        head = tree.heads[token]
        return bool(tree.words[finite_of(tree, head)].marks & Mark.PAST)
