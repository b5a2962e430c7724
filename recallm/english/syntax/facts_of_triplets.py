"""Facts: the triplets of a sentence in the form in which the graph keeps them.

Open triplets stay near the words of their sentence: ⟨Joe Biden, is, the president of the United
States⟩. A fact names a relation between two things: ⟨Joe Biden, president of, United States⟩.

* A noun with an owner is a relation, whichever stands first: "Oslo is the capital of Norway",
  "Norway's capital is Oslo", "Oslo, the capital of Norway", "Oslo became the capital of Norway".
* What somebody's quality is stands behind the quality: "Ada's age is 34", "Ada is 34 years old".
* A predicate needs no "be" before a participle or an adjective: "founded in", "married to".
* Dates of births, deaths and foundations are objects: "BMW was founded in Munich in 1916".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from spacy.symbols import ADJ, NOUN, NUM, PRON, PROPN

from recallm.english.syntax.assertions import PLACES, assertions, says_which
from recallm.english.syntax.drafts import Draft, normal_form
from recallm.english.syntax.modality import ATTITUDES, is_negated
from recallm.english.syntax.name_phrases import name_around
from recallm.english.syntax.phrases import Clause, coordinated, noun_phrase, preposition
from recallm.english.syntax.tree import TABLE, WORDS, SentenceTree
from recallm.model import Mark

_OWNING: Final = frozenset(("of", "at", "in", "for", "to", "with", "on", "from"))
"""Prepositions between a role and whose role it is: "engineer at BMW"."""

_OF: Final = "of"
_BE: Final = "be "
_IN_ROLES: Final = frozenset(("amod", "compound", "nmod:desc"))
_FRESH: Final = frozenset(("current", "present", "new", "own"))
"""Adjectives that make no other relation: "the current CEO of"."""

_MEASURES: Final[dict[str, str]] = TABLE["measures"]
_COPULAS: Final = frozenset(("copula noun", "copula adjective", "apposition", "title"))
_DATE: Final = re.compile(r"\d{4}-\d\d?(?:-\d\d?)?|\d\d?[./]\d\d?[./]\d+")
_BESIDE: Final = frozenset(("as", "at", "in", "to", "with"))
"""Prepositions of phrases that are facts beside another object of their verb."""
_NEARLY: Final = frozenset(("around", "over", "nearly"))
_YEARS: Final = frozenset(("year", "years"))
_PRESENT: Final = frozenset(("is", "are", "am", "'s", "'re", "'m", "’s", "’re", "’m"))
_PERSONAL: Final = frozenset(("i", "he", "she"))
_DIGITS_OF_YEAR: Final = 4


class _Role(NamedTuple):
    """A noun with its owners: "the president of the United States" is ("president of", its owners'
    heads)."""

    words: str
    owners: list[int]


def fact_drafts(tree: SentenceTree, drafts: Sequence[Draft]) -> list[Draft]:
    """The facts among the open triplets of a sentence, and those that the facts' own rules find,
    each once. A question states none."""
    drafts = assertions(tree, drafts)
    facts: list[Draft] = []
    for draft in drafts:
        if draft.construction in _COPULAS:
            facts += _of_predicate(tree, draft)
        elif draft.clause is not None:
            facts += _of_verb(tree, draft, draft.clause)
    for draft in drafts:
        facts += _of_modifier(tree, draft)
    found: dict[tuple[str, tuple[int, ...], tuple[int, ...]], Draft] = {}
    for fact in filter(partial(says_which, tree), facts):
        found.setdefault((fact.relation, tuple(fact.subject), tuple(fact.object)), fact)
    return list(found.values())


def _of_verb(tree: SentenceTree, draft: Draft, clause: Clause) -> Iterator[Draft]:
    """The facts of a draft of a clause with a verb."""
    if draft.object_head >= 0 and (change := _assumed(tree, draft, clause)):
        role, ends = change
        is_of = role.words.endswith(f" {_OF}")
        if draft.relation.endswith("work as") and not is_of:  # "works as a nurse in York"
            yield _named(tree, draft)
            role = _Role(f"work {role.words.rpartition(' ')[2]}", role.owners)
        changed = replace(draft, negated=draft.negated or ends)
        yield from _with_owners(tree, changed, draft.subject_head, role)
        return
    for name, words in _names_of_relatives(tree, draft, clause):
        yield _fact(tree, draft, name, words, draft.subject, draft.subject_head)
        if name == draft.object_head:
            return
    yield from _dated(tree, draft, clause)
    yield from _beside(tree, draft, clause)
    is_alone = draft.construction == "passive alone" and not draft.modality
    if is_alone and any(tree.lowered[i] in _PRESENT for i in clause.auxiliaries):
        yield replace(draft, relation="be", object=[clause.head], value="quality")  # "are divorced"
    is_gerund = tree.lowered[clause.head].endswith("ing")
    relation, head = tree.base_form(clause.governors[-1]) if clause.governors else "", clause.head
    if not draft.object and is_gerund and relation in WORDS["feelings"]:  # "Ada likes swimming"
        yield replace(draft, relation=relation, object=[head], object_head=head)
    if draft.object:
        named = _named(tree, draft)
        is_state = draft.construction.startswith(("passive", "copula oblique"))
        if is_state and not draft.modality:  # "founded in", "married to"
            named = replace(named, relation=named.relation.removeprefix(_BE))
        verb, _, word = named.relation.rpartition(" ")
        if word in _NEARLY and any(_has_digit(tree, i) for i in named.object[:2]):
            named = replace(named, relation=verb)  # "spent around 40 pounds"
        yield _valued(tree, named)


def _of_modifier(tree: SentenceTree, draft: Draft) -> Iterator[Draft]:
    """The facts of a possessor or of a place behind a noun. That somebody has what is "hers" is
    none: "Ada sold her car"."""
    if draft.construction == "possessor" and draft.relation != "have":
        # "Ada's sister Ingrid": the role is between the name and the owner.
        word, owner = draft.relation.removeprefix("have "), draft.subject_head
        if word in WORDS["qualities"]:
            value = _fact(tree, draft, owner, word, draft.object, draft.object_head)
            yield replace(value, value=value.value or "quality")
            return
        role = _Role(f"{word} {_OF}", [owner])
        yield from _with_owners(tree, draft, draft.object_head, role)
    elif draft.construction == "place" and tree.tags[draft.subject_head] == PROPN:
        yield from () if tree.is_time(draft.subject_head) else (draft,)


# Predicates.


def _of_predicate(tree: SentenceTree, draft: Draft) -> Iterator[Draft]:
    """What a noun, an adjective or a number behind "be" states of the subject."""
    subject, head = draft.subject_head, draft.object_head
    placed = draft.relation.removeprefix(_BE) if draft.relation != "be" else ""
    if placed:
        role = _role(tree, subject)
        if role and placed in PLACES and tree.tags[subject] == NOUN:
            words = f"{role.words.rpartition(' ')[0]} {placed}"
            for owner in role.owners:
                yield _fact(tree, draft, owner, words, draft.object, head)
        else:
            yield _valued(tree, _named(tree, draft))
        return
    if measure := _measure(tree, draft):
        yield measure
        return
    is_noun = tree.tags[subject] == NOUN and _name_of(tree, subject) == subject
    if (role := _role(tree, head)) and tree.lowered[subject] != tree.lowered[head]:
        yield from _with_owners(tree, draft, subject, role)
        return
    role = _role(tree, subject) if is_noun else None
    around = (tree.lowered[i] for i in (subject, *tree.children[subject]))
    is_quality = not WORDS["qualities"].isdisjoint(around)
    if role and tree.tags[head] == PROPN and "@" not in tree.lowered[head] and not is_quality:
        yield from _with_owners(tree, draft, head, role)
    elif (
        role
        and not tree.is_relative(subject)
        and (is_quality or _valued(tree, draft).value or _is_value(tree, head))
    ):
        words = role.words.rpartition(" ")[0]
        for owner in role.owners:
            value = _fact(tree, draft, owner, words, draft.object, head)
            yield replace(value, value=value.value or "quality")
    else:
        yield _valued(tree, _named(tree, draft))


def _with_owners(tree: SentenceTree, draft: Draft, bearer: int, role: _Role) -> Iterator[Draft]:
    """A fact of who bears a role, for each of its owners."""
    for owner in role.owners:
        yield _fact(tree, draft, bearer, role.words, _phrase(tree, owner), owner)


def _fact(
    tree: SentenceTree, draft: Draft, subject: int, relation: str, object_: Sequence[int], head: int
) -> Draft:
    """A draft with other places."""
    subject = _name_of(tree, subject)
    fact = replace(
        draft,
        subject=_phrase(tree, subject),
        subject_head=subject,
        object=[*object_],
        object_head=head,
        relation=relation,
        words=" ".join(filter(None, (tree.text(draft.predicate) or "is", relation))),
    )
    return _valued(tree, fact)


def _measure(tree: SentenceTree, draft: Draft) -> Draft | None:
    """⟨Ada, age, 34⟩ of "Ada is 34 years old", ⟨tower, height, 330 metres⟩; of a person also
    "Ada is 34"."""
    head = draft.object_head
    for adjective in range(max(head, 2), min(head + 3, len(tree))):
        number, unit = adjective - 2, adjective - 1
        if tree.lowered[adjective] in _MEASURES and _has_digit(tree, number):
            is_age = tree.lowered[adjective] == "old" and tree.lowered[unit] in _YEARS
            tokens = [number] if is_age else [number, unit]
            words = _MEASURES[tree.lowered[adjective]]
            fact = _fact(tree, draft, draft.subject_head, words, tokens, number)
            return replace(fact, object=tokens, value="number")
    subject = draft.subject_head
    is_person = (
        tree.entity_labels.get(subject) == "PER"
        or tree.lowered[subject] in _PERSONAL
        or tree.is_relative(subject)
    )
    text = tree.words[head].text
    if is_person and len(draft.object) == 1 and text.isdigit() and len(text) < _DIGITS_OF_YEAR:
        return _fact(tree, draft, draft.subject_head, "age", [head], head)
    return None


# Roles.


def _role(tree: SentenceTree, noun: int) -> _Role | None:
    """A noun with its owners; None where it has none, and where it is a name of its own."""
    owned = next((i for i in tree.children[noun] if tree.relations[i] == "nmod:poss"), -1)
    if owned >= 0 and tree.tags[noun] == NOUN:
        return _Role(f"{_role_words(tree, noun)} {_OF}", coordinated(tree, owned))
    if found := _owner_behind(tree, noun):
        owner, preposition_ = found
        if tree.lowered[noun] == "one" and preposition_ == _OF:
            return _role(tree, owner)
        # "the Bank of England" is one name.
        is_one = all(i in tree.entity_labels for i in range(noun, owner + 1))
        if tree.tags[noun] not in (NOUN, PROPN) or (tree.tags[noun] == PROPN and is_one):
            return None
        return _Role(f"{_role_words(tree, noun)} {preposition_}", coordinated(tree, owner))
    before = noun - 1
    is_company = tree.entity_labels.get(before) == "ORG" and tree.tags[noun] == NOUN
    if is_company and tree.heads[before] == noun and tree.bases[before] == "compound":
        return _Role(f"{tree.words[noun].text} {_OF}", [before])  # "Apple CEO"
    return None


def _owner_behind(tree: SentenceTree, noun: int) -> tuple[int, str] | None:
    """Whose a noun is by a phrase behind it, "of" first, and the preposition."""
    found: list[tuple[bool, int, str]] = []
    # "the chairman and CEO of Microsoft": the owner may hang from the last noun.
    for bearer in coordinated(tree, noun) if tree.bases[noun] != "conj" else [noun]:
        for i in tree.children[bearer]:
            case = preposition(tree, i) if tree.relations[i] == "nmod" and i > bearer else []
            word = tree.text(case).lower()
            is_owner = word in _OWNING and not (tree.is_time(i) or is_negated(tree, i))
            if is_owner and (word == _OF or bearer == noun):
                found.append((word != _OF, i, word))
    return min(found)[1:] if found else None


def _role_words(tree: SentenceTree, noun: int) -> str:
    """A noun with the words before it that make it another role, in the singular: "former
    CEO", "phone number"."""
    first = tree.written_together(noun)[0]
    while first > 0 and tree.relations[first - 1] in _IN_ROLES:
        if tree.heads[first - 1] != noun:
            break
        first -= 1
    while first < noun and tree.lowered[first] in _FRESH:
        first += 1
    word, before = tree.words[noun].text, tree.text([*range(first, noun + 1)])
    singular = word
    if tree.tags[noun] == NOUN and tree.lowered[noun].endswith("s"):
        singular = tree.lemmas[noun].lower()
    return before[: len(before) - len(word)] + singular


