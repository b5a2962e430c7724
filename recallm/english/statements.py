"""What the statements of a passage say: its sentences, or propositions; and the triplets in them.

Propositions are what a language model makes of a passage. A proposition has a span in the passage,
and a text of its own where it differs from the span. Its terms, concepts and traits are those of
its own text.

A pronoun or noun phrase of a statement stands for a concept: "you" for the addressee
(``recallm.english.speaking``); "I" needs no reference, since every statement mentions its speaker.
``recallm.english.coreference`` resolves the third persons."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from operator import attrgetter, itemgetter
from typing import NamedTuple

from spacy.symbols import AUX, VERB

from recallm.english.changes import Change, Said
from recallm.english.concepts import ConceptPlace
from recallm.english.plain_reading import ReadSentence, ReadText, TextReader
from recallm.english.speaking import (
    THIRD_PERSONS,
    Told,
    addressed_words,
    companions_in,
    with_companions,
)
from recallm.english.syntax import triplets_and_facts
from recallm.english.words import Mark, Word
from recallm.model import ConceptMention, OpenTriplet, Reference, content_terms

_VERBAL = frozenset((VERB, AUX))
_LONGEST_ANSWER = 8
"""Tokens."""
_OWNED = frozenset(("mine", "ours"))
"""Words that stand for what the speaker has."""
_TOLD_CHARACTERS = 2000
"""How much of a text before a sentence may tell whom the sentence is about."""


class FoundReference(NamedTuple):
    """A pronoun or noun phrase and what it stands for.

    ``start`` and ``end`` are its span in the text. ``concepts`` are the concept and the parts of
    its name. ``antecedent`` is the id of the passage that spells the concept, None for this one.
    """

    start: int
    end: int
    concepts: tuple[ConceptMention, ...]
    antecedent: str | None

    def mentions(self, offset: int = 0) -> list[ConceptMention]:
        """The mentions of its concepts in a statement that begins at ``offset`` of the text."""
        reference = Reference(self.start - offset, self.end - offset, self.antecedent)
        return [replace(concept, reference=reference) for concept in self.concepts]


def addressed(read: ReadText) -> list[tuple[int, int]]:
    """The spans of the words of a text that stand for its addressee."""
    return [
        (start, start + len(block.tagged.words[i].text))
        for block in read.blocks
        for i in addressed_words(block.tagged.words, block.tagged.text)
        for start in (block.start + block.tagged.starts[i],)
    ]


def places_with_references(
    read: ReadText, found: Iterable[FoundReference], *, origin: int | None = None
) -> Iterator[Sequence[ConceptPlace]]:
    """For each sentence its concepts in textual order, those that ``found`` refers to among them.

    Spans of references count from ``origin``, which is the first character of the sentence where
    it is None.
    """
    left = deque(sorted(found, key=attrgetter("start")))
    for sentence in read.sentences:
        while left and left[0].start < sentence.start:
            left.popleft()
        if not left or left[0].start >= sentence.end:
            yield sentence.places
            continue
        block = read.blocks[sentence.block]
        starts = block.tagged.starts
        placed = [(block.start + starts[place.token], place) for place in sentence.places]
        while left and left[0].start < sentence.end:
            reference = left.popleft()
            before = sentence.start if origin is None else origin
            concept, *parts = reference.mentions(before)
            first = bisect_left(starts, reference.start - block.start)
            last = bisect_left(starts, reference.end - block.start)
            placed.append((reference.start, ConceptPlace(concept, tuple(parts), True, first, last)))
        yield [place for _, place in sorted(placed, key=itemgetter(0))]


_CLEAR_SHARE = 0.5
"""A proposition stems from a sentence if at least this share of its terms stands there."""


class Stated(NamedTuple):
    """What one statement says: its span in the passage, its own text (None: the span's), that text
    or the passage as it was read, and its sentences there, each with its concepts in textual
    order."""

    start: int
    end: int
    text: str | None
    read: ReadText
    sentences: Sequence[tuple[ReadSentence, Sequence[ConceptPlace]]]

    @property
    def places(self) -> Iterator[ConceptPlace]:
        """The concepts in textual order."""
        return chain.from_iterable(places for _, places in self.sentences)


def sentences_of(read: ReadText, references: Iterable[FoundReference]) -> list[Stated]:
    """The sentences of a passage, each as a statement."""
    in_order = places_with_references(read, references)
    return [
        Stated(sentence.start, sentence.end, None, read, [(sentence, places)])
        for sentence, places in zip(read.sentences, in_order, strict=True)
    ]


def propositions(
    reader: TextReader,
    passages: Sequence[tuple[ReadText, Sequence[FoundReference]]],
    answers: Iterable[Sequence[str]],
    *,
    parsed: bool,
) -> Iterator[list[Stated]]:
    """The propositions of each passage as a language model listed them; with ``parsed`` they are
    parsed.

    The span of a proposition is the sentence that holds most of its terms, the whole passage where
    none holds half of them. A proposition without a term of the passage is none. A sentence that is
    no proposition's span is a statement itself, so that nothing is lost.
    """
    listed = [list(dict.fromkeys(lines)) for lines in answers]
    reads = iter(reader.read([line for lines in listed for line in lines], parsed=parsed))
    for (read, references), lines in zip(passages, listed, strict=True):
        yield _attributed(read, references, lines, list(islice(reads, len(lines))))


def _attributed(
    read: ReadText,
    references: Sequence[FoundReference],
    lines: Sequence[str],
    reads: Sequence[ReadText],
) -> list[Stated]:
    plain = sentences_of(read, references)
    inside = _by_sentence(read, references)
    terms = [frozenset(content_terms(tuple(sentence.terms))) for sentence in read.sentences]
    every_term = frozenset(chain.from_iterable(terms))
    found: dict[int, list[Stated]] = {}
    for line, own in zip(lines, reads, strict=True):
        asked = frozenset(
            term for sentence in own.sentences for term in content_terms(tuple(sentence.terms))
        )
        if not asked & every_term:
            continue
        # Of equally good sentences the last: names in place of pronouns come from those before.
        best = max(range(len(terms)), key=lambda i: (len(asked & terms[i]), i))
        if len(asked & terms[best]) < _CLEAR_SHARE * len(asked):
            span = plain[0].start, plain[-1].end
            found.setdefault(-1, []).append(_proposition(span, line, own, read, references))
            continue
        span = plain[best].start, plain[best].end
        found.setdefault(best, []).append(
            plain[best]
            if line == read.text[slice(*span)]
            else _proposition(span, line, own, read, inside[best])
        )
    for i, sentence in enumerate(plain):
        found.setdefault(i, [sentence])
    return [each for i in sorted(found, key=lambda i: (i < 0, i)) for each in found[i]]


def _by_sentence(
    read: ReadText, references: Iterable[FoundReference]
) -> list[list[FoundReference]]:
    """For each sentence the references that begin in it."""
    starts = [sentence.start for sentence in read.sentences]
    found: list[list[FoundReference]] = [[] for _ in starts]
    for reference in references:
        i = bisect_right(starts, reference.start) - 1
        if i >= 0 and reference.start < read.sentences[i].end:
            found[i].append(reference)
    return found


def _proposition(
    span: tuple[int, int],
    line: str,
    own: ReadText,
    passage: ReadText,
    references: Iterable[FoundReference],
) -> Stated:
    """A line as the statement of a span, with those of the passage's references that it spells."""
    in_order = places_with_references(own, _spelled(references, passage, line), origin=0)
    return Stated(*span, line, own, list(zip(own.sentences, in_order, strict=True)))


def _spelled(
    references: Iterable[FoundReference], read: ReadText, line: str
) -> Iterator[FoundReference]:
    """The references whose word stands in a line as well, with its span there."""
    for reference in references:
        word = read.text[reference.start : reference.end]
        if match := re.search(rf"\b{re.escape(word)}\b", line, re.IGNORECASE):
            yield reference._replace(start=match.start(), end=match.end())


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


def stated_triplets(
    statements: Sequence[Stated],
    speaker: Sequence[ConceptMention],
    concept_name: Callable[[str], str],
    changes: Mapping[int, Changed],
    before: Sequence[Said] = (),
    *,
    is_assistant: bool,
    only_facts: bool = False,
) -> tuple[tuple[OpenTriplet, ...], tuple[OpenTriplet, ...]]:
    """The open triplets of parsed statements, and their facts. "I" stands for the ``speaker`` (the
    concept, then the parts of its name); ``concept_name`` says which concept a label spells;
    ``changes`` are what statements change, by their positions; ``before`` is what was said before
    the text. ``is_assistant``: what the speaker says of the user is no fact. ``only_facts``: there
    are no open triplets."""
    triplets: list[OpenTriplet] = []
    facts: list[OpenTriplet] = []
    companions: Sequence[ConceptMention] = ()

    def read(sentences: Iterable[Stated]) -> list[OpenTriplet]:
        nonlocal companions
        found: list[OpenTriplet] = []
        for each in sentences:
            for sentence, places in each.sentences:
                tagged = each.read.blocks[sentence.block].tagged
                words = tagged.words[slice(*sentence.tokens)]
                # What an assistant says of the user is advice, a guess or a summary.
                is_guess = is_assistant and any(word.marks & Mark.SECOND_PERSON for word in words)
                if is_guess and only_facts:
                    continue
                told = _told(each.read.text, sentence.start, speaker, before)
                said = each.read.text[sentence.start : sentence.end]
                concepts = _concepts(words, sentence.tokens[0], places, speaker, told, said)
                own, of_sentence = triplets_and_facts(
                    tagged,
                    sentence.tokens,
                    position=position,
                    concept_at=concepts.get,
                    only_facts=only_facts,
                )
                if each is stated:
                    triplets.extend(own)
                if is_guess:
                    continue
                named = [_with_names(fact, concept_name, told) for fact in of_sentence]
                if speaker:
                    companions = companions_in(named, speaker[0]) or companions
                    named = [*with_companions(named, companions)]
                found += named
        return found

    for position, stated in enumerate(statements):
        own = read([stated])
        if (changed := changes.get(position)) is not None:
            facts += changed.facts(own, read)
        else:
            facts += own
    return tuple(triplets), tuple(facts)


def _told(text: str, start: int, speaker: Sequence[ConceptMention], before: Sequence[Said]) -> Told:
    """What was told before the sentence of a text that begins at ``start``."""
    own = speaker[0].label if speaker else None
    behind = text[max(0, start - _TOLD_CHARACTERS) : start]
    return Told([*before, Said(own, behind)])


def _concepts(
    words: Sequence[Word],
    first: int,
    places: Iterable[ConceptPlace],
    speaker: Sequence[ConceptMention],
    told: Told,
    sentence: str,
) -> dict[int, ConceptMention]:
    """What the words of a sentence stand for, by their tokens, of which ``first`` is the first."""
    concepts = {token: place.concept for place in places for token in range(place.token, place.end)}
    for i, word in enumerate(words, start=first):
        if speaker and word.marks & Mark.FIRST_PERSON and word.lowered not in _OWNED:
            concepts[i] = speaker[0]
        elif i not in concepts and word.lowered in THIRD_PERSONS:
            label = told.meant_by(word.lowered, sentence)
            if label is not None:
                concepts[i] = ConceptMention(name="", label=label, kind="entity")
    return concepts


def _with_names(fact: OpenTriplet, concept_name: Callable[[str], str], told: Told) -> OpenTriplet:
    """A fact whose ends have their concepts' names, also where the statement mentions no such
    concept; a relative has the name that was told."""

    def named(concept: ConceptMention | None) -> ConceptMention | None:
        if concept is None or concept.name:
            return concept
        label = told.name_of(concept.label) or concept.label
        return replace(concept, label=label, name=concept_name(label))

    return replace(
        fact,
        subject_concept=named(fact.subject_concept),
        object_concept=named(fact.object_concept),
    )
