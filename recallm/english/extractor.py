"""The extractor: from a text to its statements, concepts and neighbour pairs, and from a question
to what it asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from typing import TypeVar

from recallm.english.changes import Said, changes_in, sentences_said
from recallm.english.concepts import (
    ConceptPlace,
    label_words,
    name_of_word,
    neighbour_pairs,
    spaced_code,
)
from recallm.english.coreference.discourse import anaphors
from recallm.english.coreference.passage import TextRead
from recallm.english.coreference.resolving import FoundReference, resolve
from recallm.english.plain_reading import ReadSentence, ReadText, TextReader
from recallm.english.questions import (
    asked_traits,
    asks_for_number,
    date_terms,
    listing_terms,
    request_terms,
    temporal_anchor,
    temporal_reading,
    time_terms,
    with_anchor,
    without_names,
)
from recallm.english.statements import (
    Changed,
    Stated,
    addressed,
    facts_of,
    refers_back,
    said_in,
    sentences_of,
)
from recallm.english.words import LONGEST_WORD, Word, is_all_capitals
from recallm.errors import InvalidInputError
from recallm.ground.config import RecallConfig
from recallm.model import (
    MAX_POSITION,
    ConceptKind,
    ConceptMention,
    EarlierPassage,
    ExtractedStatement,
    Extraction,
    Mark,
    Question,
    Trait,
    Turn,
    content_terms,
    exact_token,
)

_BATCH_CHARACTERS = 200_000
"""Passages are read together up to this length."""

_END_CHARACTERS = 5_000
_END_WORDS = 32
"""How much is read of the beginning and of the end of a long text that is asked as a question."""

_T = TypeVar("_T")


class Extractor:
    """Reads texts and questions with one spaCy pipeline and one configuration.

    The pipeline is loaded at first use, once for all extractors that use it. Safe for several
    threads, which take turns. Every method raises ``PipelineError`` if the pipeline cannot be
    loaded.
    """

    def __init__(self, config: RecallConfig) -> None:
        self._config = config
        self._reader = TextReader(config)
        # The same labels are named again and again, as ends of relations and in checks.
        self._concept_names = lru_cache(maxsize=32_768)(lambda label: self._named(label)[0].name)
        self._named = lru_cache(maxsize=4096)(self._mentions_of_label)

    def load(self, *, parser: bool = False) -> None:
        """Load the pipeline now instead of at first use, also the ``parser``.

        Raises:
            PipelineError: there is a parser to load, and the pipeline is not English.
        """
        pipeline = self._reader.pipeline
        if parser:
            pipeline.load_parser()

    def extract(
        self, text: str, *, speaker: str | None = None, triplets: bool = False
    ) -> Extraction:
        """``extract_many`` for one text."""
        [extraction] = self.extract_many([Turn(text, speaker)], triplets=triplets)
        return extraction

    def extract_many(
        self,
        turns: Iterable[Turn],
        *,
        batch_size: int = 256,
        triplets: bool = False,
    ) -> Iterator[Extraction]:
        """The statements, concepts and neighbour pairs of passages (paper, Knowledge Update), in
        order, consuming ``turns`` batch by batch; with ``triplets`` their facts too, which takes a
        parse.

        Raises:
            InvalidInputError: a text has more statements than a passage can hold; ``index`` is the
                place in ``turns``.
        """
        index = 0
        for batch in _batches(turns, batch_size):
            yield from self._extractions(batch, index, triplets=triplets)
            index += len(batch)

    def question(self, text: str, *, asker: str | None = None) -> Question:
        """The essential concepts, terms, answer traits and temporal intent of a question (paper,
        Questioning the System), as ``asked_by`` its asker, if any."""
        ends = [text]
        if len(text) > 2 * _END_CHARACTERS:
            ends = [text[:_END_CHARACTERS], text[-_END_CHARACTERS:]]
        read = list(
            chain.from_iterable(part.sentences for part in self._reader.read(ends, asked=True))
        )
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
        request = request_terms(text)
        stems = tuple(term for term in stems if term not in request) or stems
        exact = _exact_terms(read, found_terms)
        tokens = [term for term in exact if term not in stems]
        if not stems and not concepts:
            tokens += found_terms
            tokens += (word.stem for word in words if exact_token(word.stem) in found_terms)
        if len(words) == 1:
            tokens.append(exact_token(words[0].stem))
        asked = " ".join(ends)
        terms_asked = _ends(stems)
        reading = with_anchor(
            temporal_reading(asked, tenses), temporal_anchor(without_names(asked), terms_asked)
        )
        counts = asks_for_number(asked)
        question = Question(
            text=text,
            terms=terms_asked,
            concepts=_ends(tuple(concepts.values())),
            asks=asks,
            time=reading,
            tokens=_ends(tuple(dict.fromkeys(tokens))),
            exact_terms=frozenset(exact),
            time_terms=(time_terms(reading) | date_terms(asked)).intersection(terms_asked),
            asks_of_asker=any(word.marks & Mark.FIRST_PERSON for word in words),
            words=_ends(tuple(word.stem for word in words)),
            asks_all=reading.spread or counts,
            counts=counts,
            listing_terms=listing_terms(terms_asked),
        )
        return question if asker is None else self.asked_by(question, asker)

    def asked_by(self, question: Question, asker: str) -> Question:
        """The question with the concept of ``asker`` in the place of "I" and "my"; the question
        itself where it says neither."""
        asking = self._speaker(asker) if question.asks_of_asker else ()
        if not asking:
            return question
        known = {mention.name for mention in question.concepts}
        added = tuple(mention for mention in asking if mention.name not in known)
        return replace(question, concepts=_ends((*question.concepts, *added)), asker=asking[0].name)

    def concept_name(self, label: str) -> str:
        """The name of the concept that a label spells: "New York" → "new york".

        A label without a letter or digit, or with only words of more than 100 characters, is its
        own name, in lower case and cut to 100 characters.
        """
        return self._concept_names(label)

    def describe(self, text: str) -> tuple[tuple[str, ...], Trait]:
        """The terms and the traits of a text as a whole, such as a summary."""
        [read] = self._reader.read([text])
        found = Trait(0)
        for sentence in read.sentences:
            found |= sentence.traits
        return tuple(term for sentence in read.sentences for term in sentence.terms), found

    def _extractions(
        self, turns: Sequence[Turn], first: int, *, triplets: bool
    ) -> Iterator[Extraction]:
        """``first``: the index of the first turn among the caller's."""
        texts = self._reader.read([turn.text for turn in turns], parsed=triplets)
        for index, (turn, read) in enumerate(zip(turns, texts, strict=True), start=first):
            # Before the text joins the discourse.
            changes = self._changes(read, turn) if triplets else {}
            before = _said_before(turn) if triplets and refers_back(read.text) else ()
            stated = sentences_of(read, self._references(read, turn))
            if len(stated) > MAX_POSITION + 1:
                raise InvalidInputError(
                    f"the text has {len(stated)} statements, a passage holds at most "
                    f"{MAX_POSITION + 1}; split it",
                    argument="text",
                    index=index,
                )
            speaker = self._speaker(turn.speaker)
            name = speaker[0].name if speaker else None
            facts = (
                facts_of(
                    stated,
                    speaker,
                    self.concept_name,
                    changes,
                    before,
                    is_assistant=turn.is_assistant,
                )
                if triplets
                else ()
            )
            yield Extraction(
                statements=tuple(
                    _statement(position, each, speaker) for position, each in enumerate(stated)
                ),
                neighbours=neighbour_pairs(
                    [
                        (place.concept.name, position)
                        for position, each in enumerate(stated)
                        for place in each.places
                    ],
                    self._config.distance,
                    speaker=name,
                ),
                speaker_concept=name,
                facts=tuple(facts),
            )

    def _changes(self, read: ReadText, turn: Turn) -> dict[int, Changed]:
        """What the sentences of a text change, correct or answer, by their positions."""
        found = dict(changes_in(said_in(read, turn.speaker), lambda: _said_before(turn)))
        texts = [
            text
            for change in found.values()
            for text in (" ".join(change.means), change.before, change.was)
        ]
        # As if the turn had said them.
        reads = iter(
            sentences_of(meant, self._resolved(meant, turn)) if meant.text else ()
            for meant in self._reader.read(texts, parsed=True)
        )
        return {place: Changed(change, *islice(reads, 3)) for place, change in found.items()}

    def _references(self, read: ReadText, turn: Turn) -> Sequence[FoundReference]:
        """What the pronouns of a text stand for; the discourse of the turn goes on with the
        text."""
        if self._config.concepts != "all":
            return ()
        found = self._resolved(read, turn)
        if turn.discourse is not None:
            referred = tuple(
                (mention, read.text[reference.start : reference.end])
                for reference in found
                for mention in reference.mentions()
            )
            turn.discourse.add(EarlierPassage(turn.id, turn.speaker, read.text, referred))
        return found

    def _resolved(self, read: ReadText, turn: Turn) -> list[FoundReference]:
        """What the pronouns of a text stand for."""
        found: list[FoundReference] = []
        discourse = turn.discourse
        if discourse is not None and turn.speaker and (spans := [*addressed(read)]):
            addressee = discourse.addressee(turn.speaker, turn.id)
            if addressee is not None and addressee.speaker:
                concepts = self._named(addressee.speaker)
                found += [FoundReference(*span, concepts, addressee.id) for span in spans]
        text = TextRead(read, speaker=next(iter(self._speaker(turn.speaker)), None))
        if any(anaphors(text)):
            earlier = [] if discourse is None else discourse.earlier(turn.id)
            found += resolve(text, self._read_earlier(earlier))
        return found

    def _read_earlier(self, earlier: Sequence[EarlierPassage]) -> list[TextRead]:
        """Passages as coreference reads them."""
        reads = self._reader.read([passage.text for passage in earlier])
        return [
            TextRead(
                read,
                id=passage.id,
                speaker=next(iter(self._speaker(passage.speaker)), None),
                referred=passage.references,
            )
            for passage, read in zip(earlier, reads, strict=True)
        ]

    def _speaker(self, name: str | None) -> tuple[ConceptMention, ...]:
        """The concept of a speaker and the parts of the name; empty where nobody is named."""
        return self._named(name) if name and name.strip() else ()

    def _mentions_of_label(self, label: str) -> tuple[ConceptMention, ...]:
        """The concept that a label names, and its parts if it has several words."""
        all_capitals = is_all_capitals(label)
        label = " ".join(label.split())
        words = label_words(self._reader.pipeline.words(label))
        names = [name_of_word(word, all_capitals=all_capitals) for word in words]
        whole = " ".join(names) or label.lower()[:LONGEST_WORD]
        parts: tuple[ConceptMention, ...] = ()
        if len(names) > 1 and self._config.concepts != "names":
            parts = tuple(
                ConceptMention(name=name, label=word.text, kind="name")
                for name, word in zip(names, words, strict=True)
            )
        kind: ConceptKind = "entity" if len(names) > 1 else "name"
        return (ConceptMention(name=whole, label=label, kind=kind), *parts)


