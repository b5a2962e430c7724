"""The context of a concept: its revised summary, then its later statements, in order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recallm.ground.untrusted_text import statement_line
from recallm.model import ConceptRow, Filter, StoredStatement, Summary, t_index_of

if TYPE_CHECKING:
    from recallm.stores.base import GraphReader


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptContext:
    """The context of a concept: its summary in force, if any, then its later statements."""

    summary: Summary | None
    statements: tuple[StoredStatement, ...]

    def sentences(self) -> list[str]:
        """Its sentences, in order."""
        sentences = [sentence(each.text, each.speaker) for each in self.statements]
        return sentences if self.summary is None else [sentence(self.summary.text), *sentences]


def concept_contexts(
    reader: GraphReader,
    concepts: Collection[ConceptRow],
    *,
    where: Filter,
    known: Collection[str] = (),
    with_summaries: bool = True,
) -> dict[str, ConceptContext]:
    """The context of each of ``concepts`` that has one, by name, without the statements of the
    passages ``known``. With a filter, or without summaries, the statements that a summary covers
    take its place: a summary has no speaker and no time."""
    summaries = {
        concept.name: concept.summary
        for concept in concepts
        if concept.summary is not None and with_summaries and not where
    }
    mentions = reader.mentions([concept.name for concept in concepts], limit=None, where=where)
    keys = {
        name: [
            key
            for key in found.keys[::-1].tolist()
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
    """``text`` on one line after its speaker, with a full stop if it ends without punctuation."""
    text = text.rstrip()
    return statement_line(f"{text}." if text[-1:].isalnum() else text, speaker=speaker)
