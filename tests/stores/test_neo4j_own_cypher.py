"""A user's own Cypher: it reads the graph as the schema text says it is, and does nothing else."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from datetime import time as daytime
from pathlib import Path
from typing import Any, LiteralString

import pytest
from neo4j import Driver

from recallm.errors import ClosedError, InvalidInputError
from recallm.model import PreparedUpdate, Selection
from recallm.stores.neo4j import Neo4jStore
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.topics.base import snapshot_of
from tests.stores.neo4j_tools import rich


def _filled(store: Neo4jStore, namespace: str) -> None:
    graph = PreparedUpdate(
        id="p",
        text=None,
        entities=(entity("ann", "Ann", properties={"age": 4}), entity("bo", "Bo")),
        triplets=(triplet("ann", "KNOWS", "bo"),),
    )
    store.apply(namespace, [prepared("p", "[Ann] met [Bo]"), graph])


def test_the_example_runs(store: Neo4jStore, namespace: str) -> None:
    """As it stands in the schema text."""
    for name in (namespace, f"{namespace}-other"):
        graph = PreparedUpdate(
            id="p",
            text=None,
            entities=(entity("Ann", "Ann", properties={"age": 28}), entity("bo", "Bo")),
            triplets=(triplet("Ann", "KNOWS", "bo"),),
        )
        store.apply(name, [prepared("p", "[Ann] met [Bo]"), graph])
    schema, example = Neo4jStore.cypher_schema.split("Example: ")
    query = example.partition("\n")[2]
    assert store.cypher(namespace, query, {}) == [
        {"subject": "Ann", "predicate": "KNOWS", "object": "bo", "passages": ["p"]}
    ]
    assert store.cypher(f"{namespace}-empty", query, {}) == []
    [condition] = [line.strip() for line in schema.splitlines() if "CONTAINS" in line]
    aged = f"MATCH (e:Entity {{namespace: $namespace}}) WHERE e.{condition[:-1]} RETURN e.id"
    assert store.cypher(namespace, aged, {}) == [{"e.id": "Ann"}]


def test_the_schema_text_says_what_is_there(store: Neo4jStore, namespace: str) -> None:
    """Each label, property and relationship that it names."""
    _filled(store, namespace)
    [found] = store.cypher(
        namespace,
        """MATCH (x:Triplet {namespace: $namespace})-[:SUBJECT]->(e:Entity)
        MATCH (x)-[:OBJECT]->(o:Entity) MATCH (x)-[:SHOWN]->(u:Update)
        MATCH (e)-[:SHOWN]->(u) MATCH (e)-[:STANDS_ON]->(c:Concept)
        MATCH (u)-[:HAS]->(s:Statement)-[:MENTIONS]->(c)
        RETURN s {.text} AS s, x {.name, .predicate, .properties} AS x,
            e {.key, .id, .type, .label, .concept, .properties} AS e,
            o.id AS o, u {.t, .id, .text} AS u, c {
                .name, .label, .kind, .t_index, .updates, .statements, .namespace_name
            } AS c""",
    )
    assert found == {
        "s": {"text": "Ann met Bo"},
        "x": {"name": "KNOWS", "predicate": "KNOWS", "properties": "{}"},
        "e": {
            "key": "ann",
            "id": "ann",
            "type": "Thing",
            "label": "Ann",
            "concept": "ann",
            "properties": '{"age": 4}',
        },
        "o": "bo",
        "u": {"t": 1, "id": "p", "text": "Ann met Bo"},
        "c": {
            "name": "ann",
            "label": "Ann",
            "kind": "name",
            "t_index": 1,
            "updates": 1,
            "statements": 1,
            "namespace_name": namespace,
        },
    }


def test_rows_of_a_namespace_that_was_forgotten(store: Neo4jStore, namespace: str) -> None:
    """``$namespace`` is what the rows have now."""
    count = "MATCH (e:Entity {namespace: $namespace}) RETURN count(e) AS count"
    _filled(store, namespace)
    assert store.cypher(namespace, count) == [{"count": 2}]
    store.forget(namespace, Selection(kind="everything", value=True))
    assert store.cypher(namespace, count) == [{"count": 0}]
    _filled(store, namespace)
    assert store.cypher(namespace, count) == [{"count": 2}]


def test_values_are_those_of_python(store: Neo4jStore, namespace: str) -> None:
    """Nothing of the driver comes out."""
    _filled(store, namespace)
    [found] = store.cypher(
        namespace,
        """MATCH path = (x:Triplet {namespace: $namespace})-[r:SUBJECT]->(e)
        RETURN path, r, [{node: e.id}, null, 1.5, true] AS mixed,
            datetime('2026-01-02T03:04:05.000006Z') AS instant, date('2026-01-02') AS day,
            localtime('03:04') AS time, localdatetime('2026-01-02T03:04') AS local,
            duration('P1DT2S') AS duration, duration('P1M') AS month,
            point({x: 1, y: 2}) AS point, $mine AS mine""",
        {"mine": [1, "a"]},
    )
    path = found.pop("path")
    assert [set(node) >= {"namespace"} for node in path["nodes"]] == [True, True]
    assert path["nodes"][1]["id"] == "ann"
    assert path["relationships"] == [{"type": "SUBJECT"}]
    assert found == {
        "r": {"type": "SUBJECT"},
        "mixed": [{"node": "ann"}, None, 1.5, True],
        "instant": datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        "day": date(2026, 1, 2),
        "time": daytime(3, 4),
        "local": datetime.fromisoformat("2026-01-02T03:04"),
        "duration": timedelta(days=1, seconds=2),
        "month": "P1M",
        "point": {"srid": 7203, "coordinates": [1.0, 2.0]},
        "mine": [1, "a"],
    }
    assert [type(found[name]) for name in ("instant", "day", "time")] == [datetime, date, daytime]


_WRITES = (
    "CREATE (n:Evil) RETURN n",
    "MATCH (n {namespace: $namespace}) SET n.evil = 1",
    "MATCH (n {namespace: $namespace}) REMOVE n.id",
    "MATCH (n {namespace: $namespace}) DETACH DELETE n",
    "MERGE (n:Evil) RETURN n",
    "FOREACH (x IN [1] | CREATE (:Evil))",
    "MATCH (n {namespace: $namespace}) CALL (n) { SET n.evil = 1 } IN TRANSACTIONS",
    "CALL { RETURN 1 AS x } IN TRANSACTIONS RETURN x",
    "CREATE INDEX evil FOR (n:Evil) ON (n.x)",
    "DROP CONSTRAINT recallm_schema",
    "CREATE USER evil SET PASSWORD 'password'",
    "CALL db.createLabel('Evil')",
    "CALL db.labels()",
    "CALL dbms.listConfig()",
    "SHOW SETTINGS",
    "SHOW USERS",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    "PROFILE CREATE (n:Evil)",
    "CYPHER runtime=slotted PROFILE MATCH (n) RETURN n",
    "RETURN 1; CREATE (n:Evil)",
    "// a comment\nCREATE (n:Evil)",
)


def test_a_query_reads_and_nothing_else(store: Neo4jStore, driver: Driver, namespace: str) -> None:
    """Whatever else it would do is refused, and is not done."""
    store.apply(namespace, [rich("1")])
    before = snapshot_of(store, namespace)
    for query in _WRITES:
        with pytest.raises(InvalidInputError) as failure:
            store.cypher(namespace, query)
        assert failure.value.argument == "query", query
    assert snapshot_of(store, namespace) == before
    assert driver.execute_query("MATCH (n:Evil) RETURN n").records == []


def test_files_are_not_read(store: Neo4jStore, namespace: str, tmp_path: Path) -> None:
    """A read-only session would read them: the plan of the query shows that it does."""
    secret = tmp_path / "secret.csv"
    secret.write_text("secret\n")
    for query in (
        "LOAD CSV FROM $url AS row RETURN row",
        "load  csv with headers from $url as row return row",
        "LOAD /* x */ CSV FROM $url AS row RETURN row",
        "UNWIND [1] AS x CALL (x) { LOAD CSV FROM $url AS row RETURN row } RETURN row",
        "CYPHER runtime=slotted LOAD CSV FROM $url AS row RETURN row",
    ):
        with pytest.raises(InvalidInputError, match="LOAD CSV is not allowed"):
            store.cypher(namespace, query, {"url": secret.as_uri()})


def test_text_that_only_looks_dangerous(store: Neo4jStore, namespace: str) -> None:
    """It is the plan that counts, not the words."""
    said = "LOAD CSV, CREATE, DELETE // SHOW"
    assert store.cypher(namespace, f"RETURN '{said}' AS CREATE") == [{"CREATE": said}]


_WRONG: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("MATCH (n RETURN n", {}, "query", "Invalid input 'RETURN'"),
    ("", {}, "query", "end of input"),
    ("RETURN $missing", {}, "query", "missing"),
    ("RETURN 1 / 0", {}, "query", "by zero"),
    ("RETURN 1", {"namespace": "mine"}, "parameters", "name yours otherwise"),
    ("RETURN $x", {"x": object()}, "parameters", "cannot be given"),
    ("RETURN $x", {"x": 1 << 70}, "parameters", "cannot be given"),
)


def test_what_is_wrong_is_said(store: Neo4jStore, namespace: str) -> None:
    """In the server's words, where it is the server that says it."""
    for query, parameters, argument, message in _WRONG:
        with pytest.raises(InvalidInputError, match=message) as failure:
            store.cypher(namespace, query, parameters)
        assert failure.value.argument == argument, query


