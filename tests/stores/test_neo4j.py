"""How the graph lies in Neo4j: any string, any size, nothing left behind, all by indexes."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, LiteralString

import pytest
from neo4j import Driver

from recallm.errors import ConflictError
from recallm.model import (
    Filter,
    Horizon,
    PreparedUpdate,
    Selection,
)
from recallm.stores.base import Applied
from recallm.stores.neo4j import Neo4jStore, reader_queries
from recallm.stores.neo4j.changes import PUT
from recallm.stores.neo4j.connection import Tx
from recallm.stores.neo4j.rows import EVIDENCE, LOCK
from recallm.stores.semantics import applying
from tests.store_suite.marked_text import entity, mention, prepared, triplet
from tests.store_suite.topics.base import (
    delete_graph,
    find_passage,
    snapshot_of,
)
from tests.stores.neo4j_tools import nodes_of, rich, rows_of

_EVIL = (
    "'}) MATCH (n) DETACH DELETE n //",
    '"}) MATCH (n) DETACH DELETE n //',
    "`) DETACH DELETE n //",
    "$namespace",
    "\\' OR true //",
    "*/ MATCH (n) DETACH DELETE n /*",
    "\u0027) RETURN 1 //",
)


def test_cypher_in_every_string(store: Neo4jStore, namespace: str) -> None:
    """It is text: it comes back as it was, and nobody else's memory changes."""
    other = f"{namespace}-other"
    store.apply(other, [rich("1")])
    before = snapshot_of(store, other)
    for evil in _EVIL:
        strange = f"{namespace}{evil}"
        update = prepared(
            evil,
            f"[{evil}={evil}] and [Bo]",
            source=evil,
            session=evil,
            speaker=evil,
            speaker_concept=evil,
            metadata={evil: evil},
            key=evil,
            path=(evil,),
            entities=(entity(evil, evil, evil, type=evil, properties={evil: evil}),),
            triplets=(triplet(evil, evil, evil, properties={evil: evil}),),
        )
        store.apply(strange, [update])
        with store.reader(strange) as reader:
            passage = find_passage(reader, evil)
            assert passage is not None
            assert (passage.source, passage.metadata) == (evil, {evil: evil})
            where = Filter(speaker=evil, session=evil, metadata={evil: evil})
            assert reader.mentions([evil], limit=1, where=where)[evil].statements == 1
            assert [entity.id for entity in reader.entities([evil])] == [evil]
            assert [triplet.predicate for triplet in reader.triplets(predicates=[evil])] == [evil]
            assert [{relation.a, relation.b} for relation in reader.relations([evil])] == [
                {evil, "bo"}
            ]
        assert store.forget(strange, Selection(kind="concept", value=evil)).passages == 1
    assert snapshot_of(store, other) == before


def test_names_longer_than_an_index_holds(store: Neo4jStore, namespace: str) -> None:
    """Neo4j indexes at most 8 kB a key; a name may have any length, and stays exact."""
    long, longer = "x" * 100_000, "x" * 100_001
    wide = "\U0001f600" * 1024
    for name in (long, longer, wide):
        update = prepared(
            name,
            f"[{name}] [Bo]",
            session=name,
            entities=(entity(name, "Ann", name),),
            triplets=(triplet(name, name, name),),
        )
        store.apply(name, [update])
        store.apply(namespace, [update])
    with store.reader(namespace, Horizon()) as reader:
        assert {row.name for row in reader.concepts()} == {long, longer, wide, "bo"}
        assert [entity.t_index for entity in reader.entities([longer])] == [2]
        assert [(r.a, r.b) for r in reader.relations([longer], limit=9)] == [("bo", longer)]
        assert len(reader.mentions([long], limit=9, where=Filter(session=long))[long].keys) == 1
        assert reader.mentions([long], limit=9, where=Filter(session=longer))[long].rows()[1] == []
        found = find_passage(reader, wide)
        assert found is not None
        assert found.session == wide
    assert {long, longer, wide} <= set(store.namespaces())
    for name in (long, longer, wide):
        store.forget(name, Selection(kind="everything", value=True))


