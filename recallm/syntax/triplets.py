"""Open triplets: what a sentence states, as ⟨subject, predicate, object⟩ with its adjuncts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import TYPE_CHECKING, Final, Literal

from spacy.symbols import ADJ, ADV

from recallm.model import Adjunct, ConceptMention, OpenTriplet
from recallm.syntax.adjuncts import adjunct_kind
from recallm.syntax.clauses import Clause, NounPhrase, coordinated, read_clauses
from recallm.syntax.modality import REPORTING, is_negated
from recallm.syntax.tree import SentenceTree

if TYPE_CHECKING:
    from recallm.extraction.pipeline import TaggedText

__all__ = ["ConceptAt", "open_triplets"]

ConceptAt = Callable[[int], ConceptMention | None]
"""The concept that a token of a text stands for, pronouns resolved; None if it stands for none."""

_MOST_COMBINED: Final = 60
"""Triplets of one clause whose subject and object are coordinations."""

_NOT_IN_NOUN_PHRASE: Final = frozenset(
    (
        "case",
        "cc",
        "cc:preconj",
        "conj",
        "mark",
        "cop",
        "aux",
        "nsubj",
        "nsubj:pass",
        "nsubj:outer",
        "csubj",
        "advcl",
        "acl:relcl",
        "appos",
        "parataxis",
        "discourse",
        "vocative",
        "expl",
        "reparandum",
        "list",
        "dep",
        "orphan",
    )
)
_NOT_IN_PREDICATE_NOUN: Final = _NOT_IN_NOUN_PHRASE | frozenset(
    ("obl:unmarked", "obl:agent", "advmod", "ccomp", "obl")
)
_NOT_BELOW: Final = frozenset(("acl:relcl", "parataxis", "discourse", "reparandum", "list"))
_NOT_IN_CLAUSE: Final = frozenset(("mark", "parataxis", "discourse", "vocative", "cc"))
_NAME_PARTS: Final = frozenset(("flat", "compound", "nmod", "amod"))


AdjunctTokens = tuple[Literal["time", "place", "other"], list[int], list[int]]
"""An adjunct's kind, the tokens of its preposition, and its other tokens."""


@dataclass(slots=True)
class Draft:
    """A triplet as tokens of its sentence, before it is written. ``construction`` is the rule that
    found it, ``words`` the predicate where the sentence does not spell it ("is", "has")."""

    construction: str
    subject: list[int]
    predicate: list[int]
    object: list[int]
    relation: str
    subject_head: int
    object_head: int = -1
    words: str = ""
    adjuncts: list[AdjunctTokens] = field(default_factory=list)
    negated: bool = False
    modality: str = ""
    clause: Clause | None = None


def open_triplets(
    tagged: TaggedText,
    span: tuple[int, int],
    *,
    position: int = 0,
    concept_at: ConceptAt | None = None,
) -> list[OpenTriplet]:
    """The triplets that a sentence states, in textual order of their clauses.

    ``tagged`` is a text with a parse, ``span`` the sentence's (first token, last + 1), ``position``
    that of its statement. ``concept_at`` takes a token's place in the text. A verb without an
    object gives a triplet whose object is empty. Nothing is read out of a text without a parse.
    """
    if tagged.tree is None or span[0] >= span[1]:
        return []
    tree = SentenceTree(tagged, tagged.tree, span)
    found: dict[tuple[str, str, str], OpenTriplet] = {}
    for draft in drafts(tree):
        triplet = _written(tree, draft, position, concept_at)
        found.setdefault((triplet.subject, triplet.predicate, triplet.object), triplet)
    return list(found.values())


def drafts(tree: SentenceTree) -> Iterator[Draft]:
    """The triplets of a sentence, as tokens."""
    for clause in read_clauses(tree):
        yield from islice(_of_clause(tree, clause), _MOST_COMBINED)
    for i in range(len(tree)):
        yield from _of_noun(tree, i)


# Clauses.


