"""What clauses and noun phrases state, as tokens: subjects, predicates, objects and adjuncts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Final, Literal

from spacy.symbols import ADJ, ADV, NOUN, PROPN

from recallm.english.syntax.modality import REPORTING, is_negated
from recallm.english.syntax.phrases import (
    Clause,
    NounPhrase,
    adjective_phrase,
    adjunct_phrase,
    clause_phrase,
    coordinated,
    noun_phrase,
    predicate_phrase,
    preposition,
    subject_phrase,
)
from recallm.english.syntax.tree import WORDS, SentenceTree

_TIME_PREPOSITIONS: Final = WORDS["time_prepositions"]
_TIME_OR_ORDER: Final = frozenset(("before", "after", "as"))
_PLACE_PREPOSITIONS: Final = WORDS["place_prepositions"]
_PLACE_BESIDE_NAMES: Final = WORDS["place_prepositions_of_names"]
_TIME_ADVERBS: Final = WORDS["time_adverbs"]
_PLACE_ADVERBS: Final = WORDS["place_adverbs"]


def adjunct_kind(
    tree: SentenceTree, head: int, case: Sequence[int]
) -> Literal["time", "place", "other"]:
    """The kind of an adjunct by its head, its preposition or subordinating word, and the entities
    of the text."""
    word = tree.lowered[head]
    preposition = tree.lowered[case[0]] if case else ""
    if tree.is_time(head) or preposition in _TIME_PREPOSITIONS or word in _TIME_ADVERBS:
        return "time"
    if preposition in _TIME_OR_ORDER and tree.relations[head] == "advcl":
        return "time"
    if preposition in _PLACE_PREPOSITIONS or word in _PLACE_ADVERBS:
        return "place"
    is_place = tree.entity_labels.get(head) == "LOC"
    if is_place and (not case or preposition in _PLACE_BESIDE_NAMES):
        return "place"
    return "other"


AdjunctTokens = tuple[Literal["time", "place", "other"], list[int], list[int]]
"""An adjunct's kind, the tokens of its preposition, and its other tokens."""


@dataclass(slots=True)
class Draft:
    """A triplet as tokens of its sentence, before it is written. ``construction`` is the rule that
    found it, ``words`` the predicate where the sentence does not spell it ("is", "has"). ``value``:
    what the object is where it names nothing."""

    construction: str
    subject: list[int]
    predicate: list[int]
    object: list[int]
    relation: str
    subject_head: int
    object_head: int = -1
    words: str = ""
    value: Literal["", "number", "date", "quality"] = ""
    adjuncts: list[AdjunctTokens] = field(default_factory=list)
    negated: bool = False
    modality: str = ""
    clause: Clause | None = None


def of_clause(tree: SentenceTree, clause: Clause) -> Iterator[Draft]:
    """What a clause states: a draft for each of its coordinated subjects with each object."""
    subjects = [phrase.head for phrase in _each(tree, clause.subjects)]
    if not subjects:
        return
    if clause.is_copula:
        yield from _of_copula(tree, clause, subjects)
        return
    objects, place = _objects(tree, clause)
    if not objects and clause.merged:
        return
    predicate = sorted({*clause.leading, clause.head, *clause.particles})
    draft = partial(
        Draft,
        f"{'passive' if clause.passive else 'verb'} {place or 'alone'}",
        adjuncts=_adjuncts(tree, clause, place),
        modality=clause.modality,
        clause=clause,
    )
    relation = normal_form(tree, clause)
    own_phrases = [phrase.head for phrase in clause.obliques]
    for subject in subjects:
        subject_tokens = subject_phrase(tree, clause, subject)
        if not objects:
            yield draft(subject_tokens, predicate, [], relation, subject, negated=clause.negated)
        for phrase in objects:
            if place == "quote":
                tokens = tree.phrase(phrase.head, without_tokens=(clause.head,))
            elif place in ("complement", "xcomp"):
                tokens = clause_phrase(tree, phrase.head)
            else:
                tokens = noun_phrase(tree, phrase.head, own_phrases)
            yield draft(
                subject_tokens,
                predicate + [i for i in phrase.case if i > clause.head or phrase.is_antecedent],
                tokens,
                _with_preposition(tree, relation, phrase.case),
                subject,
                -1 if place in ("complement", "quote") else phrase.head,
                negated=clause.negated or is_negated(tree, phrase.head),
            )