def test_numbers_that_no_integer_of_a_server_holds(store: Neo4jStore, namespace: str) -> None:
    """A t or a limit may be any number: they bound nothing then, or everything."""
    vast = 10**30
    store.apply(namespace, [prepared("1", "[Ann]", key="k"), prepared("2", "[Ann]")])
    with store.reader(namespace, Horizon(as_of=vast)) as reader:
        for where, expected in [(Filter(until=vast), ["2", "1"]), (Filter(since=vast), [])]:
            assert [passage.id for passage in reader.passages(where, limit=vast)] == expected
            keys = reader.mentions(["ann"], limit=None, where=where)["ann"].keys.tolist()
            assert len(keys) == len(expected)
    assert store.forget(namespace, Selection(kind="before", value=vast)).passages == 2


def test_rows_have_a_number(driver: Driver, store: Neo4jStore, namespace: str) -> None:
    """Not the name of their namespace: eight bytes in each node, relationship and index. Writers
    who meet at a new namespace agree on the number, and no other namespace has it."""
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(store.apply, namespace, [rich(f"{n}")]) for n in range(4)]
        assert sorted(job.result()[0].t_index for job in jobs) == [1, 2, 3, 4]
    store.apply(f"{namespace}-other", [rich("1")])
    numbers = {rows_of(driver, name) for name in (namespace, f"{namespace}-other")}
    assert len(numbers) == 2
    kept, _, _ = driver.execute_query(
        """MATCH (n) WHERE n.namespace IN $numbers RETURN DISTINCT n.namespace AS number
        UNION MATCH ()-[n]->() WHERE n.namespace IN $numbers RETURN DISTINCT n.namespace AS number
        """,
        numbers=[*numbers],
    )
    assert {row["number"] for row in kept} == numbers
    texts, _, _ = driver.execute_query(
        "MATCH (n) WHERE n.namespace STARTS WITH '' RETURN count(n) AS count"
    )
    assert texts[0]["count"] == 0
    with store.reader(f"{namespace}-none", Horizon()) as reader:
        assert (reader.state.t_index, reader.concepts(), list(reader.dump())) == (0, [], [])


def test_vectors_and_their_sizes_are_purged(
    driver: Driver, store: Neo4jStore, namespace: str
) -> None:
    """Nothing of a generation stays: neither what entities had nor what was held to."""
    long = "m" * 100_000
    eve = replace(entity("e", "Eve"), vectors={"m": b"four", long: b"2."})
    store.apply(namespace, [prepared("1", "[Ann]", entities=(eve,))])
    with store.reader(namespace, Horizon()) as reader:
        assert (reader.state.vector_bytes.get("m"), reader.state.vector_bytes.get(long)) == (4, 2)
        assert reader.entity_vectors(model=long) == {"e": b"2."}
    rows = rows_of(driver, namespace)
    counted = nodes_of(driver, rows)
    delete_graph(store, namespace, entities=["e"])
    assert counted - nodes_of(driver, rows) == 2
    store.forget(namespace, Selection(kind="everything", value=True))
    assert nodes_of(driver, rows) == 0


def test_no_node_of_what_was_forgotten_stays(
    driver: Driver, store: Neo4jStore, namespace: str
) -> None:
    """Not even the name of its session."""
    store.apply(namespace, [rich("1"), prepared("2", "[Ann] met [Bo].", session="a secret")])
    rows = rows_of(driver, namespace)
    assert nodes_of(driver, rows) > 0
    store.forget(namespace, Selection(kind="session", value="a secret"))
    store.forget(namespace, Selection(kind="id", value="1"))
    assert nodes_of(driver, rows) == 0


