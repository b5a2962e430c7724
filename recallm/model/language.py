"""What extraction reads out of a text or a question."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import Any, Final, Literal, NamedTuple, Protocol


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
    SECOND_PERSON = 4096


class Mark:
    """Marks of a word, combined by ``|``. Plain integers, since they are read for every token.

    ``recallm/english/data/english.toml`` has the words of most marks.
    """

    TIME: Final = 1 << 0
    """A time by itself: "yesterday", "Monday", "10:30", "1999"."""
    TIME_NUMBER: Final = 1 << 1
    """A year, date or clock time in digits: a number as a concept, a time as a trait."""
    MAYBE_TIME: Final = 1 << 2
    """A time if it is written as a name or beside a number: "may", "fall"."""
    UNIT: Final = 1 << 3
    """A unit of time: "weeks"."""
    PICKS: Final = 1 << 4
    """Makes the unit behind it a time: "last", "every"."""
    COUNT: Final = 1 << 5
    """Counts: digits, "three", "several"."""
    CLOCK: Final = 1 << 6
    """Makes the number before it a time: "pm", "o'clock", "January"."""
    DIGITS: Final = 1 << 7
    """Begins with a digit."""
    PAST: Final = 1 << 8
    PRESENT: Final = 1 << 9
    FUTURE: Final = 1 << 10
    """Forms of verbs by tense."""
    GOVERNS: Final = 1 << 11
    """The verb behind it is not the finite one: "to", "did", "can"."""
    GOING: Final = 1 << 12
    FIRST_PERSON: Final = 1 << 13
    NEGATION: Final = 1 << 14
    PRONOUN: Final = 1 << 15
    """Never a concept."""
    EDGE: Final = 1 << 16
    """Cut off the edges of names: "the", "my", "'s"."""
    ASKS: Final = 1 << 17
    """A question word."""
    AUXILIARY: Final = 1 << 18
    """A verb that a question may begin with."""
    NUMERAL: Final = 1 << 19
    """A number in digits: a number whatever its tag."""
    BARE_PAST: Final = 1 << 20
    BARE_PARTICIPLE: Final = 1 << 21
    """The base of a verb that is also its past or its participle: "put"."""
    FIRST_PLURAL: Final = 1 << 22
    SECOND_PERSON: Final = 1 << 23


ConceptKind = Literal["noun", "name", "number", "entity"]


class Reference(NamedTuple):
    """A pronoun that stands for a concept.

    ``start`` and ``end`` are its span in the text of its statement. ``antecedent`` is the id of the
    passage that spells the concept; None where its own passage spells it.
    """

    start: int
    end: int
    antecedent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptMention:
    """A concept as one statement mentions it: ``name`` is its key (lower-cased Porter stems),
    ``label`` the spelling. With a ``reference`` the statement does not spell the concept: a pronoun
    stands for the concept, and ``label`` is the antecedent's."""

    name: str
    label: str
    kind: ConceptKind
    reference: Reference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedStatement:
    """One sentence of a passage: ``passage[start:end]``.

    The spans of a passage's statements are disjoint and in the order of their positions.
    ``terms`` are the stems of its content words in textual order, with repetitions, then its exact
    tokens (``recallm.english.concepts``), each once. No concept name appears twice in ``concepts``;
    the speaker, if known, is the first.
    """

    position: int
    start: int
    end: int
    terms: tuple[str, ...]
    concepts: tuple[ConceptMention, ...]
    traits: Trait

    def text_in(self, passage: str) -> str:
        """The text of its span in the passage."""
        return passage[self.start : self.end]


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


