"""How far a fact is trusted: whether the words of a sentence make the fact likely to be right and
whole.

What the speaker says of himself has a fitted confidence: a logistic regression on marked messages
(``training/triplets/facts.py``). Facts about others are trusted by rules: the marked messages hold
few of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import exp
from pathlib import Path
from typing import Any, Final

from spacy.symbols import ADJ, AUX, NAMES, NOUN, PRON, PROPN, VERB

from recallm.english.syntax.assertions import SHORT, is_bare, is_plain
from recallm.english.syntax.drafts import Draft
from recallm.english.syntax.tree import EVERY_RELATIVE, WORDS, SentenceTree
from recallm.model import Mark

_SURE: Final = 0.9
"""How sure a fact of an owner is at least: "Ada's sister Ingrid" says who Ingrid is."""

_SHOWN: Final = 0.9
_HIDDEN: Final = 0.49
"""How sure a fact is at least that the rules trust, and another at most: on either side of what
``FactMemory.read`` shows."""

_UNLIKELY: Final = 0.4
_LIKELY: Final = 0.6
_CLEAR: Final = 12
"""How sure a fact about the speaker must be to be trusted in a short message, and in a sentence of
at most so many tokens of a long one: the weights were fitted on long sentences of long messages."""

_LEAST: Final = 0.55
"""How sure the construction of a fact in a long sentence must be, if the rules are to show that."""

_FIRST_PERSON: Final = Mark.FIRST_PERSON | Mark.FIRST_PLURAL
_KNOWN: Final = EVERY_RELATIVE | WORDS["pets"]
_ENDS: Final = frozenset((".", "!", "?", "…", "..."))
_WEIGHED: Final = WORDS["weighed"]
DATA: Final = Path(__file__).parent / "data" / "facts.json"


def trusted(tree: SentenceTree, draft: Draft, sure: float, *, in_long_message: bool) -> float:
    """The confidence (0 to 1) of a fact of which its construction alone says ``sure``.
    ``in_long_message``: what somebody says in many words, or pastes, may be no more than an
    example."""
    if draft.construction == "possessor":
        return max(sure, _SURE) if _tells_who(tree, draft) else min(sure, _HIDDEN)
    if is_of_speaker(tree, draft):
        sure = probability(_MODEL, features(tree, draft, sure))
        enough = (_LIKELY if len(tree) <= _CLEAR else _SHOWN) if in_long_message else _UNLIKELY
        return round(max(sure, _SHOWN) if sure >= enough else sure, 4)
    is_sure = sure >= _LEAST or len(tree) <= SHORT
    is_related = _is_known(tree, draft) or _is_said(tree, draft, in_long_message=in_long_message)
    is_cut = in_long_message and _is_to_speaker(tree, draft)
    if is_sure and is_related and is_plain(tree, draft) and not is_cut:
        return max(sure, _SHOWN)
    return min(sure, _HIDDEN)


def _is_known(tree: SentenceTree, draft: Draft) -> bool:
    """Whether a fact is about what somebody owns, or about a relative: "my rent", "Grandma", "my
    sister Anna", "Anna is my sister", "she"; not about "the husbands" of a story."""
    subject = draft.subject_head
    if tree.tags[subject] == PRON:
        return tree.lowered[subject][0] not in "'’"  # "'s" of "let's"
    role = tree.heads[subject] if tree.bases[subject] in ("flat", "appos") else subject
    is_owned = tree.child(subject, "nmod:poss") >= 0 or tree.child(role, "nmod:poss") >= 0
    is_named = tree.tags[subject] == PROPN and tree.is_relative(subject)
    return is_owned or is_named or not _KNOWN.isdisjoint(draft.relation.split())


def _is_said(tree: SentenceTree, draft: Draft, *, in_long_message: bool) -> bool:
    """Whether a fact tells a number, a date or a code ("The fee is 40 euros"), or stands in a short
    message that ends as people end sentences: not "Bach cello music adapted for violin"."""
    is_value = any(tree.words[i].marks & Mark.DIGITS for i in draft.object)
    is_stated = is_value and (not in_long_message or draft.construction.startswith("copula"))
    return is_stated or (not in_long_message and tree.lowered[-1] in _ENDS)