_ANSWERS: list[list[dict[str, Any]]] = [
    [
        {"d.name": "ann", "r.strength": 2, "r.t_index": 2},
    ],
    [{"both.name": "ann"}],
    [{"s.text": "Brandon met Ann"}, {"s.text": "Brandon saw Ann in Lisbon"}],
    [{"s.text": "Brandon saw Ann in Lisbon"}, {"s.text": "Brandon met Ann"}],
    [{"u.id": "p2", "u.speaker": "Eve"}, {"u.id": "p3", "u.speaker": None}],
    [
        {"c.label": "Cy", "c.t_index": 3},
        {"c.label": "Dee", "c.t_index": 3},
        {"c.label": "Ann", "c.t_index": 2},
    ],
    [{"c.label": "Ann", "c.statements": 3}, {"c.label": "Brandon", "c.statements": 2}],
    [{"way": ["brandon", "ann", "cy", "dee"]}],
    [{"s.text": "Brandon met Ann"}, {"s.text": "Ann met Cy"}],
    [{"x.name": "KNOWS", "o.id": "Ann", "passages": ["p1"]}],
]


def test_the_ten_queries_of_the_docs(store: Neo4jStore, driver: Driver, namespace: str) -> None:
    """Each answers, from one namespace only but for the first, which reads all."""
    for name in (namespace, f"{namespace}-other"):
        updates = (
            prepared("p1", "[Brandon] saw [Ann] in [Lisbon]"),
            PreparedUpdate(
                id="p1",
                text=None,
                entities=(entity("Brandon", "Brandon"), entity("Ann", "Ann")),
                triplets=(triplet("Brandon", "KNOWS", "Ann"),),
            ),
            prepared("p2", "[Brandon] met [Ann]", "[Ann] met [Cy]", speaker="Eve"),
            prepared("p3", "[Cy] met [Dee]"),
        )
        store.apply(name, updates)
    page = (Path(__file__).parents[2] / "docs" / "neo4j.md").read_text()
    queries = [block.partition("```")[0] for block in page.split("```cypher\n")[1:]]
    assert len(queries) == 10
    every: LiteralString = queries[0].replace(  # pyright: ignore[reportAssignmentType]
        "'brandon'})", "'brandon', namespace_name: $name})"
    )
    found, _, _ = driver.execute_query(every, name=namespace)
    answers = [[row.data() for row in found]]
    answers += [store.cypher(namespace, query) for query in queries[1:]]
    for query, answer, expected in zip(queries, answers, _ANSWERS, strict=True):
        assert sorted(map(repr, answer)) == sorted(map(repr, expected)), query
        if "ORDER BY" in query:
            assert answer == expected, query
    with pytest.raises(InvalidInputError, match="other namespaces"):
        store.cypher(namespace, queries[0])


