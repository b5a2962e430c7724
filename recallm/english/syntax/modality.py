"""What makes a clause less than a plain assertion: modality, and negation.

The modality of a clause is the word that says so ("may", "plan to", "if"), from its auxiliaries,
its adverbs, the word that subordinates it, or the verb that governs it. The first of these counts.
"""

from __future__ import annotations

from typing import Final

from spacy.symbols import AUX, PRON

from recallm.english.syntax.tree import TABLE, WORDS, SentenceTree
from recallm.model import Mark

QUESTION: Final = "question"
"""The modality of what a question asks."""

_MODALS: Final[dict[str, str]] = TABLE["modals"]
"""Auxiliaries by which nothing is asserted."""

_ADVERBS: Final = WORDS["modal_adverbs"]

_MARKS: Final = frozenset(TABLE["modal_marks"])

_JESTS: Final = WORDS["jests"]
OPENING: Final = WORDS["opening_words"]
_WISHES: Final = WORDS["wishes_and_proposals"]

_POSSIBLE: Final = WORDS["unrealised"]
"""Verbs and adjectives whose infinitive is not said to be so: "wants to move"."""

_GERUND_VERBS: Final = WORDS["unrealised_gerund"]
"""Verbs whose gerund is not said to be so: "considered moving"."""

REPORTING: Final = WORDS["reporting"]
"""Verbs of speech."""

ATTITUDES: Final = WORDS["attitudes"]
"""Verbs whose clause is not said to be so: "thinks that Ada lives in Rome"."""

ATTITUDE_NOUNS: Final = WORDS["attitude_nouns"]
"""Nouns whose clause is not said to be so: "the rumour that Ada left"."""

_NEGATIONS: Final = frozenset(("not", "n't", "n’t", "nt", "never", "neither", "nor", "cannot"))
_ADDING: Final = frozenset(("only", "just", "merely"))
"""Words behind a "not" that negates nothing."""

_NEGATING: Final = frozenset(("no", "nobody", "nothing", "none", "nowhere", "neither", "nor"))
_HARDLY: Final = frozenset(("hardly", "barely", "scarcely"))


def sentence_modality(tree: SentenceTree) -> str:
    """What makes all clauses of a sentence less than assertions: that it is asked, said in jest, or
    begins with a wish or a proposal ("Wish I lived there", "Let's go")."""
    lowered = tree.lowered
    first = next((i for i, word in enumerate(lowered) if word not in OPENING), 0)
    behind = tree.tags[first + 1] if first + 1 < len(tree) else 0
    is_inverted = behind == PRON if tree.tags[first] == AUX else False
    asks = tree.words[first].marks & Mark.ASKS and behind == AUX
    if is_inverted or asks or any("?" in word for word in lowered[-3:]):
        return QUESTION
    if not _JESTS.isdisjoint(lowered):
        return "in jest"
    return lowered[first] if lowered[first] in _WISHES else ""


def own_modality(tree: SentenceTree, head: int) -> str:
    """The modality by a clause's own auxiliaries, adverbs and subordinating word."""
    lowered, relations = tree.lowered, tree.relations
    mark = adverb = ""
    for i in tree.children[head]:
        relation, word = relations[i], lowered[i]
        if relation in ("aux", "aux:pass", "cop"):
            if modal := _MODALS.get(word):
                return modal
        elif relation == "mark" or relation == "case":
            of_two = " ".join(lowered[i : i + 2])
            mark = next((each for each in (word, of_two) if each in _MARKS), mark)
        elif relation == "advmod" and word in _ADVERBS:
            adverb = word
    if head > 0 and tree.tags[head - 1] == AUX and lowered[head - 1] in _MODALS:
        return _MODALS[lowered[head - 1]]
    return mark or adverb


def negation_words(tree: SentenceTree, head: int) -> list[int]:
    """The words among a clause's own that negate it: "not", "never", "no longer"."""
    lowered, found = tree.lowered, []
    for i in tree.children[head]:
        word = lowered[i]
        if tree.bases[i] not in ("advmod", "aux", "cc", "det", "mark", "case"):
            continue
        behind = lowered[i + 1] if i + 1 < len(tree) else ""
        if (word in _NEGATIONS and behind not in _ADDING) or word in _HARDLY:
            found.append(i)
        elif word in ("longer", "more") and i > 0 and lowered[i - 1] == "no":
            found += [i - 1, i]
        elif word == "without" or (word == "no" and tree.bases[i] == "advmod"):
            found.append(i)
    if not found and lowered[max(0, head - 2) : head] in (["no", "longer"], ["no", "more"]):
        return [head - 2, head - 1]  # whatever the parser makes of it
    return found


def is_negated(tree: SentenceTree, argument: int) -> bool:
    """Whether a subject or an object negates its clause: "nobody", "no car", "neither", "tea, not
    coffee"."""
    if tree.lowered[argument] in _NEGATING:
        return True
    own = {"no", "neither", "not"} if tree.bases[argument] == "conj" else {"no", "neither"}
    return any(
        tree.lowered[i] in own
        and tree.bases[i] in ("det", "cc", "advmod")
        and tree.lowered[i + 1] not in _ADDING
        for i in tree.children[argument]
        if i < argument
    )


def infinitive_modality(tree: SentenceTree, governor: int, *, gerund: bool) -> str:
    """The modality of an infinitive or gerund by the word that governs it: "want to", "able to";
    empty for "begin", "manage" and their like, by which it is so."""
    lemma = tree.base_form(governor)
    if gerund:
        return lemma if lemma in _GERUND_VERBS else ""
    if tree.lowered[governor] in ("going", "gon", "gonna"):
        return "going to"
    if tree.lowered[governor] in ("supposed", "expected", "meant", "required", "allowed"):
        lemma = tree.lowered[governor]
        return f"{lemma} to"
    return f"{lemma} to" if lemma in _POSSIBLE else ""
