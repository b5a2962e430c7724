"""The context of a concept: what the graph holds of it, in order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recallm.model import ConceptRow, Filter, StoredStatement, Summary, t_index_of
from recallm.untrusted_text import statement_line

if TYPE_CHECKING:
    from recallm.stores.base import GraphReader

__all__ = ["ConceptContext", "concept_contexts", "sentence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptContext:
    """The context of a concept: its summary in force, if any, then its later statements."""

    summary: Summary | None
    statements: tuple[StoredStatement, ...]

    def sentences(self) -> list[str]:
        """Its text, a sentence a string, in order."""
        said = [sentence(it.text, it.speaker) for it in self.statements]
        return said if self.summary is None else [sentence(self.summary.text), *said]


def concept_contexts(
    reader: GraphReader,
    concepts: Collection[ConceptRow],
    *,
    where: Filter,
    known: Collection[str] = (),
) -> dict[str, ConceptContext]:
    """The context of each of ``concepts`` that has one, by name, without the statements of the
    passages ``known``. With a filter, a summary stays out, since nothing says who said it and when;
    the statements that it covers stand for it."""
    summaries = {
        concept.name: concept.summary
        for concept in concepts
        if concept.summary is not None and not where
    }
    mentions = reader.mentions([concept.name for concept in concepts], limit=None, where=where)
    keys = {
        name: [
            key
            for key in reversed(found.keys)
            if name not in summaries or t_index_of(key) > summaries[name].t_index
        ]
        for name, found in mentions.items()
    }
    wanted = {key for ordered in keys.values() for key in ordered}
    rows = {row.key: row for row in reader.statements(wanted) if row.passage_id not in known}
    return {
        name: ConceptContext(
            summary=summaries.get(name),
            statements=tuple(rows[key] for key in ordered if key in rows),
        )
        for name, ordered in keys.items()
        if any(key in rows for key in ordered) or name in summaries
    }


def sentence(text: str, speaker: str | None = None) -> str:
    """The line of ``text``, with a full stop where it ends without any, after its speaker."""
    said = text.rstrip()
    return statement_line(f"{said}." if said[-1:].isalnum() else said, speaker=speaker)
