"""References: which concepts the pronouns and noun phrases of a text stand for.

"You" is the addressee, "we" the speaker and the addressee; "I" needs no reference, since every
statement mentions its speaker. ``recallm.extraction.coreference`` resolves the third persons.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import NamedTuple

from recallm.extraction.concepts import ConceptPlace
from recallm.extraction.reading import ReadText
from recallm.extraction.words import Mark
from recallm.model import ConceptMention, Reference

__all__ = ["FoundReference", "addressed", "places_with_references"]

_ADDRESSEE = Mark.SECOND_PERSON | Mark.FIRST_PLURAL


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
    """The spans of the words of a text that stand for its addressee: "you", "our"."""
    return [
        (start, start + len(word.text))
        for block in read.blocks
        for i, word in enumerate(block.tagged.words)
        if word.marks & _ADDRESSEE
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
            one = left.popleft()
            before = sentence.start if origin is None else origin
            concept, *parts = one.mentions(before)
            first = bisect_left(starts, one.start - block.start)
            last = bisect_left(starts, one.end - block.start)
            placed.append((one.start, ConceptPlace(concept, tuple(parts), True, first, last)))
        yield [place for _, place in sorted(placed, key=itemgetter(0))]
