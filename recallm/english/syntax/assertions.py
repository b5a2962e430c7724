"""Assertions: which open triplets of a sentence say enough, and say it to be so, to be facts.

"Tips for finding a teacher", "I saw one", "I plan to fish from a boat", "write a script" and
questions assert nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spacy.symbols import ADJ, ADP, ADV, AUX, DET, NOUN, NUM, PART, PRON, PROPN, SCONJ, VERB

from recallm.english.syntax.clauses import is_any
from recallm.english.syntax.drafts import Draft, normal_form
from recallm.english.syntax.modality import (
    ATTITUDES,
    OPENING,
    QUESTION,
    REPORTING,
    sentence_modality,
)
from recallm.english.syntax.phrases import Clause, preposition
from recallm.english.syntax.tree import TABLE, WORDS, SentenceTree
from recallm.model import Mark

PLACES: Final = frozenset(("in", "at", "near"))
"""Prepositions of places."""
_VAGUE: Final = WORDS["vague"]
_SAYING_WHICH: Final = frozenset(("of", "for", "on", "about"))
"""Prepositions of phrases by which a vague noun names something: "tips on watercolours"."""
_OPINIONS: Final = frozenset(TABLE["opinions"])
_LETTING: Final = frozenset(("let", "make", "help", "see", "hear", "watch", "have"))
"""Verbs behind whose object stands an infinitive without "to"."""
_TO_PLACES: Final = PLACES | {"to"}
_LIGHT: Final = frozenset(("do", "make", "take", "give", "have"))
_WHENEVER: Final = frozenset(("when", "whenever", "after", "before", "until", "once"))
SHORT: Final = 14
"""Tokens of a sentence whose parse can be trusted."""
_NEAR: Final = 7
"""Tokens between a verb and its object."""
_POINTING: Final = frozenset(("this", "that", "these", "those"))
_THIRD_PERSONS: Final = frozenset(("his", "her", "its", "their"))
_RELATIVES: Final = WORDS["relatives"]
_CLAUSES: Final = frozenset(("xcomp", "ccomp", "csubj", "advcl", "acl"))


def assertions(tree: SentenceTree, drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts of a sentence that may be facts; without a clause where it asks."""
    is_order = _is_order(tree)
    is_asked = sentence_modality(tree) == QUESTION
    return [
        draft
        for draft in drafts
        if _is_telling(tree, draft, is_order=is_order)
        and (
            draft.clause is None
            or (not is_asked and _states(tree, draft, draft.clause, is_order=is_order))
        )
    ]


def _is_telling(tree: SentenceTree, draft: Draft, *, is_order: bool) -> bool:
    """Whether what stands behind a noun, between commas or not, tells what the noun is: one of the
    two is a name, the other is none. Else they may be items of a list."""
    if draft.construction != "apposition":
        return True
    if is_order:
        return False
    if tree.lowered[draft.subject_head] in OPENING:
        return False  # "Hmm, interesting numbers."
    if draft.object_head in tree.written_together(draft.subject_head):
        return True  # "co-founders"
    are_names = [tree.tags[i] == PROPN for i in (draft.subject_head, draft.object_head)]
    return any(are_names) and not all(are_names)


def is_plain(tree: SentenceTree, draft: Draft) -> bool:
    """Whether a fact has a shape that is nearly always read rightly: in a short sentence, or about
    somebody whom the speaker knows, with an object near the verb that is more than "the limit"."""
    clause, subject, head = draft.clause, draft.subject_head, draft.object_head
    if clause is None or len(tree) <= SHORT:
        return True
    is_known = tree.tags[subject] == PRON or tree.is_relative(subject)
    is_owned = tree.relations[head] == "nmod:poss"
    is_far = head - clause.head > _NEAR and tree.tags[head] != PROPN
    is_the = is_bare(tree, draft, "the") and draft.relation.rpartition(" ")[2] not in _TO_PLACES
    return (is_known or is_owned) and not (is_far or is_the)