def _objects(tree: SentenceTree, clause: Clause) -> tuple[list[NounPhrase], str]:
    """What stands in the place of a verb's object, one phrase for each coordinated one, and which
    place that is: "object", "complement" (a clause), "xcomp" (a predicate), "quote", "agent",
    "oblique", "" if there is none."""
    if clause.objects:
        return _each(tree, clause.objects), "object"
    if clause.complement >= 0:
        mark = tree.child(clause.complement, "mark")
        case = [mark] if mark >= 0 and tree.lowered[mark] in ("that", "whether", "if") else []
        return [NounPhrase(clause.complement, case)], "complement"
    if clause.xcomp >= 0 and not clause.merged:
        return [NounPhrase(clause.xcomp)], "xcomp"
    if clause.relation == "parataxis" and tree.base_form(clause.head) in REPORTING:
        return [NounPhrase(tree.heads[clause.head])], "quote"
    if clause.passive and clause.agents:
        return _each(tree, clause.agents), "agent"
    behind = [
        phrase
        for phrase in clause.obliques
        if phrase.case and (phrase.head > clause.head or phrase.is_antecedent)
    ]
    spatial = [phrase for phrase in behind if not tree.is_time(phrase.head)]
    chosen = spatial[:1] or behind[:1] or clause.agents[:1]
    return (_each(tree, chosen), "oblique") if chosen else ([], "")


def _each(tree: SentenceTree, phrases: Sequence[NounPhrase]) -> list[NounPhrase]:
    """Phrases with those coordinated with them, which share the preposition."""
    found: list[NounPhrase] = []
    for phrase in phrases:
        found.append(phrase)
        if not phrase.is_antecedent:
            found += [
                NounPhrase(head, preposition(tree, head) or phrase.case)
                for head in coordinated(tree, phrase.head)[1:]
            ]
    return found


def _adjuncts(tree: SentenceTree, clause: Clause, place: str) -> list[AdjunctTokens]:
    """The adjuncts of a clause in textual order."""
    found: list[AdjunctTokens] = []
    chosen: int = -1
    if place == "oblique":
        objects, _ = _objects(tree, clause)
        chosen = objects[0].head
    phrases = [*clause.indirect, *clause.obliques]
    if place != "agent":
        phrases += clause.agents
    for phrase in phrases:
        if phrase.head != chosen:
            tokens = adjunct_phrase(tree, phrase.head, [other.head for other in phrases])
            kind = adjunct_kind(tree, phrase.head, phrase.case)
            found.append((kind, phrase.case, tokens))
    for i in clause.subordinate:
        marks = [j for j in tree.children[i] if tree.relations[j] == "mark" and j < i]
        if marks:  # participles have a triplet of their own
            tokens = clause_phrase(tree, i)
            found.append((adjunct_kind(tree, i, marks), marks, tokens))
    found.extend(
        (adjunct_kind(tree, i, []), [], tree.phrase(i))
        for i in clause.adverbs
        if tree.tags[i] == ADV or tree.is_time(i)
    )
    found.sort(key=lambda adjunct: adjunct[2][:1])
    return found