def _said_before(turn: Turn) -> list[Said]:
    """The sentences of the session before a turn."""
    passages = [] if turn.discourse is None else turn.discourse.earlier(turn.id)
    return [said for each in passages for said in sentences_said(each.speaker, each.text)]


def _exact_terms(
    sentences: Sequence[ReadSentence], found_terms: Collection[str]
) -> dict[str, None]:
    """The ids of a question, and its words that have an exact token of their own, as stems and as
    exact tokens: a text may have tagged the same word as another kind."""
    exact: dict[str, None] = {}
    for word in chain.from_iterable(sentence.words for sentence in sentences):
        token = exact_token(word.exact)
        if word.is_id or (word.exact and not word.is_stop_word and token in found_terms):
            exact |= dict.fromkeys((token, *map(exact_token, word.id_parts)))
            if word.is_word:
                exact[word.exact] = None
    for sentence in sentences:
        for i, word in enumerate(sentence.words):
            if word.is_code_letters and (code := spaced_code(sentence.words[i:])):
                exact[exact_token(code)] = None
    return exact


def _statement(
    position: int, stated: Stated, speaker_mentions: Sequence[ConceptMention]
) -> ExtractedStatement:
    concepts = {mention.name: mention for mention in speaker_mentions}
    _add_mentions(concepts, stated.places)
    sentence = stated.sentence
    return ExtractedStatement(
        position=position,
        start=sentence.start,
        end=sentence.end,
        terms=sentence.terms,
        concepts=tuple(concepts.values()),
        traits=sentence.traits,
    )


def _add_mentions(concepts: dict[str, ConceptMention], places: Iterable[ConceptPlace]) -> None:
    """Add concepts and their parts in order. The first mention of a name stays; one that spells the
    concept takes the place of a reference."""
    for place in places:
        for mention in (place.concept, *place.parts):
            known = concepts.get(mention.name)
            if known is None or (known.reference is not None and mention.reference is None):
                concepts[mention.name] = mention


def _ends(values: tuple[_T, ...]) -> tuple[_T, ...]:
    """All values, or the first and the last 32 of many."""
    if len(values) <= 2 * _END_WORDS:
        return values
    return values[:_END_WORDS] + values[-_END_WORDS:]


def _batches(turns: Iterable[Turn], most: int) -> Iterator[list[Turn]]:
    """Batches of at most ``most`` turns; fewer where texts are long."""
    batch: list[Turn] = []
    size = 0
    for turn in turns:
        batch.append(turn)
        size += len(turn.text)
        if len(batch) >= most or size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