def _assumed(tree: SentenceTree, draft: Draft, clause: Clause) -> tuple[_Role, bool] | None:
    """The role that a verb says to begin ("became the director of", "was elected mayor of"), or
    to end ("resigned as CEO of"): then the second is true."""
    verb = tree.lowered[clause.head] if clause.passive else tree.base_form(clause.head)
    case = preposition(tree, draft.object_head)
    is_as = draft.relation.endswith(" as") or (bool(case) and tree.lowered[case[0]] == "as")
    ends = is_as and verb in WORDS["role_ending_verbs"]
    begins = verb in WORDS["role_verbs_as" if is_as else "role_verbs"]
    role = _role(tree, draft.object_head) if begins or ends else None
    return (role, ends) if role else None


def _names_of_relatives(
    tree: SentenceTree, draft: Draft, clause: Clause
) -> Iterator[tuple[int, str]]:
    """The names of relatives whom somebody has, each with the role: "Ada has two daughters, Tia and
    Bea", "a son named Kai"."""
    if draft.relation != "have" or draft.construction != "verb object":
        return
    noun, head = clause.objects[0].head, draft.object_head
    if not tree.is_relative(noun):
        return
    names = [head] if head != noun and tree.bases[head] == "conj" else []
    for i in range(noun + 1, len(tree)) if head == noun else ():
        is_called = any(
            j >= 0 and tree.lowered[j] in ("called", "named") for j in (tree.heads[i], i - 1)
        )
        if (tree.heads[i] == noun and tree.bases[i] in ("appos", "flat")) or is_called:
            names += coordinated(tree, i)
    for name in names:
        if tree.tags[name] == PROPN:
            yield name, f"{_role_words(tree, noun)} {_OF}"