def test_what_joins_while_it_is_dumped(
    store: Neo4jStore, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive holds the entities of the triplets that it holds."""
    store.apply(namespace, [prepared("1", "[Ann] met [Bo]"), prepared("2", "[Cy]")])
    joining = PreparedUpdate(
        id="1",
        text=None,
        entities=(entity("a", "Ann"), entity("b", "Bo")),
        triplets=(triplet("a", "met", "b"),),
    )
    waiting = [joining]

    rows = Tx.rows

    def joined(tx: Tx, query: LiteralString, parameters: Mapping[str, object]) -> list[Any]:
        found = rows(tx, query, parameters)
        if query == reader_queries.UPDATES and waiting:
            store.apply(namespace, [waiting.pop()])
        return found

    monkeypatch.setattr(Tx, "rows", joined)
    with store.reader(namespace, Horizon()) as reader:
        records = list(reader.dump())
    assert waiting == []
    copied = f"{namespace}-copy"
    assert store.restore(copied, 2, records) == 2
    assert snapshot_of(store, copied) == snapshot_of(store, namespace)


def test_what_comes_after_a_dump_was_begun(store: Neo4jStore, namespace: str) -> None:
    """An entity that is told of again keeps its properties in the archive."""
    eve = entity("e", "Eve", properties={"k": 1})
    store.apply(namespace, [prepared("1", "[Ann]", entities=(eve,))])
    with store.reader(namespace, Horizon()) as reader:
        store.apply(namespace, [prepared("2", "[Bo]", entities=(entity("e", "Eve"),))])
        [record] = list(reader.dump())
    assert isinstance(record, PreparedUpdate)
    assert record.entities[0].properties == {"k": 1}


def test_properties_of_an_archive_in_portions(
    store: Neo4jStore, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever transaction wrote the properties of an evidence, all are merged by t."""
    monkeypatch.setattr(applying, "_PORTION", 1)
    records = [
        prepared(
            f"{t}",
            "[Eve]",
            t_index=t,
            entities=(entity("e", "Eve", properties=own),),
            triplets=(triplet("e", "is", "e", properties=own),),
        )
        for t, own in [(1, {"k": 1, "l": 1, "m": 1}), (2, {"k": 2, "l": 2}), (3, {"k": 3})]
    ]
    store.restore(namespace, 3, records)
    assert _properties(store, namespace) == [{"k": 3, "l": 2, "m": 1}] * 2
    store.forget(namespace, Selection(kind="id", value="2"))
    assert _properties(store, namespace) == [{"k": 3, "l": 1, "m": 1}] * 2


def test_evidence_is_read_where_it_must_be(
    store: Neo4jStore, namespace: str, queries: list[str]
) -> None:
    """However much evidence an entity has, one more that comes last costs what the first did."""

    def joining(id: str, **own: int) -> PreparedUpdate:
        return PreparedUpdate(
            id=id,
            text=None,
            entities=(entity("e", "Eve", properties=own),),
            triplets=(triplet("e", "is", "e", properties=own),),
        )

    store.apply(namespace, [prepared("1", "[Ann]"), prepared("2", "[Bo]"), joining("1", k=1)])
    store.apply(namespace, [joining("2", k=2), prepared("3", "[Cy]"), joining("3")])
    store.apply(namespace, [joining("", k=3, l=3)])
    mention = replace(joining("", k=9), triplets=())
    ann = replace(mention.entities[0], mentioned=True)
    store.apply(namespace, [replace(mention, entities=(ann,))])
    assert EVIDENCE not in queries
    assert _properties(store, namespace) == [{"k": 3, "l": 3}] * 2
    store.apply(namespace, [joining("1", k=0, m=0)])
    assert queries.count(EVIDENCE) == 1
    assert _properties(store, namespace) == [{"k": 3, "l": 3, "m": 0}] * 2
    store.forget(namespace, Selection(kind="id", value="2"))
    assert queries.count(EVIDENCE) == 2
    assert _properties(store, namespace) == [{"k": 3, "l": 3, "m": 0}] * 2
    store.forget(namespace, Selection(kind="id", value="1"))
    assert _properties(store, namespace) == [{"k": 3, "l": 3}] * 2


def _properties(store: Neo4jStore, namespace: str) -> list[Mapping[str, Any]]:
    """Those of all entities, then those of all triplets."""
    with store.reader(namespace, Horizon()) as reader:
        of_entities = [entity.properties for entity in reader.entities()]
        return of_entities + [triplet.properties for triplet in reader.triplets()]


def test_hubs_are_not_read(
    driver: Driver, store: Neo4jStore, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a hub, the triplets with other predicates or other ends are not read; of a word, no more
    entities than are asked for; of a predicate, no triplet."""
    others = [f"{n}" for n in range(300)]
    update = PreparedUpdate(
        id="",
        text=None,
        entities=tuple(entity(id, "Ann") for id in ("hub", "x", *others)),
        triplets=(
            *(triplet("hub", "p", id) for id in others),
            *(triplet(id, "p", "hub") for id in others),
            triplet("hub", "q", "x"),
            triplet("x", "q", "hub"),
        ),
    )
    store.apply(namespace, [update])
    hits: list[int] = []
    rows = Tx.rows

    def profiled(tx: Tx, query: LiteralString, parameters: Mapping[str, Any]) -> list[Any]:
        with driver.session(notifications_min_severity="OFF") as session:
            profile = session.run("PROFILE " + query, dict(parameters)).consume().profile
        assert profile is not None
        hits.append(_hits(profile))
        return rows(tx, query, parameters)

    with store.reader(namespace, Horizon()) as reader:
        monkeypatch.setattr(Tx, "rows", profiled)
        for given in (
            {"subjects": ["hub"], "predicates": ["q"]},
            {"objects": ["hub"], "predicates": ["q"]},
            {"subjects": ["hub"], "objects": ["x"]},
            {"subjects": ["hub"], "predicates": ["p"], "objects": ["7"]},
            {"predicates": ["q"], "limit": 1},
        ):
            assert len(reader.triplet_evidence(**given)) == 1, given
        assert len(reader.entities_by_words(["ann"], limit=2)["ann"]) == 2
        assert reader.predicates() == {"p": 600, "q": 2}
    assert len(hits) == 7
    assert max(hits) < 150, hits


def _hits(plan: dict[str, Any]) -> int:
    own: int = plan.get("dbHits", 0)
    return own + sum(_hits(child) for child in plan.get("children", []))


def test_round_trips_of_an_update(store: Neo4jStore, namespace: str, queries: list[str]) -> None:
    """However long the text, a handful of queries write it."""
    many = [f"[Ann] met [N{n}] in [P{n % 7}]" for n in range(200)]
    store.apply(namespace, [prepared("1", "[Ann]")])
    queries.clear()
    store.apply(namespace, [prepared("2", *many), prepared("3", *many)])
    assert queries == [LOCK, PUT]


def test_entities_on_no_concept_are_not_counted(
    store: Neo4jStore, namespace: str, queries: list[str]
) -> None:
    """However many there are, one more costs what the first did."""
    nothing = mention("")
    chunks = [replace(entity(f"{n}", "chunk"), concept=nothing) for n in range(20)]
    store.apply(namespace, [PreparedUpdate(id="", text=None, entities=tuple(chunks))])
    queries.clear()
    store.apply(namespace, [PreparedUpdate(id="", text=None, entities=tuple(chunks[:2]))])
    assert queries == [LOCK, PUT]


def test_round_trips_of_a_text_without_statements(
    store: Neo4jStore, namespace: str, queries: list[str]
) -> None:
    """Its session has no statements either, which is nothing to delete."""
    store.apply(namespace, [prepared("1", "[Ann] ran")])
    queries.clear()
    bare = PreparedUpdate(id="2", text="…", session="s")
    assert store.apply(namespace, [bare]) == [Applied(t_index=2)]
    assert queries == [LOCK, PUT]


def test_round_trips_of_items(store: Neo4jStore, namespace: str, queries: list[str]) -> None:
    """However many items a batch brings and takes the place of, a handful of queries do it."""

    def items(first: int, last: int) -> list[PreparedUpdate]:
        return [
            prepared(f"{n}", f"[Ann] met [N{n % 9}]", path=("p", f"{n % 3}"), key=f"{n % 20}")
            for n in range(first, last)
        ]

    # The second half of the batch takes the place of the first, before that was ever written.
    store.apply(namespace, items(0, 120))
    assert len(queries) == 2
    queries.clear()
    applied = store.apply(namespace, items(120, 180))
    assert [update.t_index for update in applied] == list(range(121, 181))
    assert len(queries) < 25
    with store.reader(namespace, Horizon()) as reader:
        assert [passage.id for passage in reader.passages(Filter(path=()))] == [
            f"{n}" for n in range(179, 119, -1)
        ]
        assert reader.sizes().corpus.statements == 60
        assert reader.relations(["n1"], limit=9)[0].strength == 6


def test_many_writers(store: Neo4jStore, namespace: str) -> None:
    """All are written once, each at the t of its answer, and a conflict harms nobody else."""
    store.apply(namespace, [prepared("0", "[Ann]")])

    def write(n: int) -> tuple[str, int]:
        if n % 10 == 9:
            with pytest.raises(ConflictError):
                store.apply(namespace, [prepared("0", f"[Bo] {n}")])
            return "0", 1
        return f"{n}-x", store.apply(namespace, [prepared(f"{n}-x", "[Ann] met [Bo]")])[0].t_index

    with ThreadPoolExecutor(8) as pool:
        answers = dict(pool.map(write, range(60)))
    with store.reader(namespace, Horizon()) as reader:
        assert {passage.id: passage.t_index for passage in reader.passages(Filter())} == answers
        assert reader.state.t_index == len(answers) == 55
        assert reader.relations(["ann"], limit=9)[0].strength == 54
