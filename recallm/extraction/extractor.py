"""The extractor: from a text to its statements, concepts and neighbour pairs, and from a question
to what it asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeVar

from recallm.config import RecallConfig
from recallm.errors import InvalidInputError
from recallm.extraction.concepts import (
    ConceptPlace,
    concept_places,
    label_words,
    neighbour_pairs,
    trimmed,
)
from recallm.extraction.names import entities, entities_within, with_missed_names
from recallm.extraction.pipeline import Pipeline, TaggedText, load_pipeline
from recallm.extraction.questions import asked_traits, date_terms, temporal_reading, time_terms
from recallm.extraction.sentences import Span, blocks, cleaned, sentences
from recallm.extraction.stems import is_all_capitals
from recallm.extraction.terms import terms
from recallm.extraction.traits import traits
from recallm.extraction.words import LONGEST_WORD, Word
from recallm.model import (
    MAX_POSITION,
    ConceptKind,
    ConceptMention,
    ExtractedStatement,
    Extraction,
    Question,
    Trait,
    content_terms,
    exact_token,
)

__all__ = ["Extractor"]

_BATCH_CHARACTERS = 200_000
"""Passages are read together up to this length."""

_END_CHARACTERS = 5_000
_END_WORDS = 32
"""How much is read of the beginning and of the end of a long text that is asked as a question."""

_T = TypeVar("_T")


class _Sentence(NamedTuple):
    """A sentence before it gets its position: its span in the text and what was found in it."""

    start: int
    end: int
    words: Sequence[Word]
    terms: list[str]
    places: list[ConceptPlace]
    traits: Trait


class Extractor:
    """Reads texts and questions with one spaCy pipeline and one configuration.

    The pipeline is loaded at first use, once for all extractors that use it. Safe for several
    threads, which take turns. Every method raises ``PipelineError`` if the pipeline cannot be
    loaded.
    """

    def __init__(self, config: RecallConfig) -> None:
        self._config = config
        # The same labels are named again and again, as ends of relations and in checks.
        self._concept_names = lru_cache(maxsize=4096)(lambda label: self._named(label)[0].name)

    def load(self) -> None:
        """Load the pipeline now instead of at first use."""
        self._pipeline  # noqa: B018 - the property loads it

    def extract(self, text: str, *, speaker: str | None = None) -> Extraction:
        """The statements, concepts and neighbour pairs of a passage (paper, Knowledge Update).

        Raises:
            InvalidInputError: the text has more statements than a passage can hold.
        """
        return self._extraction(self._sentences([text])[0], speaker)

    def extract_many(
        self, items: Iterable[tuple[str, str | None]], *, batch_size: int = 256
    ) -> Iterator[Extraction]:
        """``extract`` for each (text, speaker), in order, consuming ``items`` batch by batch.

        Raises:
            InvalidInputError: as for ``extract``; ``index`` is the place in ``items``.
        """
        index = 0
        for batch in _batches(items, batch_size):
            read = self._sentences([text for text, _ in batch])
            for sentences_of_text, (_, speaker) in zip(read, batch, strict=True):
                yield self._extraction(sentences_of_text, speaker, index)
                index += 1

    def question(self, text: str) -> Question:
        """The essential concepts, terms, answer traits and temporal intent of a question (paper,
        Questioning the System)."""
        ends = _ends_of_text(text)
        read = list(chain.from_iterable(self._sentences(ends, asked=True)))
        concepts: dict[str, ConceptMention] = {}
        found_terms: dict[str, None] = {}
        asks = tenses = Trait(0)
        words: list[Word] = []
        for sentence in read:
            _add_mentions(concepts, sentence.places)
            found_terms.update(dict.fromkeys(sentence.terms))
            plain_words = [word for word in sentence.words if word.is_word]
            asks = asked_traits(plain_words) or asks
            tenses |= sentence.traits
            words.extend(plain_words)
        stems = content_terms(tuple(found_terms))
        tokens: dict[str, None] = {}
        if len(words) == 1:
            tokens[exact_token(words[0].stem)] = None
        if not stems and not concepts:
            tokens |= found_terms
            tokens |= {word.stem: None for word in words if exact_token(word.stem) in tokens}
        asked = " ".join(ends)
        reading = temporal_reading(asked, tenses)
        terms_asked = _ends(stems)
        return Question(
            text=text,
            terms=terms_asked,
            concepts=_ends(tuple(concepts.values())),
            asks=asks,
            time=reading,
            tokens=_ends(tuple(tokens)),
            time_terms=(time_terms(reading) | date_terms(asked)).intersection(terms_asked),
        )

    def concept_name(self, label: str) -> str:
        """The name of the concept that a label spells: "New York" → "new york".

        A label without a letter or digit, or with only words of more than 100 characters, is its
        own name, in lower case and cut to 100 characters.
        """
        return self._concept_names(label)

    def describe(self, text: str) -> tuple[tuple[str, ...], Trait]:
        """The terms and the traits of a text as a whole, such as a summary."""
        read = self._sentences([text])[0]
        found = Trait(0)
        for sentence in read:
            found |= sentence.traits
        return tuple(term for sentence in read for term in sentence.terms), found

    @property
    def _pipeline(self) -> Pipeline:
        return load_pipeline(self._config.spacy_model)

    def _sentences(self, texts: Sequence[str], *, asked: bool = False) -> list[list[_Sentence]]:
        """The sentences of each text; ``asked``: the texts are questions to the memory."""
        spans = [blocks(text) for text in texts]
        pieces = [
            cleaned(text[start:end])
            for text, own in zip(texts, spans, strict=True)
            for start, end in own
        ]
        tagged = (with_missed_names(read, asked=asked) for read in self._pipeline.tag(pieces))
        result: list[list[_Sentence]] = []
        for text, own in zip(texts, spans, strict=True):
            all_capitals = is_all_capitals(text)
            result.append(
                [
                    sentence
                    for span in own
                    for sentence in self._sentences_of_block(text, span, next(tagged), all_capitals)
                ]
            )
        return result

    def _sentences_of_block(
        self, text: str, block: Span, tagged: TaggedText, all_capitals: bool
    ) -> Iterator[_Sentence]:
        nouns_only = self._config.nouns_only
        trim = self._config.trim_concepts
        offset, end_of_block = block
        spans = sentences(tagged)
        for span, inside in zip(spans, entities_within(entities(tagged), spans), strict=True):
            first, last = span
            # A token may begin with a character that Python takes for white space.
            start = offset + (tagged.starts[first] if first else 0)
            end = offset + tagged.starts[last] if last < len(tagged.words) else end_of_block
            piece = text[start:end]
            stripped = piece.strip()
            if not stripped:
                continue
            start += len(piece) - len(piece.lstrip())
            places = list(
                concept_places(
                    tagged, span, inside, all_capitals=all_capitals, nouns_only=nouns_only
                )
            )
            yield _Sentence(
                start=start,
                end=start + len(stripped),
                words=tagged.words[first:last],
                terms=terms(tagged.words, tagged.tags, span, inside, all_capitals=all_capitals),
                places=places if trim is None else trimmed(places, trim),
                traits=traits(tagged, span, inside, stripped),
            )

    def _extraction(
        self, read: Sequence[_Sentence], speaker: str | None, index: int | None = None
    ) -> Extraction:
        if len(read) > MAX_POSITION + 1:
            raise InvalidInputError(
                f"the text has {len(read)} statements, a passage holds at most "
                f"{MAX_POSITION + 1}; split it",
                argument="text",
                index=index,
            )
        speaker_mentions = self._named(speaker) if speaker and speaker.strip() else ()
        name = speaker_mentions[0].name if speaker_mentions else None
        return Extraction(
            statements=tuple(
                _statement(position, sentence, speaker_mentions)
                for position, sentence in enumerate(read)
            ),
            neighbours=neighbour_pairs(
                [
                    (place.concept.name, position)
                    for position, sentence in enumerate(read)
                    for place in sentence.places
                ],
                self._config.distance,
                speaker=name,
            ),
            speaker_concept=name,
        )

    def _named(self, label: str) -> tuple[ConceptMention, ...]:
        """The concept that a label names, and its parts if it has several words."""
        all_capitals = is_all_capitals(label)
        label = " ".join(label.split())
        words = label_words(self._pipeline.words(label))
        names = [word.stem if all_capitals else word.acronym for word in words]
        whole = " ".join(names) or label.lower()[:LONGEST_WORD]
        parts: tuple[ConceptMention, ...] = ()
        if len(names) > 1 and not self._config.nouns_only:
            parts = tuple(
                ConceptMention(name=name, label=word.text, kind="name")
                for name, word in zip(names, words, strict=True)
            )
        kind: ConceptKind = "entity" if len(names) > 1 else "name"
        return (ConceptMention(name=whole, label=label, kind=kind), *parts)


def _statement(
    position: int, sentence: _Sentence, speaker_mentions: Sequence[ConceptMention]
) -> ExtractedStatement:
    concepts: dict[str, ConceptMention] = {}
    for mention in speaker_mentions:
        concepts.setdefault(mention.name, mention)
    _add_mentions(concepts, sentence.places)
    return ExtractedStatement(
        position=position,
        start=sentence.start,
        end=sentence.end,
        terms=tuple(sentence.terms),
        concepts=tuple(concepts.values()),
        traits=sentence.traits,
    )


def _add_mentions(concepts: dict[str, ConceptMention], places: Iterable[ConceptPlace]) -> None:
    """Add concepts and their parts in order; the first mention of a name stays."""
    for place in places:
        concepts.setdefault(place.concept.name, place.concept)
        for part in place.parts:
            concepts.setdefault(part.name, part)


def _ends_of_text(text: str) -> list[str]:
    """A text, or the beginning and the end of a long one."""
    if len(text) <= 2 * _END_CHARACTERS:
        return [text]
    return [text[:_END_CHARACTERS], text[-_END_CHARACTERS:]]


def _ends(values: tuple[_T, ...]) -> tuple[_T, ...]:
    """All values, or the first and the last 32 of many."""
    if len(values) <= 2 * _END_WORDS:
        return values
    return values[:_END_WORDS] + values[-_END_WORDS:]


def _batches(
    items: Iterable[tuple[str, str | None]], most: int
) -> Iterator[list[tuple[str, str | None]]]:
    """Batches of at most ``most`` items; fewer where texts are long."""
    batch: list[tuple[str, str | None]] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item[0])
        if len(batch) >= most or size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
