"""The clauses of a sentence: each verb, or predicate noun or adjective, with its subject, its
complements, its negation and its modality."""

from __future__ import annotations

from collections import deque
from typing import Final

from spacy.symbols import ADJ, NOUN, PROPN, SCONJ, VERB

from recallm.english.syntax.modality import (
    ATTITUDE_NOUNS,
    ATTITUDES,
    REPORTING,
    infinitive_modality,
    is_negated,
    negation_words,
    own_modality,
    sentence_modality,
)
from recallm.english.syntax.phrases import Clause, NounPhrase, is_clause, preposition
from recallm.english.syntax.tree import WORDS, SentenceTree
from recallm.model import Mark

_MOST_STEPS: Final = 4
"""How far up the tree the clause of a noun is looked for."""

_RELATIVES: Final = WORDS["relatives"]
_PROSPECTIVE: Final = WORDS["prospective"]
_SEEKING: Final = frozenset(("look", "search", "need", "want"))
_PARTICLES: Final = WORDS["verb_particles"]


def read_clauses(tree: SentenceTree) -> list[Clause]:
    """The clauses of a sentence, each behind those that govern it."""
    clauses: dict[int, Clause] = {}
    asked = sentence_modality(tree)
    queue = deque(i for i, head in enumerate(tree.heads) if head < 0)
    while queue:
        i = queue.popleft()
        queue.extend(tree.children[i])
        if is_clause(tree, i):
            clause = _clause(tree, i, _parent(tree, i, clauses))
            find_subject(tree, clause, clauses)
            find_modality(tree, clause, asked, clauses)
            clauses[i] = clause
    return list(clauses.values())


def _parent(tree: SentenceTree, head: int, clauses: dict[int, Clause]) -> Clause | None:
    """The clause that a clause hangs from. A verb that the parser coordinates with a noun, or hangs
    from "sure" in "make sure", belongs to the clause of that word."""
    above = tree.heads[head]
    if tree.bases[head] in ("conj", "ccomp", "acl"):
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
            (clause.obliques if _is_frequency(tree, i) else clause.objects).append(NounPhrase(i))
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
            if head < i <= head + 2 and tree.lowered[i] in _PARTICLES:
                clause.particles.append(i)
            elif tree.lowered[i] not in _RELATIVES:
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
    if not clause.objects:
        clause.objects, clause.indirect = clause.indirect, []
    elif len(clause.objects) == 2 and bases[clause.objects[1].head] == "obj":
        first = clause.objects[0].head
        if tree.tags[first] == PROPN or tree.is_relative(first):
            clause.indirect.append(clause.objects.pop(0))  # "I gave Ann a book"
    if len(clause.subjects) > 1:
        named = [s for s in clause.subjects if tree.lowered[s.head] not in _RELATIVES]
        clause.subjects = named or clause.subjects
    return clause


def _is_frequency(tree: SentenceTree, noun: int) -> bool:
    """Whether a phrase in the place of an object says how often: "three times a week", "every
    Sunday"."""
    before = [tree.lowered[i] for i in tree.children[noun] if i < noun]
    if tree.lowered[noun] in ("times", "twice", "once"):
        return bool(before) or tree.lowered[noun] != "times"
    return ("every" in before or "each" in before) and tree.is_time(noun)


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


_TIME_MARKS: Final = WORDS["time_conjunctions"]


def find_subject(tree: SentenceTree, clause: Clause, clauses: dict[int, Clause]) -> None:
    """Give a clause the subject that stands elsewhere: that of the clause that it is coordinated
    with or governed by, or the noun that it modifies."""
    if clause.relation.startswith("acl") or clause.relation == "advcl:relcl":
        _find_antecedent(tree, clause, clauses)
        return
    for n, phrase in enumerate(clause.subjects):
        if tree.lowered[phrase.head] in ("who", "which") and phrase.head < clause.head:
            noun = _noun_before(tree, phrase.head)
            if noun >= 0:
                clause.subjects[n] = NounPhrase(noun, is_antecedent=True)
    if clause.subjects or clause.parent is None:
        return
    parent, base = clause.parent, tree.bases[clause.head]
    clause.own_subject = False
    if base == "conj":
        clause.subjects = parent.subjects
        _share_auxiliaries(tree, clause, parent)
    elif base == "xcomp":
        affected = parent.indirect or parent.objects
        if affected:
            clause.subjects = affected
            parent.subordinate.append(clause.head)
        else:
            clause.subjects = parent.subjects
            _govern(tree, clause, parent)
    elif base == "advcl":
        clause.subjects = parent.subjects
        clause.passive |= _is_participle(tree, clause)


