"""Which statements later ones took the place of, whatever is asked.

Two things say so. Statements whose facts were all replaced or ended are superseded (as in
``ranking="paper"`` with symbolic revision). So are statements that state a relation of one value
("lives in"), where a later one states the same relation of the same concept (as in the default
ranking of questions about the present).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from recallm.model import Filter, StoredStatement, statement_key
from recallm.recall.predicates.held_facts import FactReading
from recallm.recall.predicates.states import stated_relations
from recallm.recall.ranking.completing import restated
from recallm.recall.retrieval.candidates import states_of
from recallm.recall.retrieval.relations import RelationIndex
from recallm.stores.base import GraphReader

_NEWEST = 256
"""The newest statements of a concept, among which later ones are looked for."""


def superseded_statements(
    reader: GraphReader,
    statements: Sequence[StoredStatement],
    index: RelationIndex | None,
) -> frozenset[int]:
    """The keys of the superseded ones of ``statements``. ``index`` knows the stored relations, None
    where there are no triplets."""
    return outdated_statements(reader, index, statements).union(_restated(reader, statements))


def outdated_statements(
    reader: GraphReader, index: RelationIndex | None, statements: Collection[StoredStatement]
) -> frozenset[int]:
    """The keys of the statements that state facts, all of which later evidence replaced or
    ended. ``index`` as in ``superseded_statements``."""
    if index is None:
        return frozenset()
    reading = FactReading(reader, index.relations, index.vocabulary)
    passages = {statement.passage_id for statement in statements}
    subjects = {triplet.subject for triplet in reader.triplets(passages=passages)}
    keys = {statement.key for statement in statements}
    stated = [
        evidence
        for evidence in reader.triplet_evidence(subjects=subjects)
        if statement_key(evidence.t_index, evidence.position) in keys
    ]
    current = {statement_key(each.t_index, each.position) for each in reading.current(stated)}
    claims = reading.claims(stated)
    return frozenset(statement_key(each.t_index, each.position) for each in claims) - current


def _restated(reader: GraphReader, statements: Sequence[StoredStatement]) -> Iterator[int]:
    """The keys of statements behind which another states the same of their first concept."""
    by_owner: defaultdict[str, dict[int, StoredStatement]] = defaultdict(dict)
    for row in statements:
        if row.concepts and stated_relations(row.text):
            by_owner[row.concepts[0].name][row.key] = row
    mentions = reader.mentions(by_owner, limit=_NEWEST, where=Filter()) if by_owner else {}
    for owner, own in by_owner.items():
        keys = mentions[owner].keys.tolist() if owner in mentions else ()
        rows = {row.key: row for row in reader.statements(keys)} | own
        read = [row for row in rows.values() if row.concepts and row.concepts[0].name == owner]
        states = states_of(read, [owner])
        yield from own.keys() & restated(read, states)
