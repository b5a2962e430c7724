"""What a reader needs with the chosen statements, and what of them says nothing.

* **Antecedents.** A sentence that opens with a word that points back ("This made her happy.")
  stands with the sentence before it in its passage, unless the context names what is meant.
* **Lists.** An item stands with its heading ("Here are some books:"). A heading stands with its
  items: where the question's best statements include it the items follow, where none of them is
  shown the heading is not shown either.
* **What took its place.** A statement that a later one replaced stands with that one.
* **Echoes.** A reply that says again what another speaker said before adds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import NamedTuple, Self

from recallm.model import StoredStatement, Trait, content_terms
from recallm.recall.ranking.budget import EqualSentences
from recallm.recall.ranking.candidates import Candidates, moments_of
from recallm.recall.ranking.concepts import NAME_KINDS
from recallm.recall.ranking.stem_counts import Floats
from recallm.recall.ranking.succession import places_of_states

_POINTS_BACK = re.compile(
    r"(?:(?:and|but|so|then|also|because|plus|yes|no|well|maybe|luckily|sadly),? )?"
    r"(?:(?P<pronoun>they|he|she|his|her|their|its|it(?! (?:(?:is|was|will be) )?(?:rain|snow|seem"
    r"|look|take|took|important|best|good to|possible|essential|worth|recommended|depends)))\b"
    r"|(?:this|that|these|those|both|such|the (?:same|latter|former|other))\b)",
    re.IGNORECASE,
)
"""Opens a sentence that cannot be understood without the one before. Weather and advice have an
"it" that means nothing."""

_LONGEST_CHAIN = 2
"""At most 2 sentences stand before one that points back: the first may point back, too."""

_LONGEST_LIST = 30
"""Statements between a heading and its last item, at most."""

_LONGEST_ITEM = 3
"""An item of a list has at most 3 sentences behind its first."""

_PARAGRAPH, _MARKED = 2, 3
"""Characters between two statements of a passage: an empty line is 2, a marker ("- ") makes 3."""

_WITH_MORE = 0.5
"""A statement brings its antecedents, and a heading its items, if it has at least half of the best
statement's score."""

_SENSE = int(Trait.NEGATION | Trait.PAST | Trait.FUTURE | Trait.QUESTION)
"""Statements that differ in one of these say different things."""


def superseded_candidates(candidates: Candidates) -> dict[int, int]:
    """By the key of each candidate that a later one took the place of the key of that one: facts
    that ended, and for a question about the present what is stated anew."""
    ended = {
        key: fact.ended_by for key, fact in candidates.facts.items() if fact.ended_by is not None
    }
    return restated(candidates.statements, candidates.states) | ended


def restated(
    statements: Sequence[StoredStatement], states: Mapping[int, AbstractSet[tuple[str, str]]]
) -> dict[int, int]:
    """By the key of each statement of a relation of one value ("lives in") the key of the newest
    that states another value. ``states`` are the relations that statements state, by their places,
    each with whom it is stated of."""
    if len(states) < 2:
        return {}
    moments = moments_of(statements)
    found: dict[int, int] = {}
    for places in places_of_states(states).values():
        newest = max(places, key=lambda place: (moments[place], place))
        names = _names(statements[newest])
        for place in places:
            # Whoever spells all names again repeats the statement.
            if moments[place] < moments[newest] and not names >= _names(statements[place]):
                found[statements[place].key] = statements[newest].key
    return found


def _names(row: StoredStatement) -> set[str]:
    """The names that a statement has beside its speaker's."""
    names = {mention.name for mention in row.concepts if mention.kind in NAME_KINDS}
    return names - {row.speaker_concept}


def completed(
    order: Sequence[int],
    candidates: Candidates,
    scores: Floats,
    superseded: Mapping[int, int],
    questions: Mapping[int, Sequence[int]],
    *,
    allowed: Iterable[int],
    wanted: int,
) -> tuple[list[int], dict[int, Sequence[int]]]:
    """The places of ``order`` with those of the items of its lists, without other headings; and by
    each place those of what the reader needs with it, ``questions`` among them. Only places that
    are ``allowed`` are added. A context holds at most ``wanted`` statements: those behind them stay
    as they are."""
    order, behind = order[:wanted], order[wanted:]
    passages = _Passages(candidates, allowed)
    statements = candidates.statements
    least = _WITH_MORE * max((scores[place] for place in order), default=0.0)
    headings = [place for place in order if statements[place].is_heading]
    asked_for = [place for place in headings if scores[place] >= least]
    items = chain.from_iterable(map(passages.items, asked_for))
    left_out = set(headings).difference(asked_for)
    first = [place for place in dict.fromkeys((*order, *items)) if place not in left_out]
    # An item brings its heading, but not the question that the heading answers.
    companions = {place: asked for place, asked in questions.items() if place not in left_out}
    for place in first:
        row = statements[place]
        keys = [superseded[row.key]] if row.key in superseded else []
        keys += passages.heading(row)
        if scores[place] >= least:
            keys += passages.pointed_at(row)
        if keys:
            companions[place] = (*passages.places(keys), *questions.get(place, ()))
    return list(dict.fromkeys((*first, *behind))), companions