def _find_antecedent(tree: SentenceTree, clause: Clause, clauses: dict[int, Clause]) -> None:
    """Put the noun that a clause modifies into the place of its relative pronoun, or where it
    misses a phrase."""
    noun = tree.heads[clause.head]
    if noun < 0:
        return
    if clause.subjects and _is_main(tree, clause):
        clause.relation = "root"
        return
    governing = clauses.get(noun)
    # "Ada is an engineer who works for Siemens": Ada works for Siemens.
    if governing is not None and governing.is_copula and governing.subjects:
        antecedents = governing.subjects
    elif governing is not None:
        return
    else:
        antecedents = [NounPhrase(noun, is_antecedent=True)]
    if clause.relation == "acl":
        if not clause.subjects:
            clause.subjects = antecedents
            clause.own_subject = False
            clause.passive |= _is_participle(tree, clause)
        return
    for place in (clause.subjects, clause.objects, clause.obliques):
        for n, phrase in enumerate(place):
            if tree.lowered[phrase.head] in _RELATIVES:
                place[n : n + 1] = [
                    NounPhrase(found.head, phrase.case, is_antecedent=True) for found in antecedents
                ]
                return
    if not clause.subjects:
        clause.subjects = antecedents
    elif clause.objects or clause.passive or clause.is_copula:
        return
    elif (
        clause.complement < 0
        and clause.xcomp < 0
        and _RELATIVES.isdisjoint(tree.lowered[i] for i in tree.children[clause.head])
    ):
        clause.objects = antecedents


def _is_main(tree: SentenceTree, clause: Clause) -> bool:
    """Whether what the parser takes for a relative clause is the main clause: "After I quit my job
    I moved to Bonn" has no other, since all before stands behind "after", and "These days I play
    tennis" has none."""
    if not _RELATIVES.isdisjoint(tree.lowered[i] for i in tree.children[clause.head]):
        return False
    noun, above = tree.heads[clause.head], tree.heads[0]
    if tree.heads[noun] < 0 and tree.is_time(noun):
        return True
    is_opened = tree.tags[0] == SCONJ or tree.lowered[0] in ("when", "whenever")
    if not is_opened or tree.bases[0] not in ("mark", "advmod"):
        return False
    above = tree.heads[above]
    return above < 0 or (tree.heads[above] < 0 and tree.tags[above] == NOUN)


def _noun_before(tree: SentenceTree, pronoun: int) -> int:
    """The noun or name just before a relative pronoun whose noun the parser does not tell; -1 if
    another word stands there."""
    before = pronoun - 1
    if before >= 0 and tree.lowered[before] == ",":
        before -= 1
    if before >= 0 and tree.tags[before] in (NOUN, PROPN):
        while tree.heads[before] > before and tree.bases[before] in ("compound", "flat", "nmod"):
            before = tree.heads[before]
        return before if before < pronoun else -1
    return -1


def _is_infinitive(tree: SentenceTree, clause: Clause) -> bool:
    return any(
        tree.relations[i] == "mark" and tree.lowered[i] == "to" for i in tree.children[clause.head]
    )


def _is_participle(tree: SentenceTree, clause: Clause) -> bool:
    """Whether a verb without auxiliary and subject is a passive participle: "founded by"."""
    return (
        not clause.auxiliaries
        and not tree.lowered[clause.head].endswith("ing")
        and not _is_infinitive(tree, clause)
        and not clause.is_copula
    )


def _govern(tree: SentenceTree, clause: Clause, parent: Clause) -> None:
    """Put the governing verb before the clause's own: "wants to buy", "started working"."""
    if parent.is_copula and tree.tags[parent.head] != ADJ:
        return
    mark = tree.child(clause.head, "mark")
    marks = [mark] if mark >= 0 else []
    clause.leading = sorted(
        {*parent.leading, parent.head, *parent.particles, *marks, *clause.leading}
    )
    clause.governors = [*parent.governors, parent.head]
    clause.negated |= parent.negated
    clause.obliques += parent.obliques
    clause.subordinate += [i for i in parent.subordinate if i not in clause.subordinate]
    clause.adverbs += parent.adverbs
    parent.merged = True


def _share_auxiliaries(tree: SentenceTree, clause: Clause, parent: Clause) -> None:
    """Give a coordinated verb the auxiliaries that it shares with the first: "may sell and buy"."""
    if clause.auxiliaries or not parent.leading or clause.is_copula or parent.is_copula:
        return
    word, form = tree.words[clause.head], tree.lowered[clause.head]
    first = tree.lowered[parent.head]
    if form.endswith("ing") and first.endswith("ing"):
        shared = True
    elif word.marks & Mark.PAST and first != tree.base_form(parent.head):
        shared = not clause.objects or not parent.passive
        clause.passive |= parent.passive and shared
    else:
        shared = form == tree.base_form(clause.head) and first == tree.base_form(parent.head)
    if not shared or (not parent.auxiliaries and not parent.governors):
        return
    # "but" contrasts a clause with the one before.
    is_contrast = any(
        tree.bases[i] == "cc" and tree.lowered[i] == "but" for i in tree.children[clause.head]
    )
    dropped = set(negation_words(tree, parent.head)) if is_contrast else set()
    clause.leading = sorted({*(i for i in parent.leading if i not in dropped), *clause.leading})
    clause.governors = list(parent.governors)
    clause.auxiliaries = list(parent.auxiliaries)
    clause.negated |= parent.negated
    clause.modality = parent.modality


