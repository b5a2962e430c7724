"""From a text to its sentences, each with its words, terms, concepts and traits: what a text says
by itself, whoever says it and whatever stands before it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, NamedTuple

from spacy.symbols import ADV, AUX, NOUN, NUM, PART, PROPN, VERB

from recallm.english.concepts import ConceptPlace, concept_places, terms, trimmed
from recallm.english.names import Entity, entities, entities_within, with_missed_names
from recallm.english.pipeline import Pipeline, TaggedText, load_pipeline
from recallm.english.sentences import Span, blocks, cleaned, sentences
from recallm.english.word_lists import ENGLISH, word_set
from recallm.english.words import Word, is_all_capitals, word_of
from recallm.ground.config import RecallConfig
from recallm.ground.forking import new_lock
from recallm.model import Mark, Trait

_OVERHEAD = 200
"""Characters: the size of a block beside its text."""

_REMEMBERED_CHARACTERS = 500_000
"""Characters of the blocks that are remembered: about 25 MB."""


_MANY_ROWS = 32
"""So many blocks of a text that differ in their digits alone are rows, of which one is read."""

_SHAPE = str.maketrans("123456789", "000000000")


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
            [cleaned(text[start:end]) for start, end in own]
            for text, own in zip(texts, spans, strict=True)
        ]
        alike = map(_rows_alike, pieces)
        chosen = [
            rows.get(piece, piece) for rows, own in zip(alike, pieces, strict=True) for piece in own
        ]
        tagged: Iterator[TaggedText]
        if asked:
            tagged = (with_missed_names(read, asked=True) for read in self.pipeline.tag(chosen))
        else:
            tagged = self._tagged(chosen, parsed=parsed)
        return [
            self._read_text(text, own, [*map(_as_row, islice(tagged, len(own)), read)])
            for text, own, read in zip(texts, spans, pieces, strict=True)
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


def _rows_alike(blocks_of_text: Sequence[str]) -> dict[str, str]:
    """From the rows of long tables and logs to the first of their shape: blocks of a text of which
    many differ in their digits alone."""
    if len(blocks_of_text) < _MANY_ROWS:
        return {}
    shapes: defaultdict[str, list[str]] = defaultdict(list)
    for block in blocks_of_text:
        shapes[block.translate(_SHAPE)].append(block)
    return {row: rows[0] for rows in shapes.values() if len(rows) >= _MANY_ROWS for row in rows}


def _as_row(tagged: TaggedText, text: str) -> TaggedText:
    """A row of a table, read as the first row of the same shape is."""
    if tagged.text == text:
        return tagged
    words = tuple(
        word_of(text[start : start + len(word.text)])
        for word, start in zip(tagged.words, tagged.starts, strict=True)
    )
    tree = tagged.tree
    if tree is not None:  # the lemma of what has digits is the word itself
        named = zip(words, tagged.words, tree.lemmas, strict=True)
        tree = tree._replace(lemmas=[a.lowered if a is not b else c for a, b, c in named])
    return replace(tagged, text=text, words=words, tree=tree)


# Traits: what a sentence holds that an answer may need: times, numbers, names, tenses.
# Part-of-speech tags are read, but no finer ones: what a sentence holds must not depend on whether
# a spaCy pipeline also knows Penn tags or morphology.

_MAY_BE_TIME = Mark.TIME | Mark.MAYBE_TIME | Mark.UNIT | Mark.CLOCK
_HOW = word_set(ENGLISH["traits"]["behind_how"])
_WITH_NOUN = word_set(ENGLISH["traits"]["asks_with_noun"])
_HAVE = word_set(ENGLISH["traits"]["have"])
_BE = word_set(ENGLISH["traits"]["be"])
_READ = word_set(ENGLISH["traits"]["read"])
_SINGULAR = word_set(ENGLISH["traits"]["singular_subjects"])
_REQUEST = re.compile(
    r"\W*(?:(?:please|now|so|ok|okay|and)\W+)*"
    r"(?:(?:tell|show|give)\s+(?:me|us)\s+(?:again\s+)?(?:{telling})"
    r"|remind\s+(?:me|us)\s+(?:again\s+)?(?:{asking})"
    r"|(?:list|summari[sz]e)\s+(?:{listing}))\b".format_map(
        {name: "|".join(words.split()) for name, words in ENGLISH["requests"].items()}
    ),
    re.IGNORECASE,
)
"""What asks for an answer like a question: "Tell me about my trip", "List all bands". "Remind me to
call Ann" has content."""
# Plain integers, since they are combined for every verb and every sentence.
_PAST, _PRESENT, _FUTURE = int(Trait.PAST), int(Trait.PRESENT), int(Trait.FUTURE)
_OF_ENTITIES: Final = {
    "PER": int(Trait.PERSON | Trait.NAME),
    "LOC": int(Trait.PLACE | Trait.NAME),
    "ORG": int(Trait.ORGANISATION | Trait.NAME),
}
_NAME: Final = int(Trait.NAME)
_VERBS: Final = frozenset((AUX, VERB))