def is_bare(tree: SentenceTree, draft: Draft, article: str) -> bool:
    """Whether an object is one common noun, with that article or with none ("")."""
    head = draft.object_head
    words = [word for i, word in enumerate(tree.lowered) if i in draft.object and i != head]
    return tree.tags[head] == NOUN and words == article.split()


def says_which(tree: SentenceTree, draft: Draft) -> bool:
    """Whether both ends of a fact say what they are: "I saw the old one", "I have issues", "in the
    same city", "I spent hours", "this topic" and "timer" of "self-timer" do not."""
    ends = [i for i in (draft.subject_head, draft.object_head) if i >= 0]
    is_case = any(
        tree.tags[i] in (ADP, PART) and tree.tags[i + 1 : i + 2] != [NUM]
        for i in (*draft.subject[:1], *draft.object[:1])
    )
    is_one_of = tree.tags[draft.subject_head] == NUM  # "One of the vases has a chip"
    if is_case or is_one_of or _is_part(tree, draft) or _is_elsewhere(tree, draft):
        return False
    return not any(_is_vague(tree, i) or tree.tags[i] == ADV for i in ends) and not any(
        _is_cut(tree, i, draft) for i in (*ends, *draft.object[:1], *draft.object[-1:])
    )


def _is_elsewhere(tree: SentenceTree, draft: Draft) -> bool:
    """Whether what an object is stands outside of the fact: "I love her work", "I like the stories
    my aunt told me"."""
    head, subject = draft.object_head, tree.words[draft.subject_head]
    if head < 0 or tree.tags[head] != NOUN or tree.is_relative(head):
        return False
    owner = tree.child(head, "nmod:poss")
    is_hers = owner >= 0 and tree.lowered[owner] in _THIRD_PERSONS
    is_alone = is_bare(tree, draft, "the") or is_bare(tree, draft, "")
    is_told = tree.child(head, "acl:relcl") > 0 and is_alone
    is_mine = subject.marks & (Mark.FIRST_PERSON | Mark.FIRST_PLURAL)
    return bool((is_hers and is_mine) or is_told)


def _is_part(tree: SentenceTree, draft: Draft) -> bool:
    """Whether an object is a part of a longer one, where the parser cut it or left words out: "the
    Coursera course", "12 packets of 2 kg", "films similar to that"."""
    tokens, head = draft.object, draft.object_head
    if not tokens or tree.relations[head] in ("nmod:poss", "compound"):
        return False
    behind = tokens[-1] + 1
    is_gap = behind - tokens[0] > len(tokens) and not tree.quotes
    return is_gap or _begins_before(tree, draft) or (behind < len(tree) and _goes_on(tree, draft))


def _begins_before(tree: SentenceTree, draft: Draft) -> bool:
    """Whether the word before an object belongs to neither the object nor the verb: "my own social
    media campaigns" with "campaigns" alone."""
    head, before, clause = draft.object_head, draft.object[0] - 1, draft.clause
    if clause is None or before <= clause.head or before in draft.predicate:
        return False
    has_article = tree.child(head, "det") == before + 1
    is_other = has_article or tree.bases[head] == "conj" or tree.heads[head] == before
    # "I owe Bob 20 dollars"
    is_other |= tree.heads[before] == clause.head and tree.tags[before + 1] in (DET, NUM)
    return tree.tags[before] in (ADJ, NOUN, NUM, PROPN) and not is_other