# Ends.


def _named(tree: SentenceTree, draft: Draft) -> Draft:
    """A draft whose subject and object are the names beside their nouns: "sister Ingrid"."""
    subject, head = _name_of(tree, draft.subject_head), _name_of(tree, draft.object_head)
    if subject != draft.subject_head:
        draft = replace(draft, subject_head=subject, subject=_phrase(tree, subject))
    if head != draft.object_head:
        draft = replace(draft, object_head=head, object=_phrase(tree, head))
    return draft


def _phrase(tree: SentenceTree, head: int) -> list[int]:
    """The name that a token belongs to, else its noun phrase."""
    return name_around(tree, head) or noun_phrase(tree, head)


def _name_of(tree: SentenceTree, noun: int) -> int:
    """The name behind a common noun, else the noun."""
    if noun >= 0 and tree.tags[noun] == NOUN:
        for i in tree.children[noun]:
            is_name = tree.tags[i] == PROPN or tree.words[i].is_capitalised
            if i > noun and is_name and tree.bases[i] in ("flat", "appos"):
                return i
    return noun


def _is_value(tree: SentenceTree, head: int) -> bool:
    """Whether a phrase can be the value of a quality: a number, an adjective, or a noun without
    an article that is no plural."""
    if tree.tags[head] in (NUM, ADJ) or tree.words[head].marks & Mark.DIGITS:
        return True
    is_bare = tree.child(head, "det", "nmod:poss") < 0 and tree.tags[head] != PRON
    return is_bare and not tree.lowered[head].endswith("s")