def traits(tagged: TaggedText, span: Span, entities: Sequence[Entity], text: str) -> Trait:
    """The traits of a sentence: the tokens ``span`` of a block, with the entities within it and its
    text."""
    start, end = span
    words = tagged.words[start:end]
    tags = tagged.tags[start:end]
    marks = [word.marks for word in words]
    seen = 0
    for mark in marks:
        seen |= mark
    result = int(tenses(marks, tags, [word.lowered for word in words]))
    if seen & Mark.FIRST_PERSON:
        result |= Trait.FIRST_PERSON.value
    if seen & Mark.SECOND_PERSON:
        result |= Trait.SECOND_PERSON.value
    if seen & Mark.NEGATION:
        result |= Trait.NEGATION.value
    if seen & _MAY_BE_TIME and mentions_time(marks, tags, [word.is_capitalised for word in words]):
        result |= Trait.TIME.value
    if (seen & Mark.DIGITS or NUM in tags) and any(
        (tag == NUM or mark & Mark.DIGITS)
        and not mark & Mark.TIME_NUMBER
        and word.is_word
        and word.lowered not in ("one", "ones")
        for word, tag, mark in zip(words, tags, marks, strict=True)
    ):
        result |= Trait.NUMBER.value
    if PROPN in tags:
        result |= _NAME
    for first, last, kind in entities:
        if first >= start and last <= end:
            result |= _OF_ENTITIES.get(kind, _NAME)
    if is_question(text, words):
        result |= Trait.QUESTION.value
    return Trait(result)


def mentions_time(marks: Sequence[int], tags: Sequence[int], capitalised: Sequence[bool]) -> bool:
    """Whether a statement mentions any time: a date, a clock time, a duration or a repetition.

    The grammar of ``english.dating`` does not decide this: "at 3 pm", "for ten years" and "every
    day" answer "when" and "how long", but name no day. It is not asked which time is meant.
    ``marks``, ``tags`` (spaCy's part-of-speech symbols) and ``capitalised`` run in parallel.
    """
    for i, mark in enumerate(marks):
        if mark & Mark.TIME:
            return True
        before = marks[i - 1] if i else 0
        if mark & Mark.MAYBE_TIME:
            after = marks[i + 1] if i + 1 < len(marks) else 0
            if (before | after) & Mark.DIGITS or before & Mark.PICKS:
                return True
            if tags[i] == PROPN and capitalised[i] and i:
                return True
        if mark & Mark.UNIT and i:
            if before & Mark.DIGITS or (before & Mark.PICKS and tags[i] in (NOUN, PROPN)):
                return True
            if before & Mark.COUNT and (tags[i] in (NOUN, PROPN) or tags[i - 1] == NUM):
                return True
        if mark & Mark.CLOCK and before & Mark.DIGITS:
            return True
    return False


def tenses(marks: Sequence[int], tags: Sequence[int], lowered: Sequence[str]) -> Trait:
    """The tenses of a statement's verbs.

    A perfect counts as past, since what it tells has happened; "going to" with a verb as future. A
    verb behind "to", a modal or "do" has no tense: the word before it has. A base that is also its
    own past ("put") is past behind "have" and "be", and behind a subject that would need an "s".
    """
    found = 0
    governed = False
    for i, tag in enumerate(tags):
        mark = marks[i]
        if tag in _VERBS:
            is_future = mark & Mark.GOING and lowered[i + 1 : i + 2] == ["to"]
            if mark & Mark.FUTURE or (is_future and not _VERBS.isdisjoint(tags[i + 2 : i + 3])):
                found |= _FUTURE
            elif (
                mark & Mark.PAST
                or (mark & Mark.BARE_PARTICIPLE and _is_participle(i, tags, lowered))
                or (mark & Mark.BARE_PAST and not governed and _is_past(i, tags, lowered))
            ):
                found |= _PAST
            elif not governed and (
                mark & Mark.PRESENT or (tag == VERB and not lowered[i].endswith("ing"))
            ):
                found |= _PRESENT
            if tag == VERB:
                governed = False
        if mark & Mark.GOVERNS:
            governed = True
    return Trait(found)


def _is_participle(i: int, tags: Sequence[int], lowered: Sequence[str]) -> bool:
    """Whether a verb stands behind a form of "have", or just behind one of "be"."""
    before = i - 1
    while before >= 0 and tags[before] not in _VERBS:
        before -= 1
    return before >= 0 and (
        lowered[before] in _HAVE
        or (lowered[before] in _BE and all(tag in (ADV, PART) for tag in tags[before + 1 : i]))
    )


def _is_past(i: int, tags: Sequence[int], lowered: Sequence[str]) -> bool:
    """Whether a base that is also its own past stands in the past; "read" nearly always does."""
    if lowered[i] in _READ:
        return True
    before = i - 1
    while before >= 0 and tags[before] == ADV:
        before -= 1
    return before >= 0 and (
        lowered[before] in _SINGULAR
        or tags[before] == PROPN
        or (tags[before] == NOUN and not lowered[before].endswith("s"))
    )


def is_question(text: str, words: Sequence[Word]) -> bool:
    """Whether a sentence is a question: it ends in a question mark, or it requests an answer ("Tell
    me about …"), or it begins like a question and does not end in a full stop.

    It begins like one with a question word and an auxiliary ("what is", "which dog did"), with
    "how many" and the like, or with an auxiliary and a pronoun ("do you").
    """
    if "?" in text and not any(c.isalnum() for c in text[text.rindex("?") :]):
        return True
    if _REQUEST.match(text):
        return True
    if text.endswith("."):
        return False
    start = [word for word in words[:6] if word.is_word or word.marks & Mark.AUXILIARY]
    if len(start) < 2:
        return False
    first, second = start[0], start[1]
    if not first.marks & Mark.ASKS:
        return bool(first.marks & Mark.AUXILIARY and second.marks & Mark.PRONOUN)
    if second.marks & Mark.AUXILIARY or (first.lowered == "how" and second.lowered in _HOW):
        return True
    third_asks = len(start) > 2 and start[2].marks & Mark.AUXILIARY
    return first.lowered in _WITH_NOUN and bool(third_asks)