class Adjunct(NamedTuple):
    """What a sentence says beside subject, predicate and object: "in 2019", "with her sister".

    ``preposition`` is in lower case, empty where there is none; ``text`` is what stands behind it.
    """

    kind: Literal["time", "place", "other"]
    preposition: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTriplet:
    """⟨subject, predicate, object⟩ as a sentence states it (open information extraction).

    ``subject``, ``predicate`` and ``object`` are as written ("has been working for"), ``relation``
    is the predicate's normal form ("work for"). ``modality`` is the word that makes it less than an
    assertion ("may", "plan to", "if"), empty for an assertion. ``confidence`` is the probability (0
    to 1) that the sentence states the triplet. ``position`` is the statement's. The concepts are
    those that subject and object stand on, pronouns resolved; None where there is none.
    ``object_value``: what the object is where it names nothing: a number ("52,000 euros"), a date,
    or a quality ("blue"). ``corrects``: what is denied was said by mistake, and never so.
    ``said_by``: who says so where the speaker reports it.
    """

    subject: str
    predicate: str
    object: str
    relation: str
    adjuncts: tuple[Adjunct, ...] = ()
    negated: bool = False
    modality: str = ""
    confidence: float = 1.0
    position: int = 0
    subject_concept: ConceptMention | None = None
    object_concept: ConceptMention | None = None
    object_value: Literal["", "number", "date", "quality"] = ""
    corrects: bool = False
    said_by: str = ""

    @property
    def is_fact(self) -> bool:
        """Whether the sentence asserts the triplet: it neither denies it nor calls it possible."""
        return not self.negated and not self.modality

    @property
    def stated_relation(self) -> str:
        """The relation behind what makes it less than a fact ("not live in", "may move to"): such
        a triplet is never the same as the fact."""
        parts = (self.modality, "not" if self.negated else "", self.relation)
        return " ".join(part for part in parts if part)

    @property
    def properties(self) -> dict[str, Any]:
        """What the sentence says beside subject, relation and object, in JSON values."""
        said = (part for part in (self.subject, self.predicate, self.object) if part)
        where_true = {
            "negated": self.negated,
            "corrects": self.corrects,
            "said_by": self.said_by,
            "modality": self.modality,
            "adjuncts": [list(adjunct) for adjunct in self.adjuncts],
        }
        return {
            "said": " ".join(said),
            "confidence": round(self.confidence, 3),
            **{name: value for name, value in where_true.items() if value},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What extraction reads out of a text: statements ascending by position, pairs of neighbouring
    concepts, and where the caller asked for them ``facts``: triplets in the form in which the graph
    keeps them, ⟨Oslo, capital of, Norway⟩."""

    statements: tuple[ExtractedStatement, ...] = ()
    neighbours: tuple[Neighbours, ...] = ()
    speaker_concept: str | None = None
    facts: tuple[OpenTriplet, ...] = ()


TemporalIntent = Literal["current", "historical", "neutral"]
AnchorRelation = Literal["before", "after", "at"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalAnchor:
    """A value that a question names to fix a place in a history: "before Porto".

    The question asks for the state ``relation`` ("before", "after", "at" the time of) the anchor.
    ``asked`` is the question without the anchor, ``text`` the anchor as the question spells it,
    ``terms`` its content stems.
    """

    relation: AnchorRelation
    asked: str
    text: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalReading:
    """What a question asks about time (paper, Future Work: a dynamic temporal window).

    ``intent``: how things are now, how they were, or neither. ``recency`` (0 to 1): how much it
    counts that nothing newer is known. ``order``: which of equally good statements comes first: the
    latest, the earliest, or any. ``window``: the question names dates, and asks for what was since,
    until or within them. ``previous``: it asks for the state before the newest one. ``spread``: it
    asks for all matching facts, not for one answer. ``anchor``: it asks for the state before, after
    or at the time of this one. ``rules``: the rules that fired, for people to read, such as "now →
    recency 1, latest first".
    """

    intent: TemporalIntent = "neutral"
    recency: float = 0.0
    order: Literal["latest", "earliest", "any"] = "any"
    window: Literal["none", "since", "until", "within"] = "none"
    previous: bool = False
    spread: bool = False
    anchor: TemporalAnchor | None = None
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What extraction reads out of a question.

    ``concepts`` are the essential concepts 𝓔 in textual order, ``terms`` the distinct stems of its
    content words. ``exact_terms`` are its ids ("E-1042"), acronyms that are spelt like function
    words ("IT"), pictures and interjections, each as a stem and as an exact token: no other word
    stands for one. ``tokens`` are the search terms beside ``terms``: exact terms; for a question
    without content words all its exact tokens; for a question of one word that word's. ``asks``
    holds the traits that an answer would have (TIME for "when", NUMBER for "how many", PERSON for
    "who", PLACE for "where", NAME for any name). ``time`` is what its tense and its words ask about
    time. ``time_terms`` are the terms that only ask for an order in time, for a count of times or
    for a date with its year ("now", "first", "how often", "May 2023"). ``asks_of_asker``: it says
    "I" or "my". ``asker`` is the concept that these words stand for, None where nobody knows.
    ``words`` are the stems of all its words in textual order, function words among them.
    ``asks_all``: it asks for every answer or for their number; ``counts``: for their number ("how
    many"). ``listing_terms`` are the terms that only ask for a list or a number ("list", "people").
    """

    text: str
    terms: tuple[str, ...]
    concepts: tuple[ConceptMention, ...]
    asks: Trait
    time: TemporalReading = TemporalReading()
    tokens: tuple[str, ...] = ()
    time_terms: frozenset[str] = frozenset()
    asks_of_asker: bool = False
    asker: str | None = None
    words: tuple[str, ...] = ()
    asks_all: bool = False
    counts: bool = False
    listing_terms: frozenset[str] = frozenset()
    exact_terms: frozenset[str] = frozenset()

    @property
    def search_terms(self) -> tuple[str, ...]:
        """``terms`` without ``time_terms``, if any are left: no statement answers better because it
        holds "now", and what was said in May 2023 need not say so."""
        return tuple(term for term in self.terms if term not in self.time_terms) or self.terms

    @property
    def when(self) -> TemporalAnchor | None:
        """Its anchor, where that only says when: "when she lived in Oslo" says nothing of the job
        that is asked for. "Before Porto" names a state of the history asked about."""
        anchor = self.time.anchor
        return anchor if anchor is not None and anchor.relation == "at" else None


# What extraction reads.


class EarlierPassage(NamedTuple):
    """A passage of the session: its id, its speaker, the end of its text, and the concepts that it
    mentions by a pronoun, each with the pronoun."""

    id: str
    speaker: str | None
    text: str
    references: tuple[tuple[ConceptMention, str], ...] = ()


class Discourse(Protocol):
    """What stands before a text in its session, for extraction to find who is meant."""

    def add(self, passage: EarlierPassage) -> None:
        """Append the passage that was said last."""

    def earlier(self, before: str) -> list[EarlierPassage]:
        """The last passages before the passage with the id ``before``, oldest first."""
        ...

    def addressee(self, speaker: str, before: str) -> EarlierPassage | None:
        """The latest passage of whom ``speaker`` speaks to: the only other speaker of the session.
        None where there is no other speaker, or more than one."""


class Turn(NamedTuple):
    """A text to extract, with its speaker, the id of its passage, and the discourse that it
    stands in; extraction adds the passage to the discourse. ``is_assistant``: of the speaker."""

    text: str
    speaker: str | None = None
    id: str = ""
    discourse: Discourse | None = None
    is_assistant: bool = False