def _of_copula(tree: SentenceTree, clause: Clause, subjects: Sequence[int]) -> Iterator[Draft]:
    """⟨Ada, is, an engineer⟩, ⟨Ada, is in, Paris⟩, ⟨Ada, is afraid of, dogs⟩."""
    behind = [p for p in clause.obliques if p.case and p.head > clause.head]
    adjective = tree.tags[clause.head] == ADJ
    place = ""
    if adjective and behind and not tree.is_time(behind[0].head):
        objects = _each(tree, behind[:1])
        predicate = sorted({*clause.leading, *adjective_phrase(tree, clause.head)})
        relation = f"be {tree.lowered[clause.head]}"
        place = "oblique"
    else:
        if clause.merged:
            return
        predicate = clause.leading
        case = preposition(tree, clause.head)
        objects = [
            NounPhrase(i, preposition(tree, i) or case) for i in coordinated(tree, clause.head)
        ]
        if tree.is_time(clause.head) and objects[0].case:
            # "is on 14 June in Bath"
            objects += [
                NounPhrase(i, preposition(tree, i))
                for i in tree.children[clause.head]
                if tree.relations[i] == "nmod" and preposition(tree, i)
            ]
        relation = "be"
    adjuncts = _adjuncts(tree, clause, place)
    for subject, phrase in product(subjects, objects):
        if place == "oblique":
            tokens = noun_phrase(tree, phrase.head)
        else:
            others = [other.head for other in objects if other is not phrase]
            tokens = predicate_phrase(tree, phrase.head, clause, others)
        yield Draft(
            "copula oblique" if place else f"copula {'adjective' if adjective else 'noun'}",
            subject_phrase(tree, clause, subject),
            predicate + phrase.case,
            tokens,
            _with_preposition(tree, relation, phrase.case),
            subject,
            phrase.head,
            adjuncts=adjuncts,
            negated=clause.negated or is_negated(tree, phrase.head),
            modality=clause.modality,
            clause=clause,
        )


def normal_form(tree: SentenceTree, clause: Clause) -> str:
    """The predicate without auxiliaries, adverbs and negation: "has been working" → "work"."""
    form = tree.lowered[clause.head]
    is_governed = clause.manner and (
        form.endswith("ing") or not clause.manner[-1].endswith(" to")
    )  # "love reading", "feel lost"
    as_written = clause.passive or is_governed
    head = form if as_written else tree.base_form(clause.head)
    words = ["be", head] if clause.passive else [head]
    words[:0] = clause.manner
    words += [tree.lowered[i] for i in clause.particles]
    return " ".join(words)


def _with_preposition(tree: SentenceTree, relation: str, case: Sequence[int]) -> str:
    words = [tree.lowered[i] for i in case if tree.lowered[i] not in ("that", "whether", "if")]
    return " ".join([relation, *words])


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
            construction, subject = "title", noun_phrase(tree, noun, without=relation)
        elif relation == "nmod" and tree.tags[i] == PROPN:
            case = preposition(tree, i)
            if not case or tree.lowered[case[0]] not in _PLACES:
                continue
            construction, subject = "place", noun_phrase(tree, noun, without=relation)
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
        is_role = tree.tags[i] == NOUN and not tree.words[i].is_acronym
        is_role = is_role and noun not in tree.written_together(i)  # "self-timer"
        if (
            tree.tags[noun] == PROPN
            and tree.words[noun].is_capitalised
            and is_role
            and possessor < i < noun
        ):
            role, name = i, noun
        elif tree.tags[i] == PROPN and noun < i and tree.relations[i] in ("appos", "flat"):
            name = i if tree.tags[noun] == NOUN else name
    if name < 0:
        owned, words, relation = noun_phrase(tree, noun, without="nmod:poss"), "has", "have"
    else:
        owned = noun_phrase(tree, name)
        if name == noun:
            owned = [i for i in owned if i > role]
        words = f"has {tree.words[role].text}"
        relation = f"have {tree.lowered[role]}"
    head = noun if name < 0 else name
    subject = noun_phrase(tree, possessor)
    yield Draft("possessor", subject, [], owned, relation, possessor, head, words=words)
