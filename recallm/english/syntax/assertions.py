"""Assertions: which open triplets of a sentence say enough, and say it to be so, to be facts.

"Tips for finding a teacher", "I saw one", "I plan to fish from a boat", "write a script" and
questions assert nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spacy.symbols import ADJ, ADV, AUX, NOUN, NUM, PROPN, VERB

from recallm.english.syntax.drafts import Draft, normal_form
from recallm.english.syntax.modality import OPENING, QUESTION, sentence_modality
from recallm.english.syntax.phrases import Clause, coordinated
from recallm.english.syntax.tree import WORDS, SentenceTree
from recallm.model import Mark

PLACES: Final = frozenset(("in", "at", "near"))
"""Prepositions of places."""
_VAGUE: Final = frozenset(("bit", "way", "rid"))
_VAGUE_ALONE: Final = frozenset(("one", "ones", "idea"))
"""Words that name nothing unless modifiers say which: "I saw one", "I like the idea"."""
_SAYING_WHICH: Final = ("nmod", "amod", "compound", "nmod:poss")
_UNREALISED: Final = WORDS["unrealised"]
_OPINIONS: Final = frozenset(("think", "guess", "suppose", "imagine", "wish"))
_PLURALS: Final = frozenset(
    ("people", "media", "police", "family", "couple", "team", "band", "staff", "data")
)
_EMBEDDED: Final = frozenset(("how", "what", "why", "whether", "which"))
_RELATIVES: Final = WORDS["relatives"]
_CLAUSES: Final = frozenset(("xcomp", "ccomp", "advcl", "acl"))


def assertions(tree: SentenceTree, drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts of a sentence that may be facts; without a clause where it asks."""
    is_order = _is_order(tree)
    is_asked = sentence_modality(tree) == QUESTION
    return [
        draft
        for draft in drafts
        if _is_telling(tree, draft)
        and (
            draft.clause is None
            or (not is_asked and _states(tree, draft, draft.clause, is_order=is_order))
        )
    ]


def _is_telling(tree: SentenceTree, draft: Draft) -> bool:
    """Whether what stands behind a noun, between commas or not, tells what the noun is: one of the
    two is a name, the other is none. Else they may be items of a list."""
    if draft.construction != "apposition":
        head = draft.object_head
        if head < 0:
            return True
        word = tree.lowered[head]
        is_vague = word in _VAGUE or (word in _VAGUE_ALONE and tree.child(head, *_SAYING_WHICH) < 0)
        return not (is_vague or tree.tags[head] == ADV)
    if tree.lowered[draft.subject_head] in OPENING:
        return False  # "Hmm, interesting numbers."
    if draft.object_head in tree.written_together(draft.subject_head):
        return True  # "co-founders"
    are_names = [tree.tags[i] == PROPN for i in (draft.subject_head, draft.object_head)]
    return any(are_names) and not all(are_names)


def _is_order(tree: SentenceTree) -> bool:
    """Whether a sentence tells somebody to do something: "Write a script based on this."."""
    first = next((i for i, word in enumerate(tree.lowered) if word not in OPENING), 0)
    return tree.heads[first] < 0 and tree.tags[first] == VERB


def _states(tree: SentenceTree, draft: Draft, clause: Clause, *, is_order: bool) -> bool:
    """Whether a draft of a clause says enough to be a fact. "Tips for finding a teacher", "I am
    sure that she left", "how much music has changed", "there are tools for that" and "I baked for
    two hours" do not."""
    is_gerund = tree.lowered[clause.head].endswith("ing")
    if is_gerund and not (clause.auxiliaries or clause.governors or clause.is_copula):
        return False
    if not _RELATIVES.isdisjoint(tree.lowered[i] for i in draft.subject):
        return False
    if draft.relation.endswith(" for") and tree.is_time(draft.object_head):
        return False
    if tree.is_time(draft.subject_head) or draft.relation.endswith(" like"):
        return False
    if draft.construction == "verb object" and not _is_object(tree, draft):
        return False
    are_numbers = {tree.tags[i] == NUM for i in (draft.object_head, clause.head)}
    if draft.construction == "copula noun" and len(are_numbers) > 1:
        return False  # "Tia is 9 and Bea is 12": the parser may coordinate a name with a number
    if is_order and tree.bases[clause.head] in ("acl", "advcl", "xcomp"):
        return False
    is_open = any(tree.bases[i] in _CLAUSES for i in tree.children[clause.head])
    if draft.construction == "verb oblique" and is_open and _is_intended(tree, clause):
        return False
    if _is_about_clause(tree, clause) or _disagrees(tree, draft, clause):
        return False
    if _asks_within(tree, clause):
        return False
    if clause.existential and draft.relation.rpartition(" ")[2] not in PLACES:
        return False
    is_state = draft.construction in ("copula adjective", "copula noun", "passive alone")
    return not (is_open and is_state and tree.tags[clause.head] in (ADJ, VERB))


def _is_object(tree: SentenceTree, draft: Draft) -> bool:
    """Whether the object of a verb is one: no time behind "and" ("we baked bread, and last Sunday
    …"), no question ("how much power they had") and no subject of a clause ("I noticed shops are
    closing")."""
    head, last = draft.object_head, max(draft.object, default=0)
    is_subject = last + 1 < len(tree) and tree.tags[last + 1] == AUX
    is_asked = any(tree.words[i].marks & Mark.ASKS for i in draft.object)
    is_time = tree.bases[head] == "conj" and tree.is_time(head)
    return not (draft.relation in _OPINIONS or is_subject or is_asked or is_time)


def _is_intended(tree: SentenceTree, clause: Clause) -> bool:
    """Whether a verb says what is not done yet: "I plan to fish from a boat"."""
    return tree.child(clause.head, "xcomp") >= 0 and normal_form(tree, clause) in _UNREALISED


def _is_about_clause(tree: SentenceTree, clause: Clause) -> bool:
    """Whether "which" behind a comma may stand for all that was said: "I walk, which helps"."""
    return "rel" in clause.relation and any(
        tree.lowered[i] == "which" and i > 0 and tree.lowered[i - 1] == ","
        for i in tree.children[clause.head]
    )


def _disagrees(tree: SentenceTree, draft: Draft, clause: Clause) -> bool:
    """Whether a singular stands before a verb without -s, which the parser misread: "the chance to
    volunteer at a centre" does not say that the chance volunteers."""
    subject, verb = draft.subject_head, tree.words[clause.head]
    word = tree.words[subject]
    is_singular = (
        tree.tags[subject] in (NOUN, PROPN)
        and not word.lowered.endswith("s")
        and word.noun_stem == word.stem
        and tree.entity_labels.get(subject) != "ORG"
        and word.lowered not in _PLURALS
        and len(
            coordinated(tree, tree.heads[subject] if tree.bases[subject] == "conj" else subject)
        )
        == 1
    )
    is_plain = not (clause.auxiliaries or clause.governors or clause.is_copula or clause.passive)
    return (
        is_singular
        and is_plain
        and verb.lowered == tree.base_form(clause.head)
        and not verb.marks & (Mark.PAST | Mark.BARE_PAST)
        and tree.tags[clause.head] == VERB
    )


def _asks_within(tree: SentenceTree, clause: Clause) -> bool:
    """Whether a clause says what somebody asks or explains: "how much impact they had"."""
    if tree.bases[clause.head] in ("root", "conj", "parataxis") or "rel" in clause.relation:
        return False
    near = [i for i in tree.children[clause.head] if i < clause.head]
    near += [j for i in near for j in tree.children[i]]
    return any(tree.lowered[i] in _EMBEDDED for i in near)
