"""Texts as coreference reads them: through the shipped pipeline, as in a knowledge update."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recallm.extraction.concepts import concept_places
from recallm.extraction.coreference import ReadBlock, ReadSentence, TextRead
from recallm.extraction.names import entities, entities_within, with_missed_names
from recallm.extraction.pipeline import TaggedText, load_pipeline
from recallm.extraction.sentences import blocks, cleaned, sentences

__all__ = ["read_texts"]


def read_texts(texts: Sequence[str]) -> list[TextRead]:
    """Each text as one passage without a speaker."""
    spans = [blocks(text) for text in texts]
    pieces = [
        cleaned(text[start:end])
        for text, own in zip(texts, spans, strict=True)
        for start, end in own
    ]
    tagged = iter(load_pipeline(None).tag(pieces))
    return [TextRead(blocks=list(_blocks(own, tagged))) for own in spans]


def _blocks(spans: Sequence[tuple[int, int]], tagged: Iterator[TaggedText]) -> Iterator[ReadBlock]:
    for start, _ in spans:
        block = with_missed_names(next(tagged), asked=False)
        found = entities(block)
        ranges = sentences(block)
        read = [
            ReadSentence(
                span,
                list(concept_places(block, span, inside, all_capitals=False, nouns_only=False)),
            )
            for span, inside in zip(ranges, entities_within(found, ranges), strict=True)
        ]
        yield ReadBlock(block, start, read, found)