def _goes_on(tree: SentenceTree, draft: Draft) -> bool:
    """Whether the word behind an object still says what the object is."""
    head, behind = draft.object_head, draft.object[-1] + 1
    is_noun = tree.tags[behind] == NOUN and not tree.is_time(behind)
    is_done = tree.tags[behind] == VERB and draft.clause is not None and draft.clause.head < head
    is_which = tree.tags[behind] == ADJ and tree.heads[behind] == head
    # "I noticed a lot of shops are closing"
    is_subject = tree.tags[behind] == AUX and draft.construction == "verb object"
    is_title = not draft.value and behind in tree.quotes and tree.quotes.index(behind) % 2 == 0
    is_more = is_noun or is_done or is_which or is_subject or is_title
    return is_more or tree.lowered[behind] in ("of", "'s", "'", "’s", "’")


def _is_vague(tree: SentenceTree, head: int) -> bool:
    """Whether a noun names nothing without a phrase that says of what: "advice", "a lot of time",
    "some of those"."""
    below = tree.children[head]
    saying = _SAYING_WHICH | ({"in"} if tree.lowered[head] in WORDS["fields"] else set())
    inside = [i for i in below if tree.text(preposition(tree, i)).lower() in saying]
    if any(
        tree.lowered[i] == "same"
        or (tree.bases[i] == "det" and tree.lowered[i] in _POINTING)
        or (tree.tags[i] == PRON and tree.text(preposition(tree, i)) == "of")
        for i in below
    ):
        return True
    is_part = tree.tags[head] in (DET, PRON) and bool(inside)
    if is_part and any(tree.bases[j] == "det" for i in inside for j in tree.children[i]):
        return True
    words = {tree.lowered[head], tree.lemmas[head].lower()}
    is_empty = tree.tags[head] != PROPN and not _VAGUE.isdisjoint(words)
    if not (is_empty or is_part):
        return False
    if any(tree.relations[i] == "nummod" and tree.lowered[i] != "one" for i in below):
        return False  # "nine people"
    return tree.child(head, "compound") < 0 and all(
        tree.bases[i] != "nmod" or tree.tags[i] == PRON or _is_vague(tree, i) for i in inside
    )


def _is_cut(tree: SentenceTree, head: int, draft: Draft) -> bool:
    """Whether a phrase has a part of a word alone."""
    together = tree.written_together(head)
    text = tree.text(together)
    has_digit = any(character.isdigit() for character in text)
    return "-" in text and not has_digit and not {*together} <= {*draft.subject, *draft.object}


def _is_order(tree: SentenceTree) -> bool:
    """Whether a sentence tells somebody to do something: "Write a script based on this."."""
    first = next((i for i, word in enumerate(tree.lowered) if word not in OPENING), 0)
    return tree.heads[first] < 0 and tree.tags[first] == VERB


def _states(tree: SentenceTree, draft: Draft, clause: Clause, *, is_order: bool) -> bool:
    """Whether a draft of a clause says enough to be a fact. "Tips for finding a teacher", "I am
    sure that she left", "how much music has changed", "there are tools for that" and "I baked for
    two hours" do not."""
    is_gerund = tree.lowered[clause.head].endswith("ing")
    is_held = clause.governors and tree.tags[clause.governors[-1]] != ADJ
    if is_gerund and not (clause.auxiliaries or is_held or clause.is_copula):
        return False
    if tree.lowered[clause.head] in ("re", "ve", "ll"):
        return False  # "We' re"
    if [tree.lowered[i] for i in clause.auxiliaries] == ["being"]:
        return False  # "between saving and being happy"
    if any(tree.base_form(i) not in WORDS["realised"] for i in clause.governors):
        return False  # "I take acting classes"
    if _is_hoped(tree, clause):
        return False
    if not clause.own_subject and tree.child(clause.head, "expl") >= 0:
        return False  # "I have many and it is hard to choose"
    if any(
        tree.lowered[i] in _RELATIVES or tree.words[i].marks & Mark.ASKS
        for i in (*draft.subject, *draft.object)
    ):
        return False
    if draft.relation in _OPINIONS or draft.relation.endswith((" like", " between", " than")):
        return False
    if tree.base_form(clause.head) in REPORTING and tree.tags[draft.object_head] == PRON:
        return False  # "my mother told me about her job"
    if draft.construction == "verb oblique" and (
        normal_form(tree, clause) in _LIGHT
        # "I treated myself to a new chain"
        or tree.tags[min(clause.head + 1, len(tree) - 1)] == PRON
    ):
        return False
    if _is_duration(tree, draft):
        return False
    is_named = draft.relation.endswith(("called", "named"))
    if tree.is_time(draft.subject_head) or (not is_named and _is_kind(tree, draft.subject_head)):
        return False
    if draft.construction in ("verb object", "verb xcomp") and not _is_object(tree, draft, clause):
        return False
    if is_order and tree.bases[clause.head] in ("acl", "advcl", "xcomp"):
        return False
    if clause.is_copula and not _is_predicate(tree, draft, clause):
        return False
    is_open = any(tree.bases[i] in _CLAUSES for i in tree.children[clause.head])
    if draft.construction == "verb oblique" and clause.merged:
        return False  # "I plan to fish from a boat"
    if _is_supposed(tree, draft, clause):
        return False
    if tree.bases[clause.head] == "conj" and _is_loose(tree, clause):
        return False
    if clause.existential and draft.relation.rpartition(" ")[2] not in PLACES:
        return False
    is_state = draft.construction in ("copula adjective", "copula noun", "passive alone")
    return not (is_open and is_state and tree.tags[clause.head] in (ADJ, VERB))


