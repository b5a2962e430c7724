"""The triplets that a text states, on the concepts that its words stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recallm.extraction.concepts import ConceptPlace
from recallm.extraction.propositions import Stated
from recallm.extraction.reading import ReadText
from recallm.extraction.references import FoundReference, places_with_references
from recallm.extraction.words import Mark
from recallm.model import ConceptMention, OpenTriplet
from recallm.syntax import open_triplets

__all__ = ["stated_triplets"]


def stated_triplets(
    read: ReadText,
    references: Sequence[FoundReference],
    statements: Sequence[Stated],
    speaker: Sequence[ConceptMention],
) -> Iterator[OpenTriplet]:
    """The triplets of a parsed text, each with the position of the first of ``statements`` that
    covers its sentence. "I" stands for the ``speaker`` (the concept, then the parts of its
    name)."""
    in_order = places_with_references(read, references)
    position = 0
    for sentence, places in zip(read.sentences, in_order, strict=True):
        while position + 1 < len(statements) and statements[position].end <= sentence.start:
            position += 1
        block = read.blocks[sentence.block]
        concepts = dict(_concepts_by_token(places))
        if speaker:
            for i in range(*sentence.tokens):
                marks = block.tagged.words[i].marks
                if marks & Mark.FIRST_PERSON and not marks & Mark.FIRST_PLURAL:
                    concepts[i] = speaker[0]
        yield from open_triplets(
            block.tagged, sentence.tokens, position=position, concept_at=concepts.get
        )


def _concepts_by_token(places: Sequence[ConceptPlace]) -> Iterator[tuple[int, ConceptMention]]:
    for place in places:
        for token in range(place.token, place.end):
            yield token, place.concept
