"""A user's own Cypher: the one place where the text of a query is not ours.

Such a query may read the graph and nothing else. It runs in a read-only session, where the server
refuses every write. What a server lets readers do besides is found in the query's plan, which is
asked for first: files and addresses (``LOAD CSV``), procedures, the server's own state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import islice
from typing import Any, Final, LiteralString

from neo4j import ResultSummary
from neo4j.exceptions import ClientError, DatabaseError
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

from recallm.errors import InvalidInputError
from recallm.stores.cypher.reading import OPEN
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.transaction import Tx
from recallm.stores.neo4j.values import ENDLESS, key_of

__all__ = ["CYPHER_SCHEMA", "run_own_cypher"]

_NAMESPACE = "namespace"
_READING = "r"
_NEVER = -ENDLESS
_REFUSED: Final = {
    "AdministrationCommand": "administration",
    "LoadCSV": "LOAD CSV",
    "ProcedureCall": "CALL of a procedure",
    "Show": "SHOW",
    "TerminateTransactions": "TERMINATE TRANSACTIONS",
    "Transaction": "CALL { … } IN TRANSACTIONS",
}
"""What the names of operators begin with that do more than read the graph."""
_MOST_ROWS = 10_000
_TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"
_NOT_THE_QUERY = ("Neo.ClientError.Security", "Neo.ClientError.Database")
_NEEDS_ITS_OWN = "Neo.DatabaseError.Transaction.TransactionStartFailed"

CYPHER_SCHEMA: Final = """\
The graph holds entities and triplets (directed relations with a predicate between entities).
Every node in a MATCH must have the property namespace: $namespace. Queries may only read.

Nodes
(:RecallMEntity {namespace, key, id, type, label, concept, properties})
    id: the exact id of the entity; key: the same, to find it by the index (only of an id above
    1000 bytes another text); type and label: strings; concept: the name of the concept that it
    stands on, "" for none; properties: JSON text, to be matched as text, as in
    properties CONTAINS '"age": 28'.
(:RecallMTriplet {namespace, predicate, name, properties})
    A triplet is a node. name: its predicate; predicate: the same, to find it by the index (only of
    one above 1000 bytes another text); properties: JSON text.
(:RecallMUpdate {namespace, t, id, text, source, timestamp})
    What was told at t (1, 2, 3 …), and showed entities and triplets. id and text: those of the
    passage; neither where entities and triplets were told alone. timestamp: ISO 8601 text.
(:RecallMConcept {namespace, name, label, kind})

Relationships
(:RecallMTriplet)-[:SUBJECT]->(:RecallMEntity)
(:RecallMTriplet)-[:OBJECT]->(:RecallMEntity)
(:RecallMEntity)-[:SHOWN {properties}]->(:RecallMUpdate)
(:RecallMTriplet)-[:SHOWN {properties}]->(:RecallMUpdate)
    properties: JSON text of those that were told there, if any; the node's are all these merged.
(:RecallMEntity)-[:STANDS_ON]->(:RecallMConcept)

$namespace is given; other parameters are not.