class _Passages:
    """The statements that stand around the candidates in their passages, and the ``allowed`` places
    among them."""

    def __init__(self, candidates: Candidates, allowed: Iterable[int]) -> None:
        self._statements = candidates.statements
        self._context = candidates.context
        self._places = {self._statements[place].key: place for place in allowed}

    def places(self, keys: Iterable[int]) -> Iterator[int]:
        """The places of the candidates with these keys, where allowed."""
        return (self._places[key] for key in keys if key in self._places)

    def _before(self, row: StoredStatement) -> StoredStatement | None:
        """The statement before another in its passage, where both have a span there."""
        found = self._context.get(row.key - 1) if row.position and row.start < row.end else None
        return found if found is not None and found.start < found.end else None

    def pointed_at(self, row: StoredStatement) -> Iterator[int]:
        """The keys of the sentences before one that points back, nearest first."""
        for _ in range(_LONGEST_CHAIN):
            before = self._before(row)
            if before is None or row.start - before.end >= _PARAGRAPH or not _points_back(row):
                return
            yield before.key
            row = before

    def heading(self, row: StoredStatement) -> Iterator[int]:
        """The key of the heading of an item."""
        is_item = False
        for step in range(_LONGEST_LIST):
            before = self._before(row)
            if before is None:
                return
            gap = row.start - before.end
            if before.is_heading and (is_item or gap >= _MARKED or not step):
                yield before.key
            is_item = is_item or gap >= _MARKED
            if before.is_heading or gap == _PARAGRAPH or (step >= _LONGEST_ITEM and not is_item):
                return
            row = before

    def items(self, place: int) -> Iterator[int]:
        """The places of the statements under a heading."""
        heading = self._statements[place]
        if not heading.is_heading:
            return
        last = heading
        is_list = False
        for key in range(heading.key + 1, heading.key + _LONGEST_LIST):
            row = self._context.get(key)
            if row is None or self._before(row) is not last or row.is_heading:
                return
            gap = row.start - last.end
            if last is heading:
                is_list = gap >= _MARKED
            elif gap == _PARAGRAPH or not is_list or (gap == 1 and last.text[-1:].isalnum()):
                return  # a new line of its own
            if key in self._places:
                yield self._places[key]
            last = row


def _points_back(row: StoredStatement) -> bool:
    """Whether the first word of a statement points back to what the text does not name."""
    found = _POINTS_BACK.match(row.text)
    if found is None:
        return False
    starts = {each.reference.start for each in row.concepts if each.reference is not None}
    return found.start("pronoun") not in starts


def without_bare_headings(places: Sequence[int], candidates: Candidates) -> list[int]:
    """``places`` without the headings of which no item is there."""
    statements, passages = candidates.statements, _Passages(candidates, ())
    kept = list(places)
    while True:
        with_items = {key for place in kept for key in passages.heading(statements[place])}
        bare = {
            place
            for place in kept
            if statements[place].is_heading and statements[place].key not in with_items
        }
        if not bare:
            return kept
        # What stood above them may be without items now.
        kept = [place for place in kept if place not in bare]


def without_echoes(order: Sequence[int], candidates: Candidates) -> list[int]:
    """``order`` without what repeats another of its statements. Whoever asks for what somebody
    said, for dates or for all keeps them."""
    question = candidates.question
    by_day = EqualSentences.asked_by(question.time).by_day
    others = candidates.speakers - {question.asker}
    if question.asks_all or by_day or others or "you" in question.words:
        return [*order]
    said = [
        _Said.of(place, row)
        for place in order
        if (row := candidates.statements[place]).speaker is not None
    ]
    echoes = {
        each.place
        for each in said
        if Trait.FIRST_PERSON not in each.row.traits and any(map(each.is_echo_of, said))
    }
    return [place for place in order if place not in echoes]


class _Said(NamedTuple):
    """A statement of a speaker at its place, with its content words and concepts: those of the
    statement alone, without the speaker, and with the speaker's."""

    place: int
    row: StoredStatement
    words: frozenset[str]
    concepts: frozenset[str]
    heard_words: frozenset[str]
    heard_concepts: frozenset[str]

    @classmethod
    def of(cls, place: int, row: StoredStatement) -> Self:
        """What a statement with a speaker says."""
        words = frozenset(content_terms(row.terms))
        concepts = frozenset(mention.name for mention in row.concepts)
        speaker = row.speaker_concept or ""
        return cls(
            place,
            row,
            words,
            concepts - {speaker},
            words.union(speaker.split(" ")),
            concepts | {speaker},
        )

    def is_echo_of(self, other: _Said) -> bool:
        """Whether another speaker said this before: with no other word, and of nobody else."""
        return (
            self.words <= other.heard_words
            and self.concepts <= other.heard_concepts
            and other.row.key < self.row.key
            and other.row.speaker != self.row.speaker
            and not (int(self.row.traits) ^ int(other.row.traits)) & _SENSE
        )
