"""Whose the facts of a message are: "I" is the speaker, "we" the speaker with whoever took part.
What an assistant says of its user is a guess.

"My sister Marta visited me. We flew to York." is about the speaker and Marta. Whom the speaker
talks to is of "we" only where the words say so: "you and I", "shall we". Behind "My father works
for Shell." "he" is the father of the speaker, and behind "My son is called Kai." "my son" is Kai.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from recallm.english.changes import Said
from recallm.english.syntax.ends import EVERY_RELATIVE, RELATIVES
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
        is_somebody = other is not None and (other.label[:1].isupper() or " of " in other.label)
        if other is not None and is_somebody and other.name != speaker.name:
            found.setdefault(other.name, other)
    return tuple(found.values())


def _is(concept: ConceptMention | None, speaker: ConceptMention) -> bool:
    return concept is not None and concept.name == speaker.name


class Told:
    """What was ``said`` before a sentence, the newest last."""

    def __init__(self, said: Sequence[Said]) -> None:
        self._said = said

    def meant_by(self, pronoun: str, sentence: str) -> str | None:
        """What an end is called for which a pronoun stands that has no name as its antecedent: the
        last relative ("father of Una"), or what gets its name ("She's called Miso"); None where
        there is none, or where the last relative is of another gender."""
        is_named = _IS_NAMED.search(sentence)
        for speaker, text, _ in reversed(self._said):
            if is_named and (things := _GOT.findall(text)):
                return str(things[-1])
            if not is_named and pronoun in _GENDERS and (nouns := _MY_RELATIVE.findall(text)):
                noun = str(nouns[-1]).lower()
                is_other = noun in RELATIVES[_GENDERS[pronoun]] or speaker is None
                return None if is_other else f"{noun} of {speaker}"
        return None

    def name_of(self, label: str) -> str | None:
        """The name of whom a label calls by the owner ("son of Ada"), where the owner told it."""
        noun, _, owner = label.partition(" of ")
        name_told = _NAME_TOLD.format(noun=re.escape(noun))
        for speaker, text, _ in reversed(self._said if owner else ()):
            if speaker == owner and (found := re.search(name_told, text)):
                return found["behind"] or found["before"]
        return None


THIRD_PERSONS: Final = frozenset(
    ("he", "him", "his", "she", "her", "it", "its", "they", "them", "their")
)
"""Words that stand for somebody or something that was named before."""
_GENDERS: Final = {
    **dict.fromkeys(("he", "him", "his"), "women"),
    **dict.fromkeys(("she", "her"), "men"),
}
"""Pronouns, and the relatives for which they do not stand."""
_IS_NAMED: Final = re.compile(r"\b(?:called|named|names? (?:is|are))\b", re.IGNORECASE)
_GOT: Final = re.compile(
    r"\b(?:got|have|has|had|adopted|bought|own|owns|rescued|opened|started|run)"
    r" (?:a|an|one|two|three|four|our|my) (?:new |little |small |big )?((?:[a-z-]+ )??[a-z-]+)"
    r"(?= (?:from|in|at|with|for|and|last|this|yesterday|today|on)\b|[.,;!?]|$)"
)
_NAME_TOLD: Final = (
    r"(?i:\bmy {noun})(?:'s name is| is called| is named| is|,)? (?P<behind>[A-Z]\w+)"
    r"|\b(?P<before>[A-Z]\w+) is (?i:my {noun})\b"
)


_RELATIVE: Final = "|".join(map(re.escape, sorted(EVERY_RELATIVE, key=len, reverse=True)))
_MY_RELATIVE: Final = re.compile(rf"\bmy (?:\w+ )??({_RELATIVE})\b", re.IGNORECASE)
_REFERS_BACK: Final = re.compile(rf"\b(?:{'|'.join(THIRD_PERSONS)})\b", re.IGNORECASE)


def refers_back(text: str) -> bool:
    """Whether what was said before a text may tell whom the text is about."""
    return _REFERS_BACK.search(text) is not None or _MY_RELATIVE.search(text) is not None