def _is_hoped(tree: SentenceTree, clause: Clause) -> bool:
    """Whether a clause tells a second thing that somebody hopes: "I hope it works and he comes"."""
    above = clause.parent
    if above is None or tree.bases[clause.head] != "conj" or not clause.own_subject:
        return False
    between = tree.lowered[above.head : clause.head]
    return tree.base_form(above.head) in ATTITUDES and not {",", ";"} & {*between}


def _is_duration(tree: SentenceTree, draft: Draft) -> bool:
    """Whether an object only says how long or when: "I baked for two hours", "I spent a day"."""
    head, word = draft.object_head, draft.relation.removesuffix(" about").rpartition(" ")[2]
    is_unit = tree.words[head].marks & Mark.UNIT and tree.child(head, "compound") < 0
    if head < 0 or not (tree.is_time(head) or is_unit or tree.lowered[head] == "while"):
        return False
    return (
        word == "for"
        or (is_unit and word in ("in", "over", "within"))
        or (draft.construction == "verb object" and word not in WORDS["feelings"])
    )


def _is_kind(tree: SentenceTree, noun: int) -> bool:
    """Whether a subject names all of its kind, or somebody whom the sentence does not name:
    "platforms start to", "these people", "her company"."""
    if tree.tags[noun] != NOUN or tree.is_relative(noun):
        return False
    if (owner := tree.child(noun, "nmod:poss")) >= 0:
        is_known = tree.lowered[owner] not in _THIRD_PERSONS
        return not (is_known or tree.lowered[noun] in WORDS["qualities"])
    is_plural = tree.lowered[noun] != tree.lemmas[noun].lower() and tree.lowered[noun][-1:] == "s"
    is_many = (is_plural or tree.lowered[noun] == "people") and tree.child(noun, "nummod") < 0
    return is_any(tree, noun) and (is_many or tree.child(noun, "det") >= 0)


