"""A user's own Cypher: the one place where the text of a query is not ours.

Such a query may read the graph and nothing else. It runs in a read-only session, where the server
refuses every write. What a server lets readers do besides is found in the query's plan, which is
asked for first: files and addresses (``LOAD CSV``), procedures, the server's own state.

The plan also shows where the query enters the graph: by an index, under the namespace's number, or
the query is refused. No relationship leads from one namespace to another, so that what is reached
from there is of the namespace too.
"""

from __future__ import annotations

import re
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
from recallm.stores.cypher.reader_queries import OPEN
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.failures import ran_out_of_time
from recallm.stores.neo4j.transaction import Tx
from recallm.stores.neo4j.values import key_of

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
_ENTERS: Final = re.compile("Scan|Seek|CountStore")
"""What the names of all operators hold that find nodes or relationships in the whole graph."""
_SEEKS: Final = re.compile(
    r"(?:Node(?:Unique)?IndexSeek(?:ByRange)?|(?:Und|D)irectedRelationship(?:Unique)?IndexSeek"
    r"(?:ByRange)?)"
)
"""Operators that find them by one index."""
_BOUND: Final = re.compile(
    r"(?:UNIQUE|RANGE INDEX) (?:\w+:\w+|\(\w+\)<?-\[\w+:\w+)\(namespace(?:, \w+)*\)"
    r"(?:\]->?\(\w+\))? WHERE namespace = \$namespace(?: AND .*|, cache\[.*)?",
    re.DOTALL,
)
"""The details of an index seek within the namespace. A name in backticks is none of these words."""
_QUOTED: Final = re.compile(r"""`[^`]*`|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
_NESTED: Final = re.compile(r"\b(?:EXISTS|COUNT|COLLECT) *\{|\bMATCH\b")
"""A subquery inside an expression: its plan is not shown."""
_NOT_THE_QUERY = ("Neo.ClientError.Security", "Neo.ClientError.Database")
"""How the codes of a client's errors begin that are no fault of its query."""
_IN_TRANSACTIONS = "Neo.DatabaseError.Transaction.TransactionStartFailed"
"""The code of a query that would have to run outside of a transaction."""

CYPHER_SCHEMA: Final = """\
The graph holds concepts, the statements that mention them, entities, and triplets (directed
relations with a predicate between entities). Queries may only read. Give every node in a MATCH a
label and the property namespace: $namespace; a query that begins at other nodes is refused. A node
without label and properties, which is reached from those, needs none.

Nodes
(:Concept {namespace, name, label, kind, t_index, updates, statements, namespace_name})
    name: lower case, the stem of a word, as in 'brandon'; label: as written first, as in 'Brandon';
    kind: "name", "noun" …; t_index: the t of the latest update that touches the concept; updates
    and statements: how many do; namespace_name: the name of the namespace.
(:Statement {namespace, key, text, start, end})
    A sentence, newest last by key.
(:Update {namespace, t, id, text, source, session, speaker, timestamp})
    What was told at t (1, 2, 3 …), and showed entities and triplets. id and text: those of the
    passage; neither where entities and triplets were told alone. timestamp: ISO 8601 text.
(:Entity {namespace, key, id, type, label, concept, properties})
    id: the exact id of the entity; key: the same (only of an id above 1000 bytes another text),
    with the label RecallMEntity found by an index; type and label: strings; concept: the name of
    the concept that it stands on, "" for none; properties: JSON text, to be matched as text, as in
    properties CONTAINS '"age": 28'.
(:Triplet {namespace, predicate, name, properties})
    A triplet is a node. name: its predicate; predicate: the same (only of one above 1000 bytes
    another text), with the label RecallMTriplet found by an index; properties: JSON text.

Relationships
(:Concept)-[:RELATED {strength, t_index, ts}]-(:Concept)
    Match without a direction. strength: how many updates show the relation; t_index: the t of the
    latest; ts: a list of the t of all.
(:Update)-[:HAS]->(:Statement)
(:Statement)-[:MENTIONS]->(:Concept)
(:Statement)-[:REFERS_TO]->(:Update)
    To the passage that a pronoun of the statement refers to.
(:RecallMSummary {text, t_index})-[:SUMMARISES]->(:Concept)
(:Triplet)-[:SUBJECT]->(:Entity)
(:Triplet)-[:OBJECT]->(:Entity)
(:Entity)-[:SHOWN {properties}]->(:Update)
(:Triplet)-[:SHOWN {properties}]->(:Update)
    properties: JSON text of those that were told there, if any; the node's are all these merged.
(:Entity)-[:STANDS_ON]->(:Concept)

$namespace is given; other parameters are not.

Example: what the entity Ann is related to, in which way, and which passages say so
MATCH (s:RecallMEntity {namespace: $namespace, key: 'Ann'})
MATCH (s)<-[:SUBJECT]-(x:Triplet {namespace: $namespace})-[:OBJECT]->(o)
OPTIONAL MATCH (x)-[:SHOWN]->(u)
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
        nothing = {"now": -LARGEST_NUMBER, "withdrawn_by": -1, "limit": 0}
        opened = tx.rows(OPEN, {"key": key_of(namespace), **nothing})[0]
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
    for operator, details in _operators(explained.plan or {}):
        for beginning, name in _REFUSED.items():
            if operator.startswith(beginning):
                raise _refused(f"{name} is not allowed here: a query may only read the graph")
        if _NESTED.search(_QUOTED.sub("quoted", details)):
            raise _refused(
                "the server does not show how it runs a subquery inside an expression; put the "
                "subquery into a WHERE, an OPTIONAL MATCH or a CALL of its own"
            )
        if _ENTERS.search(operator) and not (
            _SEEKS.fullmatch(operator) and _BOUND.fullmatch(details)
        ):
            raise _refused(
                f"it would read other namespaces too, by {operator} {details}; give each node of "
                "a MATCH, or that at which it begins, a label (Concept, Statement, Update, "
                "Entity or Triplet) and {namespace: $namespace}"
            )


def _operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The name of each operator, without that of the database, and its details."""
    if plan:
        yield plan["operatorType"].partition("@")[0], plan["args"].get("Details") or ""
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
            return [_plain(item) for item in items]
        case dict():
            entries: dict[str, Any] = value
            return {name: _plain(entry) for name, entry in entries.items()}
        case _:
            return value
