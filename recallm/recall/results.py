"""The values that ``RecallM`` returns to its callers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Any, Literal, Protocol, Self, TypeVar

from recallm.ground.untrusted_text import OMISSION, fact_line, one_line, statement_line
from recallm.model import (
    MAX_POSITION,
    ConceptRow,
    Forgotten,
    Stats,
    StoredStatement,
    Summary,
    TemporalReading,
    empty_mapping,
)
from recallm.recall.antecedents import RecalledReference, annotated, recalled_references

PREFIX = "Oldest first; on conflict, the later holds:"
"""What the prompt of the RecallM paper says of its statements, in few tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The outcome of one context revision: the new context as ``text``, or None if the old one
    stays, and the ``reason`` why."""

    concept: str
    text: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What an export of a namespace handed over, or an erasure took. The name of an erased
    namespace stays, and so does its counter t. ``erasure_pending`` is that of ``Forgotten``."""

    action: Literal["export", "erase"]
    namespace: str
    at: datetime
    passages: int
    statements: int
    concepts: int
    relations: int
    entities: int
    triplets: int
    summaries: int
    erasure_pending: bool = False

    @classmethod
    def of(
        cls,
        counts: Stats | Forgotten,
        *,
        action: Literal["export", "erase"],
        namespace: str,
        at: datetime,
    ) -> Receipt:
        """The receipt for what ``counts`` counts."""
        names = (name for name in cls.__dataclass_fields__ if hasattr(counts, name))
        own = {name: getattr(counts, name) for name in names}
        return cls(action=action, namespace=namespace, at=at, **own)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedConcept:
    """A concept that is related to the one asked for. ``strength`` counts the knowledge updates
    that show the relation, ``t_index`` is the latest of them."""

    name: str
    label: str
    strength: int
    t_index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeUpdate:
    """The outcome of one knowledge update.

    ``statements`` are ids, ``concepts`` names in textual order, ``relations`` pairs of names.
    ``duplicate``: the passage existed already with this ``t_index``, and nothing was written.
    ``revisions`` are the context revisions that the update caused.
    """

    id: str
    t_index: int
    statements: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    relations: tuple[tuple[str, str], ...] = ()
    revisions: tuple[Revision, ...] = ()
    duplicate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledStatement:
    """A statement that a recall or a history returns.

    ``score`` is the probability (0 to 1) that it helps to answer, where the ranking gives one.
    ``contributions``: signal → what it added to the log-odds. ``path``: how recall reached the
    statement. ``references``: its pronouns that stand for concepts. ``span``: its (first character,
    last + 1) in the text of its passage, where it has one. ``fact``: the exact
    (subject, predicate, object) of a triplet that no statement shows, whose line is the ``text``.
    ``passage``: the id of its passage; None for a revised context, or a fact without a passage.
    ``superseded_by``: the id of the statement or fact that took its place, where a recall finds it.
    """

    id: str
    text: str
    t_index: int
    position: int
    timestamp: datetime | None = None
    speaker: str | None = None
    source: str | None = None
    session: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=empty_mapping)
    concepts: tuple[str, ...]
    score: float | None = None
    contributions: Mapping[str, float] = field(default_factory=empty_mapping)
    path: tuple[str, ...] = ()
    references: tuple[RecalledReference, ...] = ()
    span: tuple[int, int] | None = None
    fact: tuple[str, str, str] | None = None
    passage: str | None = None
    superseded_by: str | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id!r}: {self.line}>"

    @property
    def line(self) -> str:
        """The statement alone on a line, with date and speaker. In ``RecalledContext.text`` those
        of one passage share a line."""
        text = annotated(
            self.text,
            self.references,
            self.timestamp,
            is_superseded=self.superseded_by is not None,
        )
        return statement_line(text, speaker=self.speaker, timestamp=self.timestamp)

    @classmethod
    def of(cls, stored: StoredStatement, **given: Any) -> RecalledStatement:
        """A stored statement; ``given`` are further fields."""
        given.setdefault("references", recalled_references(stored))
        return cls(
            id=stored.id,
            text=stored.text,
            t_index=stored.t_index,
            position=stored.position,
            timestamp=stored.timestamp,
            speaker=stored.speaker,
            source=stored.source,
            session=stored.session_name,
            metadata=stored.metadata,
            concepts=tuple(mention.name for mention in stored.concepts),
            span=(stored.start, stored.end) if stored.start < stored.end else None,
            passage=stored.passage_id,
            **given,
        )

    @classmethod
    def of_fact(
        cls, stored: StoredStatement, triplet: tuple[str, str, str], passage: str | None
    ) -> RecalledStatement:
        """A fact that no statement shows; ``triplet`` are its exact ids."""
        id = f"fact:{fact_line(*triplet)}@{stored.t_index}"
        statement = cls.of(stored)
        return replace(statement, id=id, position=MAX_POSITION, fact=triplet, passage=passage)

    @classmethod
    def of_summary(cls, summary: Summary) -> RecalledStatement:
        """A concept's revised context as a statement that became true at its t_index."""
        return cls(
            id=f"summary:{summary.concept}@{summary.t_index}",
            text=summary.text,
            t_index=summary.t_index,
            position=MAX_POSITION,
            concepts=(summary.concept,),
            path=(f"revised context of {summary.concept}",),
        )


def strongest_first(contributions: Mapping[str, float]) -> list[tuple[str, float]]:
    """What each signal added, the greatest part first, without those that added nothing."""
    ordered = sorted(contributions.items(), key=lambda item: (-abs(item[1]), item[0]))
    return [(name, value) for name, value in ordered if value]


class _Ordered(Protocol):
    @property
    def timestamp(self) -> datetime | None: ...
    @property
    def t_index(self) -> int: ...
    @property
    def position(self) -> int: ...


