"""What tools return: a text for the model, and the same in values for programs.

Some clients show the values to a model too. No text in them can therefore be read as one of the
delimiters of recalled text, and the values open with the notice that recalled text is data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from recallm import KnowledgeUpdate
from recallm.adapting import NOTICE, FactReply, without_delimiters


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a tool: ``text`` for the model, ``values`` for the program."""

    text: str
    values: BaseModel | None = None


class Remembered(BaseModel):
    """What ``remember`` wrote."""

    id: str
    t_index: int
    statements: list[str] = Field(description="Ids.")
    concepts: list[str] = Field(description="Names.")

    @classmethod
    def of(cls, update: KnowledgeUpdate) -> Remembered:
        """The outcome of a knowledge update."""
        return cls(
            id=update.id,
            t_index=update.t_index,
            statements=list(update.statements),
            concepts=_harmless(list(update.concepts)),
        )


class Statements(BaseModel):
    """Statements in the order in which they became true."""

    notice: str
    # Clients check each result against the schema: a schema of every field takes them 10 ms.
    statements: list[dict[str, Any]] = Field(
        description="Each with id, text, t_index, timestamp (ISO 8601), speaker, source, session, "
        "score (0 to 1), concepts (names), passage (an id) and metadata; null where unknown."
    )
    left_out: int = Field(description="How many more there are.")

    @classmethod
    def of(cls, rows: list[dict[str, Any]], left_out: int) -> Statements:
        """The rows of the statements that are shown; ``left_out`` counts those that are not."""
        return cls(notice=NOTICE, statements=_harmless(rows), left_out=left_out)


class FactRows(BaseModel):
    """The results of a tool over facts."""

    notice: str
    rows: list[dict[str, Any]]

    @classmethod
    def of(cls, reply: FactReply) -> FactRows:
        """The rows that a tool over facts shows."""
        return cls(notice=NOTICE, rows=_harmless(reply.rows))


def _harmless(value: Any) -> Any:
    """JSON values in which no text can be read as a delimiter."""
    if isinstance(value, str):
        return without_delimiters(value)
    if isinstance(value, list):
        return [_harmless(each) for each in value]
    if isinstance(value, dict):
        return {_harmless(key): _harmless(each) for key, each in value.items()}
    return value