def find_modality(
    tree: SentenceTree, clause: Clause, asked: str, clauses: dict[int, Clause]
) -> None:
    """The modality and the negation of a clause, those of its context among them."""
    parent, head = clause.parent, clause.head
    base = tree.bases[head]
    own = own_modality(tree, head)
    context = ""
    if base == "acl":
        context = _modality_of_noun(tree, head)
        if not context and _is_infinitive(tree, clause):
            context = "to"
        elif not context and is_any(tree, tree.heads[head]):
            # "I may create a sculpture that combines both."
            around = _parent(tree, head, clauses)
            if around is not None:
                verb = tree.base_form(around.head)
                context = around.modality or (verb if verb in _SEEKING else "")
    elif parent is not None:
        if base == "conj":
            # "excited to get started and see them grow"
            shares = not clause.own_subject and _is_infinitive(tree, parent)
            context = parent.context or (parent.modality if shares else "")
        elif base == "xcomp" and (clause.governors or not clause.own_subject):
            gerund = tree.lowered[head].endswith("ing") and not _is_infinitive(tree, clause)
            verb = infinitive_modality(tree, parent.head, gerund=gerund)
            own = " ".join(filter(None, (parent.modality, verb, own)))
            if clause.governors and not verb:
                # How a verb by which something is so stands in the normal form: "start to".
                lowered = tree.lowered[parent.head]
                is_written = lowered == "used" or parent.passive
                form = lowered if is_written else tree.base_form(parent.head)
                form = " ".join([form, *(tree.lowered[i] for i in parent.particles)])
                form += " to" if _is_infinitive(tree, clause) else ""
                clause.manner = [*parent.manner, form]
        elif base in ("ccomp", "csubj"):
            context = _reported_modality(tree, clause, parent)
        elif base == "advcl":
            mark = tree.child(head, "mark")
            if _is_infinitive(tree, clause):
                context = "to"
            elif mark < 0 or tree.lowered[mark] in _TIME_MARKS:
                context = parent.modality
            elif (verb := tree.base_form(parent.head)) in _PROSPECTIVE:
                context = verb
    elif base == "ccomp":
        context = _modality_of_noun(tree, head)
    if base != "acl":
        context = context or asked
    if not context:
        context = _conditional(tree, clause)
    clause.context = context
    clause.modality = own or clause.modality or context
    phrases = (*clause.subjects, *clause.objects)
    clause.negated |= any(is_negated(tree, phrase.head) for phrase in phrases)


def is_any(tree: SentenceTree, noun: int) -> bool:
    """Whether a noun names nobody and nothing in particular: "a sculpture", "places"."""
    return tree.tags[noun] == NOUN and not any(
        tree.lowered[i] in ("the", "this", "that", "these", "those")
        or tree.relations[i] == "nmod:poss"
        for i in tree.children[noun]
    )


def _modality_of_noun(tree: SentenceTree, head: int) -> str:
    """The modality of a clause by the noun that it hangs from: "the rumour that ..."."""
    noun = tree.heads[head]
    lemma = tree.base_form(noun) if noun >= 0 else ""
    return lemma if lemma in ATTITUDE_NOUNS else ""


def _reported_modality(tree: SentenceTree, clause: Clause, parent: Clause) -> str:
    """The modality of a clause that stands in the place of an object: "thinks that ..."."""
    if parent.modality:
        return parent.modality
    lemma = tree.base_form(parent.head)
    attitude = lemma if lemma in ATTITUDES else ""
    if parent.negated:
        if attitude:
            # "does not think that it is" says that it is not.
            clause.negated = not clause.negated
        elif lemma in REPORTING:
            return lemma
    return attitude


def _conditional(tree: SentenceTree, clause: Clause) -> str:
    """The word of the condition on which a clause depends: "if" or "unless"."""
    for i in clause.subordinate:
        mark = tree.child(i, "mark")
        is_condition = mark >= 0 and tree.lowered[mark] in ("if", "unless")
        if is_condition and (mark == 0 or tree.lowered[mark - 1] != "even"):
            return tree.lowered[mark]
    return ""