def _of_clause(tree: SentenceTree, clause: Clause) -> Iterator[Draft]:
    subjects = [head for phrase in clause.subjects for head in _alternatives(tree, phrase)]
    if not subjects:
        return
    if clause.is_copula:
        yield from _of_copula(tree, clause, subjects)
        return
    objects, place = _objects(tree, clause)
    if not objects and clause.merged:
        return
    adjuncts = _adjuncts(tree, clause, place)
    predicate = sorted({*clause.leading, clause.head, *clause.particles})
    construction = _construction(clause, place)
    relation = _normal_form(tree, clause)
    if not objects:
        for subject in subjects:
            yield Draft(
                construction,
                _subject_phrase(tree, clause, subject),
                predicate,
                [],
                relation,
                subject,
                adjuncts=adjuncts,
                negated=clause.negated,
                modality=clause.modality,
                clause=clause,
            )
        return
    for subject, phrase in product(subjects, objects):
        clausal = place in ("complement", "xcomp", "quote")
        if place == "quote":
            tokens = tree.phrase(phrase.head, without_tokens=(clause.head,))
        elif clausal:
            tokens = tree.phrase(phrase.head, without=_NOT_IN_CLAUSE)
        else:
            tokens = _noun_phrase(tree, phrase.head)
        yield Draft(
            construction,
            _subject_phrase(tree, clause, subject),
            predicate + [i for i in phrase.case if i > clause.head or phrase.is_antecedent],
            tokens,
            _with_preposition(tree, relation, phrase.case),
            subject,
            -1 if place in ("complement", "quote") else phrase.head,
            adjuncts=adjuncts,
            negated=clause.negated or is_negated(tree, phrase.head),
            modality=clause.modality,
            clause=clause,
        )


def _alternatives(tree: SentenceTree, phrase: NounPhrase) -> list[int]:
    return coordinated(tree, phrase.head) if not phrase.is_antecedent else [phrase.head]


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
            for head in coordinated(tree, phrase.head)[1:]:
                own = [i for i in tree.children[head] if tree.bases[i] == "case" and i < head]
                found.append(NounPhrase(head, own or phrase.case))
    return found


def _construction(clause: Clause, place: str) -> str:
    kind = "passive" if clause.passive else "verb"
    return f"{kind} {place or 'alone'}"


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
            tokens = tree.phrase(
                phrase.head,
                without=frozenset(("case", "acl:relcl", "appos", "parataxis")),
                without_below=_NOT_BELOW,
            )
            kind = adjunct_kind(tree, phrase.head, phrase.case)
            found.append((kind, phrase.case, tokens))
    for i in clause.subordinate:
        marks = [j for j in tree.children[i] if tree.relations[j] == "mark" and j < i]
        tokens = tree.phrase(i, without=_NOT_IN_CLAUSE)
        found.append((adjunct_kind(tree, i, marks), marks, tokens))
    found += [
        (adjunct_kind(tree, i, []), [], tree.phrase(i))
        for i in clause.adverbs
        if tree.tags[i] == ADV or tree.is_time(i)
    ]
    found.sort(key=lambda adjunct: adjunct[2][:1])
    return found


