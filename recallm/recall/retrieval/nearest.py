"""Reads what the rankings by embedding order: the nearest statements, and those of entities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recallm.model import (
    ConceptRow,
    Filter,
    Question,
    StoredStatement,
    TemporalAnchor,
    canonical_json,
)
from recallm.recall.ranking.budget import EqualSentences, SentenceKey
from recallm.recall.ranking.ement import NearStatement
from recallm.recall.ranking.stem_counts import Floats
from recallm.recall.request import RecallRequest
from recallm.stores.base import GraphReader


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedQuestion:
    """A question under an embedding model.

    ``vector`` is a unit vector of shape (dimension,). ``nearest(reader, n)`` gives the keys of the
    ``n`` statements of greatest cosine with it, with their cosines, greatest first; fewer where
    there are fewer. The view may hide some of them: they are read by key before they are used.
    ``asked`` is the unit vector of what is asked for, where the question also says when
    (``Question.when``).
    """

    model: str
    vector: Floats
    nearest: Callable[[GraphReader, int], Sequence[tuple[int, float]]]
    asked: Floats | None = None

    def of_asked(self, when: TemporalAnchor | None) -> Floats:
        """The vector of the question without ``when``, where that is known."""
        return self.vector if when is None or self.asked is None else self.asked


def read_nearest(
    reader: GraphReader, vector: EmbeddedQuestion | None, request: RecallRequest, *, wanted: int
) -> list[NearStatement]:
    """The ``wanted`` nearest statements that may be recalled, nearest first, of equal sentences the
    latest; none without vectors. The index is asked for four times as many each time, until
    ``wanted`` are found or it has no more."""
    if vector is None:
        return []
    equals = EqualSentences()
    found: dict[SentenceKey, NearStatement] = {}
    done: set[int] = set()
    size = 4 * wanted
    while True:
        nearest = vector.nearest(reader, size)
        fresh = {key: cosine for key, cosine in nearest if key not in done}
        rows = {row.key: row for row in request.as_days(reader.statements(fresh))}
        for key, cosine in fresh.items():
            row = rows.get(key)
            if row is None or row.passage_id in request.known or not meets(row, request.where):
                continue
            sentence = equals.key(row)
            equal = found.get(sentence)
            if equal is None:
                if len(found) == wanted:
                    break
                found[sentence] = NearStatement(row, cosine)
            elif equals.prefers(row, equal.statement):
                found[sentence] = NearStatement(row, cosine)
        if len(found) == wanted or len(nearest) < size:
            return list(found.values())
        done.update(fresh)
        size *= 4


def read_entity_statements(
    reader: GraphReader, question: Question, request: RecallRequest
) -> tuple[list[StoredStatement], dict[str, ConceptRow]]:
    """The newest statements of each of the question's concepts, ``candidate_limit`` of each, and
    the stored rows of these concepts, by name."""
    names = [concept.name for concept in question.concepts]
    if not names:
        return [], {}
    mentions = reader.mentions(names, limit=request.config.candidate_limit, where=request.where)
    keys = {key for found in mentions.values() for key in found.keys.tolist()}
    rows = request.as_days(reader.statements(keys))
    statements = [row for row in rows if row.passage_id not in request.known]
    return statements, {row.name: row for row in reader.concepts(names)}


def meets(statement: StoredStatement, where: Filter) -> bool:
    """Whether a statement that was reached by way of another one meets every condition of
    ``where``, as a store decides it."""
    if where.speaker is not None and statement.speaker != where.speaker:
        return False
    if where.session is not None and statement.session_name != where.session:
        return False
    if where.path is not None and (
        statement.item_path is None or statement.item_path[: len(where.path)] != where.path
    ):
        return False
    for bound, sign in ((where.since, 1), (where.until, -1)):
        if not _on_side(statement, bound, sign):
            return False
    return all(
        name in statement.metadata
        and canonical_json(statement.metadata[name]) == canonical_json(value)
        for name, value in where.metadata.items()
    )


def _on_side(statement: StoredStatement, bound: int | datetime | None, sign: int) -> bool:
    if bound is None:
        return True
    if isinstance(bound, datetime):
        said = statement.timestamp
        return said is not None and (said >= bound if sign > 0 else said <= bound)
    return (statement.t_index - bound) * sign >= 0
