"""The triplets that a text states, on the concepts that its words stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from recallm.extraction.concepts import ConceptPlace
from recallm.extraction.propositions import Stated
from recallm.extraction.words import Mark
from recallm.model import ConceptMention, OpenTriplet
from recallm.syntax import triplets_and_facts

__all__ = ["stated_triplets"]


def stated_triplets(
    statements: Sequence[Stated],
    speaker: Sequence[ConceptMention],
    concept_name: Callable[[str], str],
) -> tuple[list[OpenTriplet], list[OpenTriplet]]:
    """The open triplets of parsed statements, and their facts. "I" stands for the ``speaker`` (the
    concept, then the parts of its name); ``concept_name`` says which concept a label spells."""
    triplets: list[OpenTriplet] = []
    facts: list[OpenTriplet] = []
    for position, statement in enumerate(statements):
        for sentence, places in statement.sentences:
            tagged = statement.read.blocks[sentence.block].tagged
            concepts = dict(_concepts_by_token(places))
            if speaker:
                for i in range(*sentence.tokens):
                    marks = tagged.words[i].marks
                    if marks & Mark.FIRST_PERSON and not marks & Mark.FIRST_PLURAL:
                        concepts[i] = speaker[0]
            read = triplets_and_facts(
                tagged, sentence.tokens, position=position, concept_at=concepts.get
            )
            triplets += read[0]
            facts += read[1]
    return triplets, [_with_names(fact, concept_name) for fact in facts]


def _with_names(fact: OpenTriplet, concept_name: Callable[[str], str]) -> OpenTriplet:
    """A fact whose ends have their concepts' names, also where the statement mentions no such
    concept."""

    def named(concept: ConceptMention | None) -> ConceptMention | None:
        if concept is None or concept.name:
            return concept
        return replace(concept, name=concept_name(concept.label))

    return replace(
        fact,
        subject_concept=named(fact.subject_concept),
        object_concept=named(fact.object_concept),
    )


def _concepts_by_token(places: Sequence[ConceptPlace]) -> Iterator[tuple[int, ConceptMention]]:
    for place in places:
        for token in range(place.token, place.end):
            yield token, place.concept
