"""The triplets that a text states, on the concepts that its words stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recallm.extraction.concepts import ConceptPlace
from recallm.extraction.propositions import Stated
from recallm.extraction.words import Mark
from recallm.model import ConceptMention, OpenTriplet
from recallm.syntax import open_triplets

__all__ = ["stated_triplets"]


def stated_triplets(
    statements: Sequence[Stated], speaker: Sequence[ConceptMention]
) -> Iterator[OpenTriplet]:
    """The triplets of parsed statements. "I" stands for the ``speaker`` (the concept, then the
    parts of its name)."""
    for position, statement in enumerate(statements):
        for sentence, places in statement.sentences:
            tagged = statement.read.blocks[sentence.block].tagged
            concepts = dict(_concepts_by_token(places))
            if speaker:
                for i in range(*sentence.tokens):
                    marks = tagged.words[i].marks
                    if marks & Mark.FIRST_PERSON and not marks & Mark.FIRST_PLURAL:
                        concepts[i] = speaker[0]
            yield from open_triplets(
                tagged, sentence.tokens, position=position, concept_at=concepts.get
            )


def _concepts_by_token(places: Sequence[ConceptPlace]) -> Iterator[tuple[int, ConceptMention]]:
    for place in places:
        for token in range(place.token, place.end):
            yield token, place.concept
