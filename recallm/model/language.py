"""What extraction reads out of a text or a question."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import Literal

from recallm.exact import content

__all__ = [
    "ConceptKind",
    "ConceptMention",
    "ExtractedStatement",
    "Extraction",
    "Neighbours",
    "Question",
    "TemporalIntent",
    "TemporalOrder",
    "TemporalReading",
    "TemporalWindow",
    "Trait",
]


class Trait(IntFlag):
    """What extraction finds in a statement. The ranking compares it with what the question asks
    for."""

    QUESTION = 1
    TIME = 2
    NUMBER = 4
    NAME = 8
    PERSON = 16
    PLACE = 32
    ORGANISATION = 64
    FIRST_PERSON = 128
    NEGATION = 256
    PAST = 512
    PRESENT = 1024
    FUTURE = 2048


ConceptKind = Literal["noun", "name", "number", "entity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptMention:
    """A concept as one statement spells it: ``name`` is its key (lower-cased Porter stems),
    ``label`` the spelling."""

    name: str
    label: str
    kind: ConceptKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedStatement:
    """One sentence of a passage: ``passage[start:end]``.

    ``terms`` are the stems of its content words in textual order, with repetitions, then its exact
    tokens (``recallm.exact``), each once. No concept name appears twice in ``concepts``; the
    speaker, if known, is the first.
    """

    position: int
    start: int
    end: int
    terms: tuple[str, ...]
    concepts: tuple[ConceptMention, ...]
    traits: Trait

    @property
    def length(self) -> int:
        """How many content words it has."""
        return len(content(self.terms))


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Two neighbouring concepts of an update (``a < b`` by name).

    ``earlier`` and ``later`` are the positions of the statements that hold the two; they are equal
    where one statement holds both. An update names a pair once for each two positions that show it.
    """

    a: str
    b: str
    earlier: int
    later: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What extraction reads out of a text: statements ascending by position, and pairs of
    neighbouring concepts."""

    statements: tuple[ExtractedStatement, ...] = ()
    neighbours: tuple[Neighbours, ...] = ()
    speaker_concept: str | None = None


TemporalIntent = Literal["current", "historical", "neutral"]
TemporalOrder = Literal["latest", "earliest", "any"]
TemporalWindow = Literal["none", "since", "until", "within"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalReading:
    """What a question asks about time (paper, Future Work: a dynamic temporal window).

    ``intent``: how things are now, how they were, or neither. ``recency`` (0 to 1): how much it
    counts that nothing newer is known. ``order``: which of equally good statements comes first: the
    latest, the earliest, or any. ``window``: the question names dates, and asks for what was since,
    until or within them. ``previous``: it asks for the state before the newest one. ``spread``: it
    asks for all matching facts, not for one answer. ``rules``: the rules that fired, for people to
    read, such as "now → recency 1, latest first".
    """

    intent: TemporalIntent = "neutral"
    recency: float = 0.0
    order: TemporalOrder = "any"
    window: TemporalWindow = "none"
    previous: bool = False
    spread: bool = False
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What extraction reads out of a question.

    ``concepts`` are the essential concepts 𝓔 in textual order, ``terms`` the distinct stems of its
    content words. ``tokens`` are further search terms: for a question without content words its
    exact tokens (``recallm.exact``) and the stems of those that are one word; for a question of one
    word its exact token. ``asks`` holds the traits that an answer would have (TIME for "when",
    NUMBER for "how many", PERSON for "who", PLACE for "where", NAME for any name). ``time`` is what
    its tense and its words ask about time.
    """

    text: str
    terms: tuple[str, ...]
    concepts: tuple[ConceptMention, ...]
    asks: Trait
    time: TemporalReading = TemporalReading()
    tokens: tuple[str, ...] = ()

    @property
    def intent(self) -> TemporalIntent:
        """How things are now, how they were, or neither."""
        return self.time.intent
