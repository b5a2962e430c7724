"""The clauses of a sentence: each verb, or predicate noun or adjective, with its subject, its
complements, its negation and its modality."""

from __future__ import annotations

from collections import deque
from typing import Final

from spacy.symbols import ADJ, NOUN, PROPN, VERB

from recallm.model import Mark
from recallm.syntax.clause_context import find_modality, find_subject
from recallm.syntax.clause_parts import Clause, NounPhrase, is_clause, preposition
from recallm.syntax.modality import QUESTION, negation_words
from recallm.syntax.tree import WORDS, SentenceTree

__all__ = ["read_clauses"]

_MOST_STEPS: Final = 4
"""How far up the tree the clause of a noun is looked for."""

_RELATIVES: Final = WORDS["relatives"]


def read_clauses(tree: SentenceTree) -> list[Clause]:
    """The clauses of a sentence, each behind those that govern it."""
    clauses: dict[int, Clause] = {}
    asked = QUESTION if any("?" in word for word in tree.lowered[-3:]) else ""
    queue = deque(i for i, head in enumerate(tree.heads) if head < 0)
    while queue:
        i = queue.popleft()
        queue.extend(tree.children[i])
        if is_clause(tree, i):
            clause = _clause(tree, i, _parent(tree, i, clauses))
            find_subject(tree, clause, clauses)
            find_modality(tree, clause, asked)
            clauses[i] = clause
    return list(clauses.values())


def _parent(tree: SentenceTree, head: int, clauses: dict[int, Clause]) -> Clause | None:
    """The clause that a clause hangs from. A verb that the parser coordinates with a noun belongs
    to the clause of that noun."""
    above = tree.heads[head]
    if tree.bases[head] == "conj":
        for _ in range(_MOST_STEPS):
            if above < 0 or above in clauses:
                break
            above = tree.heads[above]
    return clauses.get(above)


def _clause(tree: SentenceTree, head: int, parent: Clause | None) -> Clause:
    """A clause with what hangs from its head."""
    relations, bases = tree.relations, tree.bases
    # "was bitten by a dog" is a passive, even if the parser takes "was" for a copula.
    copula = tree.child(head, "cop") >= 0
    participle = (
        copula
        and tree.tags[head] == VERB
        and bool(tree.words[head].marks & Mark.PAST)
        and tree.child(head, "obl", "obl:agent") >= 0
    )
    clause = Clause(head, relations[head], copula and not participle, parent, passive=participle)
    for i in tree.children[head]:
        base, relation = bases[i], relations[i]
        if base == "nsubj" or base == "csubj":
            clause.subjects.append(NounPhrase(i))
            clause.passive |= relation == "nsubj:pass" and not clause.is_copula
        elif base == "obj":
            clause.objects.append(NounPhrase(i))
        elif base == "iobj":
            clause.indirect.append(NounPhrase(i))
        elif base == "obl" or (base == "nmod" and not clause.is_copula):
            phrase = NounPhrase(i, preposition(tree, i))
            agent = relation == "obl:agent"
            (clause.agents if agent else clause.obliques).append(phrase)
        elif base == "aux" or base == "cop":
            clause.auxiliaries.append(i)
            clause.passive |= relation == "aux:pass" and not clause.is_copula
        elif base == "ccomp":
            clause.complement = i
        elif base == "xcomp":
            clause.xcomp = i
        elif relation == "advcl":
            clause.subordinate.append(i)
        elif base == "advmod":
            if tree.lowered[i] not in _RELATIVES:
                clause.adverbs.append(i)
        elif base == "expl" and tree.lowered[i] == "there":
            clause.existential = True
        elif relation == "compound:prt":
            clause.particles.append(i)
    negation = negation_words(tree, head)
    clause.negated = bool(negation)
    clause.leading = _leading(tree, clause, negation)
    clause.adverbs = [i for i in clause.adverbs if i not in clause.leading and i not in negation]
    if clause.existential and not clause.obliques:
        # "There is a bakery in our street": the phrase may hang from the noun.
        for subject in clause.subjects:
            for i in tree.children[subject.head]:
                if relations[i] == "nmod" and i > head:
                    clause.obliques.append(NounPhrase(i, preposition(tree, i)))
    if clause.objects and not clause.is_copula:
        # "a house and a car": the parser may coordinate the noun with the verb.
        clause.objects += [
            NounPhrase(i)
            for i in tree.children[head]
            if relations[i] == "conj"
            and tree.tags[i] in (NOUN, PROPN)
            and not is_clause(tree, i)
            and clause.objects[0].head < i
        ]
    for phrase in [*clause.objects, *clause.obliques]:
        clause.obliques += _of_name(tree, phrase.head)
    if not clause.objects:
        clause.objects, clause.indirect = clause.indirect, []
    if len(clause.subjects) > 1:
        named = [s for s in clause.subjects if tree.lowered[s.head] not in _RELATIVES]
        clause.subjects = named or clause.subjects
    return clause


def _of_name(tree: SentenceTree, name: int) -> list[NounPhrase]:
    """The phrases that the parser hangs from a name behind a verb, and that belong to the verb:
    "from Oslo to Bergen"."""
    if tree.tags[name] != PROPN:
        return []
    found = [
        NounPhrase(i, preposition(tree, i))
        for i in tree.children[name]
        if tree.relations[i] == "nmod" and i > name
    ]
    return [phrase for phrase in found if phrase.case and tree.lowered[phrase.case[0]] != "of"]


def _leading(tree: SentenceTree, clause: Clause, negation: list[int]) -> list[int]:
    """The auxiliaries and the negation, and the adverbs among them and just before the head."""
    head = clause.head
    found = sorted({i for i in (*clause.auxiliaries, *negation) if tree.bases[i] != "case"})
    before = [i for i in found if i < head]
    adverbs = [i for i in clause.adverbs if i < head and not tree.children[i]]
    if clause.is_copula:
        # The predicate is the copula: "is also".
        end = max((i for i in found if tree.bases[i] == "cop"), default=head)
        begin = min(found, default=end)
        behind = end + 1
        while behind in adverbs and not tree.is_time(behind) and tree.tags[head] != ADJ:
            found.append(behind)
            behind += 1
        return sorted({*found, *(i for i in adverbs if begin < i < end)})
    begin = min(before, default=head)
    while begin - 1 in adverbs and not tree.is_time(begin - 1):
        begin -= 1
    return sorted({*found, *(i for i in adverbs if begin <= i < head)})