def _of_copula(tree: SentenceTree, clause: Clause, subjects: Sequence[int]) -> Iterator[Draft]:
    """⟨Ada, is, an engineer⟩, ⟨Ada, is in, Paris⟩, ⟨Ada, is afraid of, dogs⟩."""
    behind = [p for p in clause.obliques if p.case and p.head > clause.head]
    adjective = tree.tags[clause.head] == ADJ
    place = ""
    if adjective and behind and not tree.is_time(behind[0].head):
        objects = _each(tree, behind[:1])
        predicate = sorted({*clause.leading, *tree.phrase(clause.head, without=_ALL_BUT_ADVERBS)})
        relation = f"be {tree.lowered[clause.head]}"
        place = "oblique"
    else:
        if clause.merged:
            return
        predicate = clause.leading
        objects = [NounPhrase(i, _own_case(tree, i)) for i in coordinated(tree, clause.head)]
        relation = "be"
    adjuncts = _adjuncts(tree, clause, place)
    for subject, phrase in product(subjects, objects):
        if place == "oblique":
            tokens = _noun_phrase(tree, phrase.head)
        else:
            tokens = _predicate_phrase(tree, phrase.head, clause)
        yield Draft(
            "copula oblique" if place else f"copula {'adjective' if adjective else 'noun'}",
            _noun_phrase(tree, subject),
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


_ALL_BUT_ADVERBS: Final = frozenset(
    (
        "nsubj",
        "nsubj:pass",
        "nsubj:outer",
        "csubj",
        "cop",
        "aux",
        "mark",
        "obl",
        "obl:unmarked",
        "obl:agent",
        "advcl",
        "ccomp",
        "xcomp",
        "conj",
        "cc",
        "punct",
        "parataxis",
        "acl:relcl",
        "advcl:relcl",
        "discourse",
        "vocative",
        "expl",
        "dep",
    )
)


def _own_case(tree: SentenceTree, noun: int) -> list[int]:
    return [i for i in tree.children[noun] if tree.bases[i] == "case" and i < noun]


def _predicate_phrase(tree: SentenceTree, head: int, clause: Clause) -> list[int]:
    left_out = [*clause.leading, *clause.adverbs] if head == clause.head else []
    if tree.tags[head] == ADJ:
        left_out = [i for i in left_out if i < clause.head - 1 or i in clause.leading]
        return tree.phrase(
            head,
            without=_NOT_IN_NOUN_PHRASE | {"obl:unmarked"},
            without_below=_NOT_BELOW,
            without_tokens=left_out,
        )
    return tree.phrase(
        head, without=_NOT_IN_PREDICATE_NOUN, without_below=_NOT_BELOW, without_tokens=left_out
    )


def _normal_form(tree: SentenceTree, clause: Clause) -> str:
    """The predicate without auxiliaries, adverbs and negation: "has been working" → "work"."""
    form = tree.lowered[clause.head]
    as_written = clause.passive or (clause.manner and form.endswith("ing"))
    head = form if as_written else tree.base_form(clause.head)
    words = ["be", head] if clause.passive else [head]
    words[:0] = clause.manner
    words += [tree.lowered[i] for i in clause.particles]
    return " ".join(words)


def _with_preposition(tree: SentenceTree, relation: str, case: Sequence[int]) -> str:
    words = [tree.lowered[i] for i in case if tree.lowered[i] not in ("that", "whether", "if")]
    return " ".join([relation, *words])


# Nouns.


def _of_noun(tree: SentenceTree, noun: int) -> Iterator[Draft]:
    """What a noun phrase states: appositions, titles, possessors."""
    relations = tree.relations
    for i in tree.children[noun]:
        relation = relations[i]
        if relation == "appos":
            yield _implied("apposition", tree, noun, i, "is", "be")
        elif relation == "nmod:desc":
            yield _implied("title", tree, noun, i, "is", "be")
        elif relation == "nmod:poss":
            yield _implied("possessor", tree, i, noun, "has", "have")


def _implied(
    construction: str, tree: SentenceTree, subject: int, noun: int, word: str, relation: str
) -> Draft:
    """A triplet whose predicate the sentence does not spell."""
    without = _NOT_IN_NOUN_PHRASE
    if construction == "title":
        tokens = tree.phrase(subject, without=without | {"nmod:desc"}, without_below=_NOT_BELOW)
    else:
        tokens = _noun_phrase(tree, subject)
    if construction == "possessor":
        objects = tree.phrase(noun, without=without | {"nmod:poss"}, without_below=_NOT_BELOW)
    else:
        objects = _noun_phrase(tree, noun)
    return Draft(construction, tokens, [], objects, relation, subject, noun, words=word)


# Writing.


def _noun_phrase(tree: SentenceTree, head: int) -> list[int]:
    return tree.phrase(head, without=_NOT_IN_NOUN_PHRASE, without_below=_NOT_BELOW)


def _subject_phrase(tree: SentenceTree, clause: Clause, head: int) -> list[int]:
    left_out = [phrase.head for phrase in clause.obliques] if clause.existential else []
    return tree.phrase(
        head, without=_NOT_IN_NOUN_PHRASE, without_below=_NOT_BELOW, without_tokens=left_out
    )


def _written(
    tree: SentenceTree, draft: Draft, position: int, concept_at: ConceptAt | None
) -> OpenTriplet:
    return OpenTriplet(
        subject=tree.text(draft.subject),
        predicate=draft.words or tree.text(draft.predicate),
        object=tree.text(draft.object),
        relation=draft.relation,
        adjuncts=tuple(
            Adjunct(kind, tree.text(case).lower(), tree.text(tokens))
            for kind, case, tokens in draft.adjuncts
            if tokens
        ),
        negated=draft.negated,
        modality=draft.modality,
        position=position,
        subject_concept=_concept(tree, draft.subject_head, concept_at),
        object_concept=_concept(tree, draft.object_head, concept_at),
    )


def _concept(tree: SentenceTree, head: int, concept_at: ConceptAt | None) -> ConceptMention | None:
    """The concept of a phrase's head, or of the words of its name."""
    if head < 0 or concept_at is None:
        return None
    concept = concept_at(tree.first + head)
    if concept is None:
        for i in reversed(tree.children[head]):
            if tree.bases[i] in _NAME_PARTS and (concept := concept_at(tree.first + i)):
                return concept
    return concept