def _valued(tree: SentenceTree, draft: Draft) -> Draft:
    """A draft whose object, where it is a number or a date, is that value as a whole."""
    head = draft.object_head
    if head < 0 or not draft.object:
        return draft
    together = tree.written_together(head)
    # A share is not the whole: "60% of my budget".
    is_part = any(tree.lowered[i] == "of" for j in tree.children[head] for i in tree.children[j])
    # Nor is a price: "a $10 gift card".
    is_part |= any(
        i > together[-1]
        and tree.tags[i] == NOUN
        and tree.lowered[i] not in WORDS["units"]
        and not preposition(tree, i)
        for i in tree.children[head]
    )
    if len(together) > 1 and not is_part and any(_has_digit(tree, i) for i in together):
        is_date = _DATE.fullmatch(tree.text(together))
        return replace(draft, object=together, value="date" if is_date else "number")
    if (tree.is_time(head) or tree.lowered[head] in WORDS["months"]) and any(
        _has_digit(tree, i) for i in draft.object
    ):
        return replace(draft, value="date")
    counts = any(
        _has_digit(tree, i) and tree.relations[i] in ("nummod", "compound")
        for i in tree.children[head]
    )
    if counts and (tree.lowered[head] in WORDS["units"] or tree.words[head].marks & Mark.UNIT):
        return replace(draft, value="number")
    if _has_digit(tree, head) or tree.tags[head] == NUM:
        return replace(draft, value="number")
    return draft