def _is_to_speaker(tree: SentenceTree, draft: Draft) -> bool:
    """Whether somebody does something to the speaker. The parser often misses what: "the necklace
    my aunt gave me"."""
    is_of = draft.object_head < 0 or draft.relation.endswith(" of")
    return not is_of and bool(tree.words[draft.object_head].marks & _FIRST_PERSON)


def _tells_who(tree: SentenceTree, draft: Draft) -> bool:
    """Whether a noun with an owner tells who somebody is: "my sister Eva", "Norway's capital Oslo".
    In a long sentence "my new Lowepro bag" may look so."""
    is_whose = tree.tags[draft.object_head] == PRON
    return not is_whose or len(tree) <= SHORT or not _KNOWN.isdisjoint(draft.relation.split())


def is_of_speaker(tree: SentenceTree, draft: Draft) -> bool:
    """Whether a clause asserts something of the speaker, or of the speaker and others. Few denials
    are marked."""
    marks = tree.words[draft.subject_head].marks
    return draft.clause is not None and not draft.negated and bool(marks & _FIRST_PERSON)


def features(tree: SentenceTree, draft: Draft, sure: float) -> dict[str, float]:
    """The features of a fact that the speaker says of himself, by name; absent ones are 0."""
    clause, relation = draft.clause, draft.relation.split()
    if clause is None:
        return {}
    found: dict[str, float] = {
        "sure": sure,
        "short": len(tree) <= SHORT,
        "plain": is_plain(tree, draft),
        "sentence length": len(tree) / 20,
        "verbs": sum(tag in (VERB, AUX) for tag in tree.tags) / 5,
        "commas": tree.lowered.count(",") / 3,
        draft.construction: 1,
        f"clause {tree.relations[clause.head]}": 1,
        f"subject {tree.lowered[draft.subject_head]}": 1,
        f"verb {tree.base_form(clause.head)}": 1,
        f"preposition {relation[-1] if len(relation) > 1 else ''}": 1,
        f"auxiliaries {' '.join(tree.lowered[i] for i in clause.auxiliaries)}": 1,
    }
    found |= {f"word {word}": 1 for word in _WEIGHED.intersection(tree.lowered)}
    if (head := draft.object_head) >= 0:
        found |= _of_object(tree, draft, head)
        found["distance"] = max(0, head - clause.head) / 7
        between = range(clause.head + 1, head)
        found["verbs between"] = sum(tree.tags[i] in (VERB, AUX) for i in between)
    return found


def _of_object(tree: SentenceTree, draft: Draft, head: int) -> dict[str, float]:
    """The features of the object with this head."""
    children = tree.children[head]
    relations = [tree.relations[i] for i in children]
    bases = [tree.bases[i] for i in children]
    tokens = draft.object or [head]
    behind = tokens[-1] + 1
    determiner = tree.child(head, "det")
    return {
        f"object {tree.lemmas[head].lower()}": 1,
        f"object tag {NAMES[tree.tags[head]]}": 1,
        f"object as {tree.relations[head]}": 1,
        f"determiner {tree.lowered[determiner] if determiner >= 0 else ''}": 1,
        f"behind {NAMES[tree.tags[behind]] if behind < len(tree) else ''}": 1,
        "tokens behind": min(max(0, len(tree) - behind), 20) / 20,
        "gap": behind - tokens[0] - len(tokens),
        "bare": is_bare(tree, draft, ""),
        "the alone": is_bare(tree, draft, "the"),
        "owned": "nmod:poss" in relations,
        "relative": tree.is_relative(head),
        "plural": tree.tags[head] == NOUN and tree.lowered[head].endswith("s"),
        "clause behind": "acl:relcl" in relations,
        "participle behind": "acl" in relations,
        "phrases": bases.count("nmod"),
        "modifiers": sum(tree.tags[i] in (ADJ, NOUN, PROPN) for i in children),
        "coordinated": tree.bases[head] == "conj",
        "with coordinated": "conj" in bases,
    }


def probability(model: Mapping[str, Any], values: Mapping[str, float]) -> float:
    """The probability (0 to 1) by the weights of a model for the values of features."""
    weights = model["weights"]
    total = model["base"] + sum(weights.get(name, 0) * value for name, value in values.items())
    return 1 / (1 + exp(-total))


_MODEL: Final[Mapping[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))
