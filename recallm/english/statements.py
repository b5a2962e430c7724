"""What the statements of a passage say, which are its sentences; and the facts in them.

A pronoun of a statement stands for a concept: "you" for the addressee; "I" needs no reference,
since every statement mentions its speaker. ``recallm.english.coreference`` resolves "he" and "she".

"We" is the speaker with whoever took part: "My sister Marta visited me. We flew to York." is about
the speaker and Marta. Whom the speaker talks to is of "we" only where the words say so: "you and
I", "shall we". Behind "My father works for Shell." "he" is the father of the speaker, and behind
"My son is called Kai." "my son" is Kai. What an assistant says of its user is a guess.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final, NamedTuple

from spacy.symbols import AUX, VERB

from recallm.english.changes import Change, Said
from recallm.english.concepts import ConceptPlace
from recallm.english.coreference.resolving import FoundReference
from recallm.english.plain_reading import ReadSentence, ReadText
from recallm.english.sentences import Span
from recallm.english.syntax.tree import EVERY_RELATIVE, RELATIVES
from recallm.english.syntax.triplets import facts_in
from recallm.english.words import Word
from recallm.model import ConceptMention, Mark, OpenTriplet

_WE: Final = frozenset(("we", "us", "both of us", "we both", "we all"))
_PROPOSING: Final = frozenset(("shall", "should", "let"))
"""Words before a "we" with whom the speaker talks to: "shall we", "let us"."""
_MAY_ADDRESS: Final = Mark.SECOND_PERSON | Mark.FIRST_PLURAL
_JOINING: Final = ("meet", "marry", "date", "join")
"""Verbs whose object takes part."""
_YOU_AND_I: Final = re.compile(r"\byou and (?:i|me)\b", re.IGNORECASE)
_VERBAL = frozenset((VERB, AUX))
_LONGEST_ANSWER = 8
"""Tokens."""
_OWNED = frozenset(("mine", "ours"))
"""Words that stand for what the speaker has."""
_EARLIER_CHARACTERS = 2000
"""How much of a text before a sentence may tell whom the sentence is about."""
_SHORT_MESSAGE = 100
"""Characters of a message of a chat. What people say in fewer is nearly always a fact."""


def addressed(read: ReadText) -> Iterator[Span]:
    """The spans of the words of a text that stand for its addressee: "you", "your", and "we" where
    the text says so."""
    for block in read.blocks:
        words = block.tagged.words
        for i, word in enumerate(words):
            if not word.marks & _MAY_ADDRESS:
                continue
            is_meant = (
                word.marks & Mark.SECOND_PERSON
                or (i > 0 and words[i - 1].lowered in _PROPOSING)
                or _YOU_AND_I.search(block.tagged.text)
            )
            if is_meant:
                start = block.start + block.tagged.starts[i]
                yield start, start + len(word.text)


class Stated(NamedTuple):
    """What one statement says: a sentence of a passage, with its concepts in textual order, those
    that its pronouns stand for among them."""

    read: ReadText
    sentence: ReadSentence
    places: Sequence[ConceptPlace]


def sentences_of(read: ReadText, references: Iterable[FoundReference]) -> list[Stated]:
    """The sentences of a passage, each as a statement."""
    found: list[Stated] = []
    left = deque(sorted(references, key=attrgetter("start")))
    for sentence in read.sentences:
        block = read.blocks[sentence.block]
        starts = block.tagged.starts
        while left and left[0].start < sentence.start:
            left.popleft()
        places = sentence.places
        while left and left[0].start < sentence.end:
            reference = left.popleft()
            concept, *parts = reference.mentions(sentence.start)
            first = bisect_left(starts, reference.start - block.start)
            last = bisect_left(starts, reference.end - block.start)
            places = [*places, ConceptPlace(concept, tuple(parts), True, first, last)]
        if places is not sentence.places:
            places = sorted(places, key=attrgetter("token"))
        found.append(Stated(read, sentence, places))
    return found


class Changed(NamedTuple):
    """What a sentence changes, with the sentences of ``change`` as they were read."""

    change: Change
    means: Sequence[Stated]
    before: Sequence[Stated]
    was: Sequence[Stated]

    def facts(
        self, own: list[OpenTriplet], read: Callable[[Iterable[Stated]], list[OpenTriplet]]
    ) -> Iterator[OpenTriplet]:
        """The facts of the sentence, whose ``own`` count where ``change`` says so; ``read`` gives
        those of other sentences. What held before is stated and denied."""
        for fact in read(self.before):
            yield fact
            if fact.is_fact:
                yield replace(fact, negated=True)
        means = [*(own if self.change.also else ()), *read(self.means)]
        yield from means
        now = " ".join(self.change.means).lower()
        for fact in read(self.was):
            is_repeated = fact.subject.lower() in now and fact.object.lower() in now
            if fact.is_fact and not is_repeated:
                yield replace(fact, negated=True, corrects=self.change.corrects)


def said_in(read: ReadText, speaker: str | None) -> list[Said]:
    """The sentences of a text. The first one may answer what was asked before."""
    return [
        Said(
            speaker,
            read.text[sentence.start : sentence.end],
            may_answer=not place
            and sentence.tokens[1] <= _LONGEST_ANSWER
            and _VERBAL.isdisjoint(read.blocks[0].tagged.tags[slice(*sentence.tokens)]),
        )
        for place, sentence in enumerate(read.sentences)
    ]


def facts_of(
    statements: Sequence[Stated],
    speaker: Sequence[ConceptMention],
    concept_name: Callable[[str], str],
    changes: Mapping[int, Changed],
    before: Sequence[Said] = (),
    *,
    is_assistant: bool,
) -> Iterator[OpenTriplet]:
    """The facts of parsed statements. "I" stands for the ``speaker`` (the concept, then the parts
    of its name); ``concept_name`` says which concept a label spells; ``changes`` are what
    statements change, by their positions; ``before`` is what was said before the text.
    ``is_assistant``: what the speaker says of the user is no fact, but advice, a guess or a
    summary."""
    companions: Sequence[ConceptMention] = ()
    own = speaker[0].label if speaker else None

    def read(sentences: Iterable[Stated]) -> list[OpenTriplet]:
        nonlocal companions
        found: list[OpenTriplet] = []
        for passage, sentence, places in sentences:
            tagged = passage.blocks[sentence.block].tagged
            words = tagged.words[slice(*sentence.tokens)]
            if is_assistant and any(word.marks & Mark.SECOND_PERSON for word in words):
                continue
            text, start = passage.text, sentence.start
            behind = Said(own, text[max(0, start - _EARLIER_CHARACTERS) : start])
            earlier, said = EarlierTalk([*before, behind]), text[start : sentence.end]
            concepts = _concepts(words, sentence.tokens[0], places, speaker, earlier, said)
            facts = facts_in(
                tagged,
                sentence.tokens,
                position=position,
                in_long_message=bool(speaker) and len(text) > _SHORT_MESSAGE,
                concept_at=concepts.get,
            )
            named = [_with_names(fact, concept_name, earlier) for fact in facts]
            if speaker:
                companions = companions_in(named, speaker[0]) or companions
                named = [*with_companions(named, companions)]
            found += named
        return found

    for position, stated in enumerate(statements):
        found = read([stated])
        changed = changes.get(position)
        yield from found if changed is None else changed.facts(found, read)


def _concepts(
    words: Sequence[Word],
    first: int,
    places: Iterable[ConceptPlace],
    speaker: Sequence[ConceptMention],
    earlier: EarlierTalk,
    sentence: str,
) -> dict[int, ConceptMention]:
    """What the words of a sentence stand for, by their tokens, of which ``first`` is the first."""
    concepts = {token: place.concept for place in places for token in range(place.token, place.end)}
    for i, word in enumerate(words, start=first):
        if speaker and word.marks & Mark.FIRST_PERSON and word.lowered not in _OWNED:
            concepts[i] = speaker[0]
        elif i not in concepts and word.lowered in THIRD_PERSONS:
            label = earlier.meant_by(word.lowered, sentence)
            if label is not None:
                concepts[i] = ConceptMention(name="", label=label, kind="entity")
    return concepts


def _with_names(
    fact: OpenTriplet, concept_name: Callable[[str], str], earlier: EarlierTalk
) -> OpenTriplet:
    """A fact whose ends have their concepts' names, also where the statement mentions no such
    concept; a relative has the name that the owner gave."""

    def named(concept: ConceptMention | None) -> ConceptMention | None:
        if concept is None or concept.name:
            return concept
        label = earlier.name_of(concept.label) or concept.label
        return replace(concept, label=label, name=concept_name(label))

    return replace(
        fact,
        subject_concept=named(fact.subject_concept),
        object_concept=named(fact.object_concept),
    )


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


class EarlierTalk:
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
        """The name of the relative in a label ("son of Ada"), where the owner gave the name."""
        noun, _, owner = label.partition(" of ")
        name_given = _NAME_GIVEN.format(noun=re.escape(noun))
        for speaker, text, _ in reversed(self._said if owner else ()):
            if speaker == owner and (found := re.search(name_given, text)):
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
_NAME_GIVEN: Final = (
    r"(?i:\bmy {noun})(?:'s name is| is called| is named| is|,)? (?P<behind>[A-Z]\w+)"
    r"|\b(?P<before>[A-Z]\w+) is (?i:my {noun})\b"
)


_RELATIVE: Final = "|".join(map(re.escape, sorted(EVERY_RELATIVE, key=len, reverse=True)))
_MY_RELATIVE: Final = re.compile(rf"\bmy (?:\w+ )??({_RELATIVE})\b", re.IGNORECASE)
_REFERS_BACK: Final = re.compile(rf"\b(?:{'|'.join(THIRD_PERSONS)})\b", re.IGNORECASE)


def refers_back(text: str) -> bool:
    """Whether a text may be about somebody whom an earlier text names."""
    return _REFERS_BACK.search(text) is not None or _MY_RELATIVE.search(text) is not None
