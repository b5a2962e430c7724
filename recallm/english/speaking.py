"""Whose the facts of a message are: "I" is the speaker, "we" the speaker with whoever took part.
What an assistant says of its user is a guess.

"My sister Marta visited me. We flew to York." is about the speaker and Marta. Whom the speaker
talks to is of "we" only where the words say so: "you and I", "shall we".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from recallm.english.words import Mark, Word
from recallm.model import ConceptMention, OpenTriplet

_WE: Final = frozenset(("we", "us", "both of us", "we both", "we all"))
_PROPOSING: Final = frozenset(("shall", "should", "let"))
"""Words before a "we" with whom the speaker talks to: "shall we", "let us"."""
_JOINING: Final = ("meet", "marry", "date", "join")
"""Verbs whose object takes part."""
_YOU_AND_I: Final = re.compile(r"\byou and (?:i|me)\b", re.IGNORECASE)


def addressed_words(words: Sequence[Word], text: str) -> Iterator[int]:
    """The places of the words of a text that stand for its addressee: "you", "your", and "we" where
    the text says so."""
    are_both = None
    for i, word in enumerate(words):
        if word.marks & Mark.SECOND_PERSON:
            yield i
        elif word.marks & Mark.FIRST_PLURAL:
            if are_both is None:
                are_both = bool(_YOU_AND_I.search(text))
            if are_both or (i > 0 and words[i - 1].lowered in _PROPOSING):
                yield i


def speaks_of_user(words: Iterable[Word]) -> bool:
    """Whether a sentence of an assistant is about the user: advice, a guess or a summary."""
    return any(word.marks & Mark.SECOND_PERSON for word in words)


def with_companions(
    facts: Iterable[OpenTriplet], companions: Sequence[ConceptMention]
) -> Iterator[OpenTriplet]:
    """Facts, those of "we" and "us" also with each of the companions in place of the speaker."""
    for fact in facts:
        yield fact
        if fact.subject.lower() in _WE:
            yield from (replace(fact, subject_concept=each) for each in companions)
        elif fact.object.lower() in _WE:
            yield from (replace(fact, object_concept=each) for each in companions)


def companions_in(
    facts: Sequence[OpenTriplet], speaker: ConceptMention
) -> tuple[ConceptMention, ...]:
    """Who took part in what the speaker did, by the facts of a sentence: "Marta visited me",
    "I live with Marta", "Marta and I opened a shop"."""
    found: dict[str, ConceptMention] = {}
    own = {(fact.relation, fact.object) for fact in facts if _is(fact.subject_concept, speaker)}
    for fact in facts:
        subject, object_ = fact.subject_concept, fact.object_concept
        if not fact.is_fact or subject is None or fact.relation.endswith(" of"):
            continue
        if _is(subject, speaker):
            takes_part = fact.relation.endswith(" with") or fact.relation in _JOINING
            other = object_ if takes_part else None
        else:
            is_shared = _is(object_, speaker) or (fact.relation, fact.object) in own
            other = subject if is_shared else None
        if other is not None and other.name != speaker.name:
            found.setdefault(other.name, other)
    return tuple(found.values())


def _is(concept: ConceptMention | None, speaker: ConceptMention) -> bool:
    return concept is not None and concept.name == speaker.name