def _beside(tree: SentenceTree, draft: Draft, clause: Clause) -> Iterator[Draft]:
    """The further phrases of a verb: with whom, where and as what, beside an object only those
    that are names: "works as a nurse in York", "teaches chemistry at Harvard"."""
    is_object = draft.construction == "verb object"
    is_with = clause.relation.startswith("acl") and clause.objects
    if is_with or (not is_object and draft.construction != "verb oblique"):
        return
    verb = normal_form(tree, clause)
    is_felt = not {verb, *verb.split()[:1]}.isdisjoint(ATTITUDES | WORDS["feelings"])
    if is_object and (is_felt or draft.object_head != clause.objects[0].head):
        return
    own = draft.object_head if not is_object else -1
    if is_object and verb in WORDS["light_verbs"]:
        verb = f"{verb} {tree.text(_phrase(tree, draft.object_head)).lower()}"
    for phrase in clause.obliques:
        word = tree.text(phrase.case).lower()
        is_shown = phrase.head > clause.head and word in _BESIDE and phrase.head != own
        is_time = tree.is_time(phrase.head) or tree.lowered[phrase.head] in WORDS["months"]
        if not is_shown or phrase.is_antecedent or is_time:
            continue
        # "I embarked on a trip to Oslo": what stands behind a noun may belong to that.
        is_place = tree.tags[own] == PROPN or draft.relation.endswith((" as", " in", " at"))
        is_far = 0 <= own < phrase.head and not is_place and word != "with"
        is_apart = own >= 0 and "," in tree.lowered[own : phrase.head]
        if is_far or is_apart or (word == "with" and verb in WORDS["light_verbs"]):
            continue
        if is_object and (word == "to" or tree.tags[phrase.head] != PROPN):
            continue
        if not is_object and tree.is_below(own, phrase.head):
            continue
        for head in coordinated(tree, phrase.head):
            tokens, relation = _phrase(tree, head), f"{verb} {word}"
            yield _named(tree, replace(draft, object=tokens, object_head=head, relation=relation))


def _dated(tree: SentenceTree, draft: Draft, clause: Clause) -> Iterator[Draft]:
    """The date of a birth, a death, a foundation or their like, as an object."""
    verb = tree.base_form(clause.head)
    forms = {verb, tree.lowered[clause.head]}
    if not forms & WORDS["dated_verbs"] or (clause.objects and not clause.passive):
        return
    first = tree.lowered[clause.head] if clause.passive else verb
    for phrase in clause.obliques:
        if phrase.head == draft.object_head or not tree.is_time(phrase.head):
            continue
        tokens = noun_phrase(tree, phrase.head)
        case = [i for i in tokens if tree.bases[i] == "case"] + phrase.case
        tokens = [i for i in tokens if i not in case]
        together = tree.written_together(phrase.head)
        tokens = together if len(together) > 1 else tokens
        if not case or not any(_has_digit(tree, i) for i in tokens):
            continue
        yield replace(
            draft,
            object=tokens,
            object_head=phrase.head,
            relation=f"{first} {tree.lowered[case[0]]}",
            value="date",
        )


def _has_digit(tree: SentenceTree, token: int) -> bool:
    return bool(tree.words[token].marks & (Mark.DIGITS | Mark.NUMERAL))
