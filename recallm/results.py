"""What users get back: the values that ``RecallM`` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recallm.model import StoredStatement, empty_mapping

__all__ = ["KnowledgeUpdate", "RankedConcept", "RecalledContext", "RecalledStatement", "Revision"]


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
    ``tokens`` is the length of ``text`` by the counter that was used. False where nothing was
    recalled.
    """

    question: str
    text: str = ""
    statements: tuple[RecalledStatement, ...] = ()
    concepts: tuple[RankedConcept, ...] = ()
    tokens: int = 0
    intercept: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.statements)

    def __str__(self) -> str:
        return self.text

    def explain(self) -> str:
        """Why each statement is there: its score, each signal's contribution, the path."""
        lines = [f"question: {self.question}"]
        if self.concepts:
            lines.append(
                "concepts: "
                + ", ".join(
                    f"{concept.label}{' (essential)' if concept.essential else ''} "
                    f"{concept.score:g} at t={concept.t_index}"
                    for concept in self.concepts
                )
            )
        for statement in self.statements:
            score = "" if statement.score is None else f"  p={statement.score:.3f}"
            lines.append(f"[{statement.id} t={statement.t_index}]{score}  {statement.text}")
            if statement.contributions:
                ordered = sorted(
                    statement.contributions.items(), key=lambda item: (-abs(item[1]), item[0])
                )
                lines.append(
                    "    "
                    + " ".join(f"{name}{value:+.2f}" for name, value in ordered if value)
                    + f" intercept{self.intercept:+.2f}"
                )
            lines += [f"    {step}" for step in statement.path]
        return "\n".join(lines)
