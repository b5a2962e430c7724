"""What users get back: the values that ``RecallM`` returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar

from recallm.model import (
    MAX_POSITION,
    StoredStatement,
    Summary,
    TemporalReading,
    empty_mapping,
    parse_statement_id,
)
from recallm.untrusted_text import one_line, statement_line

__all__ = [
    "Answer",
    "KnowledgeUpdate",
    "RankedConcept",
    "RecalledContext",
    "RecalledStatement",
    "Revision",
    "chronological",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What became of one context revision.

    ``text`` is the new context; None where the old one stays, and then ``reason`` says why.
    """

    concept: str
    text: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeUpdate:
    """What one knowledge update wrote.

    ``statements`` are ids, ``concepts`` names in textual order, ``relations`` pairs of names.
    Where ``duplicate`` is true nothing was written, and ``t_index`` is that of the passage that
    was there already. ``revisions`` tells of the context revisions that it set off.
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
    """A statement that was recalled, or that a history holds.

    ``score`` is the model's probability (0 to 1) that it helps to answer, None where nothing was
    asked (``history``) or the paper's ranking chose it. ``contributions`` maps each signal to
    what it added to the log-odds; ``path`` says how the statement was reached.
    """

    id: str
    text: str
    t_index: int
    position: int
    timestamp: datetime | None
    speaker: str | None
    source: str | None
    session: str | None
    metadata: Mapping[str, Any]
    concepts: tuple[str, ...]
    score: float | None = None
    contributions: Mapping[str, float] = field(default_factory=empty_mapping)
    path: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """It on one line with its date and speaker, as in ``RecalledContext.text``."""
        return statement_line(self.text, speaker=self.speaker, timestamp=self.timestamp)

    @property
    def passage(self) -> str | None:
        """The id of the passage that it is a sentence of; None for a revised context."""
        parsed = parse_statement_id(self.id)
        return None if parsed is None or self.position == MAX_POSITION else parsed[0]

    @classmethod
    def of(
        cls,
        stored: StoredStatement,
        *,
        score: float | None = None,
        contributions: Mapping[str, float] | None = None,
        path: tuple[str, ...] = (),
    ) -> RecalledStatement:
        """The public face of a stored statement."""
        return cls(
            id=stored.id,
            text=stored.text,
            t_index=stored.t_index,
            position=stored.position,
            timestamp=stored.timestamp,
            speaker=stored.speaker,
            source=stored.source,
            session=stored.session if stored.session is not None else stored.source,
            metadata=stored.metadata,
            concepts=tuple(mention.name for mention in stored.concepts),
            score=score,
            contributions=contributions or empty_mapping(),
            path=path,
        )

    @classmethod
    def of_summary(
        cls,
        summary: Summary,
        *,
        score: float | None = None,
        contributions: Mapping[str, float] | None = None,
    ) -> RecalledStatement:
        """A concept's revised context as one more statement, true since its t_index."""
        return cls(
            id=f"summary:{summary.concept}@{summary.t_index}",
            text=summary.text,
            t_index=summary.t_index,
            position=MAX_POSITION,
            timestamp=None,
            speaker=None,
            source=None,
            session=None,
            metadata=empty_mapping(),
            concepts=(summary.concept,),
            score=score,
            contributions=contributions or empty_mapping(),
            path=(f"revised context of {summary.concept}",),
        )


class _Said(Protocol):
    @property
    def timestamp(self) -> datetime | None: ...
    @property
    def t_index(self) -> int: ...
    @property
    def position(self) -> int: ...


_S = TypeVar("_S", bound=_Said)


def chronological(statements: Iterable[_S]) -> list[_S]:
    """In the order in which they became true: by timestamp where all have one, else by t_index;
    then by position."""
    ordered = sorted(statements, key=lambda it: (it.t_index, it.position))
    if all(it.timestamp is not None for it in ordered):
        ordered.sort(key=lambda it: (it.timestamp, it.t_index, it.position))
    return ordered


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedConcept:
    """A concept that took part in a recall; ``score`` by the ranking in use."""

    name: str
    label: str
    t_index: int
    score: float
    essential: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledContext:
    """What a question gets back.

    ``text`` is ready for a prompt; ``statements`` stand in the order in which they became true;
    ``tokens`` is the length of ``text`` by the counter that was used; ``time`` what the question
    asks of time, None where the ranking does not read it. False where nothing was recalled.
    """

    question: str
    text: str = ""
    statements: tuple[RecalledStatement, ...] = ()
    concepts: tuple[RankedConcept, ...] = ()
    tokens: int = 0
    intercept: float = 0.0
    time: TemporalReading | None = None

    def __bool__(self) -> bool:
        return bool(self.statements)

    def __str__(self) -> str:
        return self.text

    def explain(self) -> str:
        """Why each statement is there: its score, each signal's contribution, the path; before
        them which rules the question's tense and words of time set off."""
        lines = [f"question: {one_line(self.question)}"]
        if self.time is not None and self.time.rules:
            lines.append(f"time: {one_line('; '.join(self.time.rules))}")
        if self.concepts:
            lines.append(
                "concepts: "
                + ", ".join(
                    f"{one_line(concept.label)}{' (essential)' if concept.essential else ''} "
                    f"{concept.score:g} at t={concept.t_index}"
                    for concept in self.concepts
                )
            )
        for statement in self.statements:
            score = "" if statement.score is None else f"  p={statement.score:.3f}"
            lines.append(
                f"[{one_line(statement.id)} t={statement.t_index}]{score}  "
                f"{one_line(statement.text)}"
            )
            if statement.contributions:
                ordered = sorted(
                    statement.contributions.items(), key=lambda item: (-abs(item[1]), item[0])
                )
                lines.append(
                    "    "
                    + " ".join(f"{name}{value:+.2f}" for name, value in ordered if value)
                    + f" intercept{self.intercept:+.2f}"
                )
            lines += [f"    {one_line(step)}" for step in statement.path]
        return "\n".join(lines)


class Answer(str):
    """What ``ask`` gives back: the model's answer, a ``str``, with the ``context`` it was given."""

    __slots__ = ("context",)

    context: RecalledContext

    def __new__(cls, text: str, context: RecalledContext) -> Answer:
        """``text`` is what the model answered, stripped; ``context`` what it was given."""
        answer = super().__new__(cls, text)
        answer.context = context
        return answer