Example: what the entity Ann is related to, in which way, and which passages say so
MATCH (s:RecallMEntity {namespace: $namespace, key: 'Ann'})
MATCH (s)<-[:SUBJECT]-(x:RecallMTriplet {namespace: $namespace})-[:OBJECT]->(o:RecallMEntity)
OPTIONAL MATCH (x)-[:SHOWN]->(u:RecallMUpdate {namespace: $namespace})
RETURN s.id AS subject, x.name AS predicate, o.id AS object, collect(u.id) AS passages
"""


def run_own_cypher(
    connection: Connection,
    namespace: str,
    query: str,
    parameters: Mapping[str, Any],
    *,
    timeout: float,
) -> list[dict[str, Any]]:
    """See ``Neo4jStore.cypher``."""
    if not timeout > 0:
        raise InvalidInputError("timeout must be above 0 seconds", argument="timeout")
    if _NAMESPACE in parameters:
        raise InvalidInputError(
            "the parameter $namespace is given by recallm; name yours otherwise",
            argument="parameters",
        )
    # LiteralString keeps what users write out of our queries. Here it is the query, as they ask
    # for: whatever it says, the server lets it read only.
    text: LiteralString = query  # pyright: ignore[reportAssignmentType]

    if "=~" in query:
        raise InvalidInputError(
            "=~ is not allowed here: the server cannot stop a regular expression that takes long; "
            "use CONTAINS or STARTS WITH",
            argument="query",
        )

    def work(tx: Tx) -> list[dict[str, Any]]:
        opened = tx.rows(OPEN, {"key": key_of(namespace), "now": _NEVER})[0]
        given = {**parameters, _NAMESPACE: opened["rows"]}
        try:
            explained = _explained(tx, text, given)
            _check(explained.query_type, explained.plan)
            found = tx.run(text, given)
            names = found.keys()
            given_back = [
                {name: _plain(value) for name, value in zip(names, row.values(), strict=True)}
                for row in islice(found, _MOST_ROWS + 1)
            ]
            if len(given_back) > _MOST_ROWS:
                raise InvalidInputError(
                    f"the query gives more than {_MOST_ROWS:,} rows; add a LIMIT", argument="query"
                )
            return given_back
        except (ClientError, DatabaseError) as error:
            refusal = _refusal(error, timeout)
            if refusal is None:
                raise
            raise refusal from error

    return connection.read(work, timeout=timeout)


def _explained(tx: Tx, text: LiteralString, parameters: dict[str, Any]) -> ResultSummary:
    try:
        return tx.run("EXPLAIN " + text, parameters).consume()
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"the server cannot be given these parameters: {error}", argument="parameters"
        ) from error


def _check(query_type: str | None, plan: Mapping[str, Any] | None) -> None:
    """Refuse a query that would do something other than read the graph."""
    if query_type != _READING:
        raise InvalidInputError(
            "the query would write; here it may only read the graph", argument="query"
        )
    for operator in _operators(plan or {}):
        for beginning, name in _REFUSED.items():
            if operator.startswith(beginning):
                raise InvalidInputError(
                    f"{name} is not allowed here: a query may only read the graph",
                    argument="query",
                )


def _operators(plan: Mapping[str, Any]) -> Iterator[str]:
    if plan:
        yield plan["operatorType"]
    for child in plan.get("children", ()):
        yield from _operators(child)


def _refusal(error: ClientError | DatabaseError, timeout: float) -> InvalidInputError | None:
    """What is wrong with the query; None where it is something else that failed."""
    code = error.code or ""
    if code.startswith(_TIMED_OUT):
        return InvalidInputError(
            f"the query took longer than {timeout:g} s; let it match less", argument="query"
        )
    if isinstance(error, ClientError) and not code.startswith(_NOT_THE_QUERY):
        return InvalidInputError(f"the server refused the query: {error.message}", argument="query")
    if code == _NEEDS_ITS_OWN:
        return InvalidInputError(f"the server refused the query: {error.message}", argument="query")
    return None


def _plain(value: Any) -> Any:
    """A value of the driver as one of Python: nodes and relationships are their properties."""
    match value:
        case Node():
            return {name: _plain(it) for name, it in value.items()}
        case Relationship():
            return {**{name: _plain(it) for name, it in value.items()}, "type": value.type}
        case Path():
            return {
                "nodes": [_plain(node) for node in value.nodes],
                "relationships": [_plain(it) for it in value.relationships],
            }
        case Point():
            return {"srid": value.srid, "coordinates": list(value)}
        case DateTime() | Date() | Time():
            return value.to_native()
        case Duration():
            return _duration(value)
        case list():
            items: list[Any] = value
            return [_plain(it) for it in items]
        case dict():
            entries: dict[str, Any] = value
            return {name: _plain(it) for name, it in entries.items()}
        case _:
            return value


def _duration(value: Duration) -> timedelta | str:
    """Months have no fixed length: a duration with some is its ISO 8601 text."""
    if value.months:
        return value.iso_format()
    return timedelta(days=value.days, seconds=value.seconds, microseconds=value.nanoseconds // 1000)