def _is_object(tree: SentenceTree, draft: Draft, clause: Clause) -> bool:
    """Whether the object of a verb is one: nothing that is judged ("I find the trend alarming"),
    and nothing behind a preposition ("I listened to "Blue"")."""
    head, behind = draft.object_head, max(clause.head, *clause.particles, 0) + 1
    judging = ("xcomp", "advcl") if draft.relation == "find" else ("xcomp",)
    is_judged = any(
        tree.bases[i] in judging
        and i > head
        and (
            tree.tags[i] == ADJ
            or tree.lowered[i] != tree.base_form(i)
            or (tree.child(i, "mark") < 0 and draft.relation not in _LETTING)
        )
        for i in tree.children[clause.head]
    )
    is_behind = (
        behind < len(tree)
        and tree.tags[behind] in (ADP, PART)
        and behind not in draft.predicate
        # "the scarf I was working on for Ann"
        and (
            behind < head
            or (
                head < clause.head
                and (tree.heads[behind] == clause.head or tree.tags[behind + 1] == ADP)
            )
        )
    )
    # "I attended a workshop, which was hard but a lot of fun"
    is_far = tree.bases[head] == "conj" and any(
        tree.tags[i] in (AUX, VERB) for i in range(tree.heads[head], head)
    )
    return not (is_judged or is_behind or is_far)


def _is_predicate(tree: SentenceTree, draft: Draft, clause: Clause) -> bool:
    """Whether what stands behind "be" is read as a whole. The parser may coordinate a name with a
    number: "Tia is 9 and Bea is 12"."""
    if draft.construction == "copula oblique":
        return True
    kinds = {(tree.tags[i] == NUM, tree.tags[i] == ADJ) for i in (draft.object_head, clause.head)}
    begins_phrase = any(
        tree.tags[i] in (ADP, SCONJ)
        for i in draft.object
        if i < draft.object_head or tree.tags[draft.object_head] == ADJ
    )
    is_verb = tree.tags[draft.object_head] == VERB and (
        tree.lowered[draft.object_head].endswith("ing")
        or tree.child(draft.object_head, "mark") >= 0
    )
    return len(kinds) == 1 and not (is_verb or begins_phrase)


def _is_supposed(tree: SentenceTree, draft: Draft, clause: Clause) -> bool:
    """Whether a clause says of something unknown what that is like ("stories that move us"), or
    what happens whenever something else does ("when I post at noon")."""
    if clause.relation == "advcl" and clause.passive and not clause.auxiliaries:
        return True  # "I put it on a tray, surrounded by flowers"
    is_antecedent = any(phrase.is_antecedent for phrase in clause.subjects)
    has_antecedent = is_antecedent or any(
        phrase.is_antecedent for phrase in (*clause.objects, *clause.obliques)
    )
    if clause.relation == "acl:relcl" and not has_antecedent:
        return True
    if is_antecedent and is_any(tree, draft.subject_head):
        return not draft.relation.endswith(("called", "named"))
    is_past = tree.words[clause.head].marks & (Mark.PAST | Mark.BARE_PAST) or any(
        tree.words[i].marks & Mark.PAST for i in clause.auxiliaries
    )
    marks = (i for i in tree.children[clause.head] if tree.bases[i] in ("mark", "advmod"))
    return not is_past and any(tree.lowered[i] in _WHENEVER and i < clause.head for i in marks)


def _is_loose(tree: SentenceTree, clause: Clause) -> bool:
    """Whether a verb behind "and" may belong to another one than the parser says: "I want to call
    and find out", "tips on how to clean and maintain it", "I cook rice or roasted corn"."""
    above = clause.parent
    if clause.own_subject or above is None:
        return False
    between = range(above.head + 1, clause.head)
    forms = _forms(tree, clause.head)
    if tree.child(clause.head, "aux", "aux:pass") >= 0:
        return False
    if any(tree.tags[i] == VERB and not forms.isdisjoint(_forms(tree, i)) for i in between):
        return True
    is_finite = above.is_copula or (above.auxiliaries and "s" in forms)
    return not is_finite and forms.isdisjoint(_forms(tree, above.head))


def _forms(tree: SentenceTree, verb: int) -> set[str]:
    """The forms that a verb may have: its base, its past, or the one with that ending."""
    word = tree.words[verb]
    if word.marks & Mark.PAST:
        return {"past"}
    if word.lowered == tree.base_form(verb):
        return {"base"}
    return {"ing" if word.lowered.endswith("ing") else "s"}
