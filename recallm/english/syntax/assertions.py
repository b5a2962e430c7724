"""Assertions: which open triplets of a sentence say enough, and say it to be so, to be facts.

"Tips for finding a teacher", "I saw one", "I plan to fish from a boat", "write a script" and
questions assert nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spacy.symbols import ADJ, ADP, AUX, NOUN, NUM, PART, PRON, PROPN, SCONJ, VERB

from recallm.english.syntax.clauses import is_any
from recallm.english.syntax.drafts import Draft, normal_form
from recallm.english.syntax.modality import (
    OPENING,
    QUESTION,
    sentence_modality,
)
from recallm.english.syntax.phrases import Clause, preposition
from recallm.english.syntax.tree import WORDS, SentenceTree
from recallm.model import Mark

PLACES: Final = frozenset(("in", "at", "near"))
"""Prepositions of places."""
_VAGUE: Final = WORDS["vague"]
_OPINIONS: Final = frozenset(
    (
        "think",
        "guess",
        "suppose",
        "imagine",
        "wish",
        "hope",
        "hear",
        "hear about",
        "understand",
        "use to",
        "mean to",
    )
)
_LETTING: Final = frozenset(("let", "make", "help", "see", "hear", "watch", "have"))
"""Verbs behind whose object stands an infinitive without "to"."""
_POINTING: Final = frozenset(("this", "that", "these", "those", "such", "same", "similar"))
_OWNERS: Final = frozenset(("his", "her", "its", "their"))
_WHENEVER: Final = frozenset(("when", "whenever", "after", "before", "until", "once"))
_EMBEDDED: Final = frozenset(("how", "what", "why", "whether", "which", "where"))
_RELATIVES: Final = WORDS["relatives"]
_CLAUSES: Final = frozenset(("xcomp", "ccomp", "advcl", "acl"))


def assertions(tree: SentenceTree, drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts of a sentence that may be facts; without a clause where it asks."""
    is_asked = sentence_modality(tree) == QUESTION
    return [
        draft
        for draft in drafts
        if _is_telling(tree, draft)
        and (draft.clause is None or (not is_asked and _states(tree, draft, draft.clause)))
    ]


def _is_telling(tree: SentenceTree, draft: Draft) -> bool:
    """Whether what stands behind a noun, between commas or not, tells what the noun is: one of the
    two is a name, the other is none. Else they may be items of a list."""
    if draft.construction != "apposition":
        return True
    if tree.lowered[draft.subject_head] in OPENING:
        return False  # "Hmm, interesting numbers."
    if draft.object_head in tree.written_together(draft.subject_head):
        return True  # "co-founders"
    are_names = [tree.tags[i] == PROPN for i in (draft.subject_head, draft.object_head)]
    return any(are_names) and not all(are_names)


def says_which(tree: SentenceTree, draft: Draft) -> bool:
    """Whether both ends of a fact say what they are, as wholes: "I saw the old one", "I have
    issues", "I love her work", "in the same city" and "timer" of "self-timer" do not."""
    if tree.tags[draft.subject_head] == NUM:
        return False  # "One of the vases has a chip"
    ends = [i for i in (draft.subject_head, draft.object_head) if i >= 0]
    return not any(_is_vague(tree, i) or _refers_back(tree, i, draft) for i in ends) and not any(
        _is_cut(tree, i, draft) for i in (*ends, *draft.object[:1], *draft.object[-1:])
    )


def _refers_back(tree: SentenceTree, head: int, draft: Draft) -> bool:
    """Whether an object is known by what was said before alone: "I like these tips", "I love her
    work"; "Ann loves her work" says whose."""
    if head != draft.object_head:
        return False
    is_own = tree.lowered[draft.subject_head] in ("i", "we")
    first = tree.heads[head] if tree.bases[head] == "conj" else head
    around = [i for i in tree.children[first] if tree.relations[i] in ("det", "nmod:poss", "amod")]
    return any(
        tree.lowered[i] in _POINTING or (is_own and tree.lowered[i] in _OWNERS)
        for i in (*draft.object, *around)
    )


def _is_vague(tree: SentenceTree, head: int) -> bool:
    """Whether a noun names nothing without a phrase that says of what."""
    below = tree.children[head]
    if any(tree.tags[i] == PRON and tree.text(preposition(tree, i)) == "of" for i in below):
        return True
    if tree.lowered[head] not in _VAGUE:
        return False
    return not any(
        tree.relations[i] == "compound"
        or (
            tree.bases[i] == "nmod"
            and tree.text(preposition(tree, i)).lower() in ("of", "for", "on", "about")
            and tree.tags[i] != PRON
        )
        for i in below
    )


def _is_cut(tree: SentenceTree, head: int, draft: Draft) -> bool:
    """Whether a phrase has a part of a word alone."""
    together = tree.written_together(head)
    text = tree.text(together)
    has_digit = any(character.isdigit() for character in text)
    return "-" in text and not has_digit and not {*together} <= {*draft.subject, *draft.object}


