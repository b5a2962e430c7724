"""The context of a concept: its revised summary, then its later statements, in order."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, TypeAlias

from recallm.ground.untrusted_text import statement_line
from recallm.model import ConceptRow, Filter, StoredStatement, Summary, t_index_of

if TYPE_CHECKING:
    from recallm.stores.base import GraphReader

Context: TypeAlias = list[StoredStatement | Summary]
"""The summary in force, if any, then the statements after it."""


def concept_contexts(
    reader: GraphReader,
    concepts: Collection[ConceptRow],
    *,
    where: Filter,
    known: Collection[str] = (),
    with_summaries: bool = True,
) -> dict[str, Context]:
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
    contexts: dict[str, Context] = {}
    for name, ordered in keys.items():
        context: Context = [summaries[name]] if name in summaries else []
        context += [rows[key] for key in ordered if key in rows]
        if context:
            contexts[name] = context
    return contexts


def sentence(line: StoredStatement | Summary) -> str:
    """A line of a context after its speaker, with a full stop if it ends without punctuation."""
    text = line.text.rstrip()
    speaker = line.speaker if isinstance(line, StoredStatement) else None
    return statement_line(f"{text}." if text[-1:].isalnum() else text, speaker=speaker)
