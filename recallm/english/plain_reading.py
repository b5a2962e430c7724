"""From a text to its sentences, each with its words, terms, concepts and traits: what a text says
by itself, whoever says it and whatever stands before it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from recallm.config import RecallConfig
from recallm.english.concepts import ConceptPlace, concept_places, terms, trimmed
from recallm.english.names import Entity, entities, entities_within, with_missed_names
from recallm.english.pipeline import Pipeline, TaggedText, load_pipeline
from recallm.english.sentences import Span, blocks, cleaned, sentences
from recallm.english.traits import traits
from recallm.english.words import Word, is_all_capitals
from recallm.ground.forking import new_lock
from recallm.model import Trait

_OVERHEAD = 200
"""Characters: the size of an entry beside its text."""

_T = TypeVar("_T")


class TextCache(Generic[_T]):
    """What was read out of texts, by text. Safe for several threads.

    The size of an entry is the length of its text and a constant overhead. The entries that were
    not used for longest are dropped when all together exceed ``max_characters``.
    """

    def __init__(self, max_characters: int) -> None:
        self._free = self._max_characters = max_characters
        self._entries: OrderedDict[str, _T] = OrderedDict()
        self._lock = new_lock()

    def add(self, text: str, value: _T) -> None:
        """Store what was read; a text that is larger than the cache is not stored."""
        if _size(text) > self._max_characters:
            return
        with self._lock:
            if text not in self._entries:
                self._free -= _size(text)
            self._entries[text] = value
            self._entries.move_to_end(text)
            while self._free < 0:
                oldest, _ = self._entries.popitem(last=False)
                self._free += _size(oldest)

    def get(self, text: str) -> _T | None:
        """What was read out of a text, None if it is not stored."""
        with self._lock:
            found = self._entries.get(text)
            if found is not None:
                self._entries.move_to_end(text)
            return found


def _size(text: str) -> int:
    return len(text) + _OVERHEAD


_CACHED_CHARACTERS = 500_000
"""Characters of the blocks that were read last: about 25 MB."""


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
        self._blocks: TextCache[TaggedText] = TextCache(_CACHED_CHARACTERS)

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
        for piece, read in zip(fresh, self.pipeline.tag(fresh, parsed=parsed), strict=True):
            known[piece] = with_missed_names(read, asked=False)
            self._blocks.add(piece, known[piece])
        return map(known.__getitem__, pieces)

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
        trim = self._config.trim_concepts
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
                places=places if trim is None else trimmed(places, trim),
                traits=traits(tagged, span, inside, stripped),
            )