_BEYOND = (
    "MATCH (n) RETURN n",
    "MATCH (n) WHERE n.namespace = $namespace RETURN n",
    "MATCH (n) RETURN count(n)",
    "MATCH ()-[r]->() RETURN count(r)",
    "MATCH ()-[r:RELATED]->() RETURN r",
    "MATCH (n:$($label)) RETURN n",
    "MATCH (n) WHERE elementId(n) = '4:x:1' RETURN n",
    "MATCH (n) WHERE id(n) = 1 RETURN n",
    "MATCH (c:Concept) RETURN c.name",
    "MATCH (c:Concept {name: 'ann'}) RETURN c",
    "MATCH (n:RecallMNamespace) RETURN n.name",
    "MATCH (c:Concept) WHERE c.namespace = $namespace OR c.name = 'ann' RETURN c",
    "MATCH (c:Concept) WHERE c.namespace IN [$namespace, $namespace + 1] RETURN c",
    "MATCH (c:Concept {namespace: $namespace + 1}) RETURN c",
    "MATCH (c:Concept) WHERE c.namespace > 0 RETURN c",
    "MATCH (c:Concept) WHERE c.namespace >= $namespace RETURN c",
    "MATCH (c:Concept {namespace: $namespace}) OPTIONAL MATCH (u:Update) RETURN c, u",
    "MATCH (c:Concept {namespace: $namespace}), (s:Statement) RETURN c, s",
    "MATCH (c:Concept {namespace: $namespace}) RETURN c UNION MATCH (c:Concept) RETURN c",
    "MATCH (c:Concept {namespace: $namespace}) CALL () { MATCH (u:Update) RETURN u } RETURN u",
    "MATCH (c:Concept {namespace: $namespace}) WHERE EXISTS { (:Update {id: 'p'}) } RETURN c",
    "MATCH (c:Concept {namespace: $namespace}) RETURN COUNT { (:Update) } AS n",
    """MATCH (c:Concept {namespace: $namespace})
    RETURN CASE WHEN EXISTS { (:Update {id: 'p'}) } THEN 1 END AS x""",
    "RETURN [x IN [1] | [(u:Update)-[:HAS]->(s) | s.text]] AS x",
    "RETURN [x IN [1] | COLLECT { MATCH (u:Update) RETURN u.text }] AS x",
    "RETURN [x IN [1] WHERE EXISTS { (:Update {id: 'p'}) } | x] AS x",
    "MATCH (`c WHERE namespace = $namespace`:Concept {namespace: 5}) RETURN 1",
    "CYPHER runtime=slotted MATCH (c:Concept) RETURN c",
    "WITH 5 AS namespace MATCH (c:Concept {namespace: namespace}) RETURN c",
)