_S = TypeVar("_S", bound=_Ordered)


def chronological(statements: Iterable[_S]) -> list[_S]:
    """``statements`` in the order in which they became true: by timestamp if all have one, else by
    t_index; then by position."""
    ordered = sorted(statements, key=lambda it: (it.t_index, it.position))
    if have_timestamps(ordered):
        ordered.sort(key=lambda it: (it.timestamp, it.t_index, it.position))
    return ordered


def have_timestamps(statements: Iterable[_Ordered]) -> bool:
    """Whether every statement has a timestamp: then timestamps order them, else t_index does."""
    return all(statement.timestamp is not None for statement in statements)


def lined_text(
    statements: Sequence[StoredStatement], text_of: Callable[[StoredStatement], str]
) -> str:
    """The lines of statements in order of time, below each other. ``PREFIX`` stands above several:
    sentences of one passage stand in their own order."""
    first = [PREFIX] if makes_lines(statements) else []
    return "\n".join((*first, *context_lines(statements, text_of)))


def makes_lines(statements: Iterable[StoredStatement]) -> bool:
    """Whether statements make several lines."""
    return len({it.line_key for it in statements}) > 1


def context_lines(
    statements: Iterable[StoredStatement], text_of: Callable[[StoredStatement], str]
) -> Iterator[str]:
    """The lines of statements, in their order: neighbours of one passage stand on one line behind
    one head, with ``OMISSION`` between two that are not next to each other in it, and a semicolon
    behind an item of a list or a line that ends without a mark."""
    for _, neighbours in groupby(statements, key=lambda it: it.line_key):
        texts: list[str] = []
        last: StoredStatement | None = None
        for statement in neighbours:
            if last is not None and statement.position != last.position + 1:
                texts.append(OMISSION)
            elif texts and texts[-1][-1:].isalnum():
                texts[-1] += ";"
            texts.append(text_of(statement))
            last = statement
        if last is not None:
            yield statement_line(*texts, speaker=last.speaker, timestamp=last.timestamp)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedConcept:
    """A concept that a recall used. Its ``score`` depends on the ranking. ``through``: the name of
    the essential concept whose neighbour it is, where that led to it."""

    name: str
    label: str
    t_index: int
    score: float = 1.0
    essential: bool = True
    through: str | None = None

    @classmethod
    def of(cls, row: ConceptRow, **given: Any) -> RankedConcept:
        """A stored concept; ``given`` are further fields."""
        return cls(name=row.name, label=row.label, t_index=row.t_index, **given)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledContext:
    """The answer to ``recall``. It is false if nothing was recalled.

    ``text`` is ready for a prompt, a line for those statements of a passage that are recalled;
    ``statements`` are in the order in which they became true; ``tokens`` is the length of ``text``
    by the memory's counter; ``time`` is what the question asks about time.

    Where the question asks for every answer or for their number, the default ranking determines
    all facts that match. ``more`` is how many of them are not in the context; the last line of
    ``text`` says so. ``complete``: some match, and all of them are in the context.

    ``confidence`` is the probability (0 to 1) that the memory knows an answer; None with a ranking
    that gives no probabilities. ``unknown`` are the names in the question that nothing stored has.
    """

    question: str
    text: str = ""
    statements: tuple[RecalledStatement, ...] = ()
    concepts: tuple[RankedConcept, ...] = ()
    tokens: int = 0
    intercept: float = 0.0
    time: TemporalReading | None = None
    complete: bool = False
    more: int = 0
    confidence: float | None = None
    unknown: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.statements)

    def __str__(self) -> str:
        return self.text

    def explain(self) -> str:
        """Why each statement was recalled: its score, each signal's contribution, the path. The
        first lines show the question and what it asks about time."""
        lines = [f"question: {one_line(self.question)}"]
        if self.time is not None and self.time.rules:
            lines.append(f"time: {one_line('; '.join(self.time.rules))}")
        if self.confidence is not None:
            unknown = f"; unknown: {one_line(', '.join(self.unknown))}" if self.unknown else ""
            lines.append(f"confidence: {self.confidence:.2f}{unknown}")
        if self.concepts:
            concepts = (
                f"{one_line(concept.label)}{' (essential)' if concept.essential else ''} "
                f"{concept.score:g} at t={concept.t_index}"
                for concept in self.concepts
            )
            lines.append(f"concepts: {', '.join(concepts)}")
        for statement in self.statements:
            score = "" if statement.score is None else f"  p={statement.score:.3f}"
            lines.append(
                f"[{one_line(statement.id)} t={statement.t_index}]{score}  "
                f"{one_line(statement.text)}"
            )
            if statement.contributions:
                ordered = strongest_first(statement.contributions)
                signals = " ".join(f"{name}{value:+.2f}" for name, value in ordered)
                lines.append(f"    {signals} intercept{self.intercept:+.2f}")
            lines += [f"    {one_line(step)}" for step in statement.path]
            if statement.superseded_by is not None:
                lines.append(f"    superseded by {one_line(statement.superseded_by)}")
            lines += [
                f"    {one_line(statement.text[it.start : it.end])} stands for "
                f"{one_line(it.label)}"
                + ("" if it.passage is None else f", as in {one_line(it.passage)}")
                for it in statement.references
            ]
        if self.complete or self.more:
            lines.append(f"matches: {self.more or 'none'} left out")
        return "\n".join(lines)


class Answer(str):
    """The answer to ``ask``: a ``str``, with the recalled ``context`` that the model was given."""

    __slots__ = ("context",)

    context: RecalledContext

    def __new__(cls, text: str, context: RecalledContext) -> Self:
        """``text`` is the model's answer, ``context`` what the model was given."""
        answer = super().__new__(cls, text)
        answer.context = context
        return answer
