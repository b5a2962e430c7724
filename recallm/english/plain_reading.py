"""From a text to its sentences, each with its words, terms, concepts and traits: what a text says
by itself, whoever says it and whatever stands before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from recallm.config import RecallConfig
from recallm.english.concepts import ConceptPlace, concept_places, terms
from recallm.english.names import Entity, entities, entities_within, with_missed_names
from recallm.english.pipeline import Pipeline, TaggedText, load_pipeline
from recallm.english.sentences import Span, blocks, cleaned, sentences
from recallm.english.traits import traits
from recallm.english.words import Word, is_all_capitals
from recallm.ground.forking import new_lock
from recallm.model import Trait

_OVERHEAD = 200
"""Characters: the size of a block beside its text."""

_REMEMBERED_CHARACTERS = 500_000
"""Characters of the blocks that are remembered: about 25 MB."""


class ReadBlock(NamedTuple):
    """A block of a text: its first character in the text, its tokens, the token spans of its
    sentences, and its entities."""

    start: int
    tagged: TaggedText
    spans: tuple[Span, ...]
    entities: tuple[Entity, ...]


class ReadSentence(NamedTuple):
    """A sentence: its span in the text, and what stands in it.

    ``block`` is the index of its block, ``tokens`` its span of tokens there.
    """

    start: int
    end: int
    block: int
    tokens: Span
    words: Sequence[Word]
    terms: tuple[str, ...]
    places: list[ConceptPlace]
    traits: Trait


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text with its blocks and its sentences, in order."""

    text: str
    blocks: tuple[ReadBlock, ...]
    sentences: tuple[ReadSentence, ...]


class TextReader:
    """Reads texts with one spaCy pipeline, which is loaded at first use. Safe for several threads.

    Every method raises ``PipelineError`` if the pipeline cannot be loaded.
    """

    def __init__(self, config: RecallConfig) -> None:
        self._config = config
        self._blocks: dict[str, TaggedText] = {}
        self._free = _REMEMBERED_CHARACTERS
        self._lock = new_lock()

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline of the settings."""
        return load_pipeline(self._config.spacy_model)

    def read(
        self, texts: Sequence[str], *, parsed: bool = False, asked: bool = False
    ) -> list[ReadText]:
        """Read texts, several at once; ``parsed``: their blocks have trees; ``asked``: they are
        parts of a question. The pipeline does not run again on blocks that were read lately, such
        as those of the message before."""
        spans = [blocks(text) for text in texts]
        pieces = [
            cleaned(text[start:end])
            for text, own in zip(texts, spans, strict=True)
            for start, end in own
        ]
        tagged: Iterator[TaggedText]
        if asked:
            tagged = (with_missed_names(read, asked=True) for read in self.pipeline.tag(pieces))
        else:
            tagged = self._tagged(pieces, parsed=parsed)
        return [
            self._read_text(text, own, [*islice(tagged, len(own))])
            for text, own in zip(texts, spans, strict=True)
        ]

    def _tagged(self, pieces: Sequence[str], *, parsed: bool) -> Iterator[TaggedText]:
        """Blocks as the pipeline reads them, each once."""
        known = {
            piece: found
            for piece in pieces
            if (found := self._blocks.get(piece)) is not None
            and not (parsed and found.tree is None)
        }
        fresh = [piece for piece in dict.fromkeys(pieces) if piece not in known]
        tagged = self.pipeline.tag(fresh, parsed=parsed)
        read = {
            piece: with_missed_names(block, asked=False)
            for piece, block in zip(fresh, tagged, strict=True)
        }
        self._remember(read)
        return map((known | read).__getitem__, pieces)

    def _remember(self, read: Mapping[str, TaggedText]) -> None:
        """Keep blocks for the texts that follow, in the place of all others where room is short."""
        size = sum(len(piece) + _OVERHEAD for piece in read)
        with self._lock:
            if size > self._free:
                self._blocks, self._free = {}, _REMEMBERED_CHARACTERS
            if size <= self._free:
                self._blocks |= read
                self._free -= size

    def _read_text(
        self, text: str, spans: Sequence[Span], tagged: Sequence[TaggedText]
    ) -> ReadText:
        all_capitals = is_all_capitals(text)
        read_blocks: list[ReadBlock] = []
        found: list[ReadSentence] = []
        for i, ((start, end), block) in enumerate(zip(spans, tagged, strict=True)):
            read = ReadBlock(start, block, tuple(sentences(block)), tuple(entities(block)))
            read_blocks.append(read)
            found.extend(self._sentences(text, i, read, end, all_capitals))
        return ReadText(text, tuple(read_blocks), tuple(found))

    def _sentences(
        self, text: str, index: int, block: ReadBlock, end_of_block: int, all_capitals: bool
    ) -> Iterator[ReadSentence]:
        tagged = block.tagged
        within = entities_within(block.entities, block.spans)
        for span, inside in zip(block.spans, within, strict=True):
            first, last = span
            # A token may begin with a character that Python takes for white space.
            start = block.start + (tagged.starts[first] if first else 0)
            end = block.start + tagged.starts[last] if last < len(tagged.words) else end_of_block
            piece = text[start:end]
            stripped = piece.strip()
            if not stripped:
                continue
            start += len(piece) - len(piece.lstrip())
            places = list(
                concept_places(
                    tagged,
                    span,
                    inside,
                    all_capitals=all_capitals,
                    concepts=self._config.concepts,
                )
            )
            yield ReadSentence(
                start=start,
                end=start + len(stripped),
                block=index,
                tokens=span,
                words=tagged.words[first:last],
                terms=terms(tagged.words, tagged.tags, span, inside, all_capitals=all_capitals),
                places=places,
                traits=traits(tagged, span, inside, stripped),
            )