def _states(tree: SentenceTree, draft: Draft, clause: Clause) -> bool:
    """Whether a draft of a clause says enough to be a fact. "Tips for finding a teacher", "I am
    sure that she left", "how much music has changed", "there are tools for that" and "I baked for
    two hours" do not."""
    is_gerund = tree.lowered[clause.head].endswith("ing")
    is_held = clause.governors and tree.tags[clause.governors[-1]] != ADJ
    if is_gerund and not (clause.auxiliaries or is_held or clause.is_copula):
        return False
    is_open = tree.bases[clause.head] == "xcomp"
    if is_open and not (clause.own_subject or clause.governors):
        return False  # "Help me define the goal", "It made me think of Ann"
    if any(
        tree.lowered[i] in _RELATIVES or tree.words[i].marks & Mark.ASKS
        for i in (*draft.subject, *draft.object)
    ):
        return False
    if draft.relation in _OPINIONS or draft.relation.endswith((" like", " between")):
        return False
    if _is_duration(tree, draft):
        return False
    is_named = draft.relation.endswith(("called", "named"))
    if not is_named and _is_kind(tree, draft.subject_head):
        return False
    if draft.construction in ("verb object", "verb xcomp") and not _is_object(tree, draft, clause):
        return False
    if clause.is_copula and not _is_predicate(tree, draft, clause):
        return False
    has_clause = any(tree.bases[i] in _CLAUSES for i in tree.children[clause.head])
    # "I plan to fish from a boat", "I think of sending a card to Ann"
    is_intended = normal_form(tree, clause) in WORDS["unrealised"] and any(
        tree.bases[i] == "xcomp" or (tree.bases[i] == "advcl" and i < draft.object_head)
        for i in tree.children[clause.head]
    )
    if (draft.construction == "verb oblique" and is_intended) or _is_supposed(tree, draft, clause):
        return False
    if _is_about_clause(tree, clause) or _asks_within(tree, clause):
        return False
    is_state = draft.construction in ("copula adjective", "copula noun", "passive alone")
    return not (has_clause and is_state and tree.tags[clause.head] in (ADJ, VERB))


def _is_duration(tree: SentenceTree, draft: Draft) -> bool:
    """Whether an object only says how long or when: "I baked for two hours", "I spent a day"."""
    head, word = draft.object_head, draft.relation.rpartition(" ")[2]
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
        is_known = tree.lowered[owner] not in ("his", "her", "its", "their")
        return not (is_known or tree.lowered[noun] in WORDS["qualities"])
    is_plural = tree.lowered[noun] != tree.lemmas[noun].lower() and tree.lowered[noun][-1:] == "s"
    is_these = any(tree.lowered[i] in ("these", "those") for i in tree.children[noun])
    is_many = (is_plural or tree.lowered[noun] == "people") and tree.child(noun, "nummod") < 0
    return is_these or (is_any(tree, noun) and (is_many or tree.child(noun, "det") >= 0))


def _is_object(tree: SentenceTree, draft: Draft, clause: Clause) -> bool:
    """Whether the object of a verb is one: no time behind "and" ("we baked bread, and last Sunday
    …"), no subject of a clause ("I noticed shops are closing"), nothing that is judged ("I find the
    trend alarming") and nothing behind a preposition ("I listened to "Blue"")."""
    head, last = draft.object_head, max(draft.object, default=0)
    behind = max(clause.head, *clause.particles) + 1 if clause.particles else clause.head + 1
    # "I had my car repaired"
    is_done = last > head and tree.tags[last] == VERB and tree.words[last].marks & Mark.PAST
    is_subject = last + 1 < len(tree) and tree.tags[last + 1] == AUX
    judging = ("xcomp", "advcl") if draft.relation == "find" else ("xcomp",)
    is_judged = any(
        tree.bases[i] in judging
        and i > head
        and (
            tree.tags[i] == ADJ
            or tree.lowered[i] != tree.base_form(i)
            or (tree.child(i, "mark") < 0 and draft.relation not in _LETTING)
            or draft.relation in WORDS["unrealised"]  # "I want Ann to stay"
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
    return not (is_done or is_subject or is_judged or is_behind or is_far)


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


def _is_about_clause(tree: SentenceTree, clause: Clause) -> bool:
    """Whether "which" behind a comma may stand for all that was said: "I walk, which helps"."""
    return "rel" in clause.relation and any(
        tree.lowered[i] == "which" and i > 0 and tree.lowered[i - 1] == ","
        for i in tree.children[clause.head]
    )


def _asks_within(tree: SentenceTree, clause: Clause) -> bool:
    """Whether a clause says what somebody asks or explains: "how much impact they had"."""
    if clause.relation == "root" or "rel" in clause.relation:
        return False
    near = [i for i in tree.children[clause.head] if i < clause.head]
    near += [j for i in near for j in tree.children[i]]
    return any(tree.lowered[i] in _EMBEDDED for i in near)