def test_other_namespaces_are_not_read(store: Neo4jStore, namespace: str) -> None:
    """Each way into the graph that is not bound to the namespace, wherever in the query."""
    _filled(store, namespace)
    for query in _BEYOND:
        with pytest.raises(InvalidInputError, match=r"other namespaces|subquery") as failure:
            store.cypher(namespace, query, {"label": "Concept"})
        assert failure.value.argument == "query", query


_WITHIN = (
    ("RETURN 1 AS x", 1),
    ("UNWIND [1, 2] AS x RETURN x", 2),
    ("MATCH (c:Concept {namespace: $namespace}) RETURN c", 2),
    ("MATCH (c:Concept {namespace: $namespace, name: 'ann'}) RETURN c", 1),
    ("MATCH (c:Concept {name: 'ann'}) WHERE c.namespace = $namespace RETURN c", 1),
    ("MATCH (c:Concept) WHERE c.namespace = $namespace AND c.name >= 'b' RETURN c", 1),
    ("MATCH (c:Concept {namespace: $namespace}) WHERE c.name CONTAINS 'n' RETURN c", 1),
    ("MATCH (c:Concept {namespace: $namespace}) WHERE c.name STARTS WITH 'a' RETURN c", 1),
    ("MATCH (c:Concept {namespace: $namespace}) WHERE c.name IN ['ann', 'bo'] RETURN c", 2),
    ("MATCH (u:Update {namespace: $namespace, t: 1})-[:HAS]->(s) RETURN s.text", 1),
    ("MATCH (s:Statement {namespace: $namespace}) RETURN s ORDER BY s.key DESC LIMIT 1", 1),
    ("MATCH (e:RecallMEntity {namespace: $namespace, key: 'ann'}) RETURN e", 1),
    ("MATCH (e)-[b:BEARS {namespace: $namespace, word: 'ann'}]->() RETURN e", 1),
    (
        """MATCH (a:Concept {namespace: $namespace, name: 'ann'}),
        (b:Concept {namespace: $namespace, name: 'bo'}) RETURN a, b""",
        1,
    ),
    (
        """MATCH (c:Concept {namespace: $namespace})
        OPTIONAL MATCH (c)-[:RELATED]-(d) RETURN c, collect(d)""",
        2,
    ),
    (
        """MATCH (c:Concept {namespace: $namespace}) RETURN c.name AS name
        UNION MATCH (e:Entity {namespace: $namespace}) RETURN e.id AS name""",
        2,
    ),
    (
        """MATCH (c:Concept {namespace: $namespace}) WHERE EXISTS { (c)-[:RELATED]-() }
        RETURN c.name, COUNT { (c)<-[:MENTIONS]-() } AS n""",
        2,
    ),
    (
        """MATCH (c:Concept {namespace: $namespace, name: 'ann'})
        CALL (c) { MATCH (c)<-[:MENTIONS]-(s) RETURN count(s) AS n } RETURN n""",
        1,
    ),
    ("MATCH (e:Entity {namespace: $namespace})-[*1..2]-(x) RETURN DISTINCT e.id", 2),
)


