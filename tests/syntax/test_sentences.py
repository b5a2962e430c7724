"""The triplets of short sentences, as `sentences.toml` has them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from recallm.extraction.pipeline import load_pipeline
from recallm.model import OpenTriplet
from recallm.syntax import triplets_and_facts
from tests.tables import each_row

SENTENCES: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8")
)["triplets"]
LEAST_FOUND = 0.9
"""The share of triplets that the shipped parser lets us find."""


def spelled(triplet: OpenTriplet) -> str:
    parts = [triplet.subject, triplet.predicate, triplet.object, triplet.relation]
    parts += ["not"] * triplet.negated + [triplet.modality] * bool(triplet.modality)
    return " | ".join(parts)


def read() -> Iterator[tuple[str, list[OpenTriplet]]]:
    for sentence, tagged in zip(
        SENTENCES, load_pipeline(None).tag([*SENTENCES], parsed=True), strict=True
    ):
        yield sentence, triplets_and_facts(tagged, (0, len(tagged.words)))[0]


def test_most_triplets_of_short_sentences_are_found() -> None:
    """What is missing is missed by the parser; the rules are held to the others."""
    missing = [
        wanted
        for sentence, triplets in read()
        for wanted in SENTENCES[sentence]
        if wanted not in map(spelled, triplets)
    ]
    count = sum(map(len, SENTENCES.values()))
    assert len(missing) <= (1 - LEAST_FOUND) * count, missing


@each_row([0, 1, 2])
def test_what_is_read_stands_in_the_sentence(place: int) -> None:
    """Subjects and objects word by word; predicates too, but those of noun phrases."""
    for sentence, triplets in read():
        for triplet in triplets:
            text = (triplet.subject, triplet.predicate, triplet.object)[place]
            implied = triplet.predicate.split(" ")[0] in ("is", "has")
            assert implied or set(text.split()) <= set(
                sentence.rstrip(".?").replace(",", "").split()
            )


def test_what_is_denied_or_possible_is_never_a_fact() -> None:
    """Wherever the file has a negation or a modality, no triplet of that relation lacks it."""
    for sentence, triplets in read():
        for wanted in SENTENCES[sentence]:
            _, _, _, relation, *marks = wanted.split(" | ")
            if marks:
                same = [triplet for triplet in triplets if triplet.relation == relation]
                assert all(triplet.negated or triplet.modality for triplet in same), sentence
