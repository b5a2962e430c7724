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
from recallm.model import LARGEST_NUMBER
from recallm.stores.cypher.reading import OPEN
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.failures import ran_out_of_time
from recallm.stores.neo4j.transaction import Tx
from recallm.stores.neo4j.values import key_of

__all__ = ["CYPHER_SCHEMA", "run_own_cypher"]

_MOST_ROWS = 10_000
_REFUSED: Final = {
    "AdministrationCommand": "administration",
    "LoadCSV": "LOAD CSV",
    "ProcedureCall": "CALL of a procedure",
    "Show": "SHOW",
    "TerminateTransactions": "TERMINATE TRANSACTIONS",
    "Transaction": "CALL { … } IN TRANSACTIONS",
}
"""What the names of operators begin with that do more than read the graph."""
_NOT_THE_QUERY = ("Neo.ClientError.Security", "Neo.ClientError.Database")
"""How the codes of a client's errors begin that are no fault of its query."""
_IN_TRANSACTIONS = "Neo.DatabaseError.Transaction.TransactionStartFailed"
"""The code of a query that would have to run outside of a transaction."""

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
(:RecallMPredicate {namespace, name, triplets})
    name: a predicate; triplets: the number of the triplets that have it.
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
    if "namespace" in parameters:
        raise InvalidInputError(
            "the parameter $namespace is given by recallm; name yours otherwise",
            argument="parameters",
        )
    if "=~" in query:
        raise _refused(
            "=~ is not allowed here: the server cannot stop a regular expression that takes long; "
            "use CONTAINS or STARTS WITH"
        )
    # LiteralString keeps what users write out of our queries. Here it is the query, as they ask
    # for: whatever it says, the server lets it read only.
    text: LiteralString = query  # pyright: ignore[reportAssignmentType]

    def work(tx: Tx) -> list[dict[str, Any]]:
        opened = tx.rows(OPEN, {"key": key_of(namespace), "now": -LARGEST_NUMBER})[0]
        given = {**parameters, "namespace": opened["rows"]}
        try:
            _check(_explained(tx, text, given))
            found = tx.run(text, given)
            names = found.keys()
            fetched = [
                dict(zip(names, map(_plain, row.values()), strict=True))
                for row in islice(found, _MOST_ROWS + 1)
            ]
        except (ClientError, DatabaseError) as error:
            code = error.code or ""
            if ran_out_of_time(error):
                raise _refused(f"it took longer than {timeout:g} s; let it match less") from error
            is_its_fault = isinstance(error, ClientError) and not code.startswith(_NOT_THE_QUERY)
            if is_its_fault or code == _IN_TRANSACTIONS:
                raise _refused(f"the server refused it: {error.message}") from error
            raise
        if len(fetched) > _MOST_ROWS:
            raise _refused(f"it gives more than {_MOST_ROWS:,} rows; add a LIMIT")
        return fetched

    return connection.read(work, timeout=timeout)


def _explained(tx: Tx, query: LiteralString, parameters: Mapping[str, Any]) -> ResultSummary:
    try:
        return tx.run("EXPLAIN " + query, parameters).consume()
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"the server cannot be given these parameters: {error}", argument="parameters"
        ) from error


def _check(explained: ResultSummary) -> None:
    """Refuse a query that would do something other than read the graph."""
    if explained.query_type != "r":
        raise _refused("it would write; here it may only read the graph")
    for operator in _operators(explained.plan or {}):
        for beginning, name in _REFUSED.items():
            if operator.startswith(beginning):
                raise _refused(f"{name} is not allowed here: a query may only read the graph")


def _operators(plan: Mapping[str, Any]) -> Iterator[str]:
    if plan:
        yield plan["operatorType"]
    for child in plan.get("children", ()):
        yield from _operators(child)


def _refused(reason: str) -> InvalidInputError:
    return InvalidInputError(f"the query cannot be run: {reason}", argument="query")


def _plain(value: Any) -> Any:
    """A value of the driver as one of Python: nodes and relationships are their properties."""
    match value:
        case Node():
            return _plain(dict(value.items()))
        case Relationship():
            return _plain({**dict(value.items()), "type": value.type})
        case Path():
            return _plain({"nodes": [*value.nodes], "relationships": [*value.relationships]})
        case Point():
            return {"srid": value.srid, "coordinates": list(value)}
        case DateTime() | Date() | Time():
            return value.to_native()
        case Duration():
            # Months have no fixed length: a duration with some is its ISO 8601 text.
            return (
                value.iso_format()
                if value.months
                else timedelta(
                    days=value.days, seconds=value.seconds, microseconds=value.nanoseconds // 1000
                )
            )
        case list():
            items: list[Any] = value
            return [_plain(it) for it in items]
        case dict():
            entries: dict[str, Any] = value
            return {name: _plain(it) for name, it in entries.items()}
        case _:
            return value