def test_queries_within_the_namespace(store: Neo4jStore, namespace: str) -> None:
    """What begins at the namespace's nodes is run."""
    _filled(store, namespace)
    _filled(store, f"{namespace}-other")
    for query, rows in _WITHIN:
        assert len(store.cypher(namespace, query)) == rows, query


def test_a_query_that_takes_long(store: Neo4jStore, namespace: str) -> None:
    """It is given up after its time."""
    endless = "UNWIND range(1, 1000000) AS x UNWIND range(1, 1000000) AS y RETURN sum(x * y)"
    started = time.monotonic()
    with pytest.raises(InvalidInputError, match=r"longer than 0\.5 s"):
        store.cypher(namespace, endless, timeout=0.5)
    assert time.monotonic() - started < 20
    for no_limit in (0.0, -1.0):
        with pytest.raises(InvalidInputError) as failure:
            store.cypher(namespace, "RETURN 1", timeout=no_limit)
        assert failure.value.argument == "timeout"


def test_a_closed_store_reads_nothing(driver: Driver, namespace: str) -> None:
    store = Neo4jStore(driver)
    store.close()
    with pytest.raises(ClosedError):
        store.cypher(namespace, "RETURN 1 AS x")


def test_what_a_server_cannot_stop_is_refused(store: Neo4jStore, namespace: str) -> None:
    """A regular expression goes on after its time is over."""
    with pytest.raises(InvalidInputError, match="=~ is not allowed"):
        store.cypher(namespace, "RETURN 'aaaa' =~ '(.*a){12}c'", {})
    with pytest.raises(InvalidInputError, match=r"10,000 rows; add a LIMIT"):
        store.cypher(namespace, "UNWIND range(1, 10001) AS n RETURN n", {})
    assert len(store.cypher(namespace, "UNWIND range(1, 10000) AS n RETURN n", {})) == 10_000
