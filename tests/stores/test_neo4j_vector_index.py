"""Neo4j's own vector indexes: they find what a comparison of all vectors finds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llama_index.core.graph_stores.types import EntityNode
from llama_index.core.vector_stores.types import VectorStoreQuery
from neo4j import Driver

from llama_index_recallm import RecallMPropertyGraphStore
from recallm import RecallM
from recallm.errors import InvalidInputError
from recallm.graph import GraphUpdate, NewEntity
from recallm.model import Filter, Horizon, PreparedUpdate, Selection, StatementVector
from recallm.stores.neo4j import Neo4jStore
from recallm.stores.neo4j.reader import Neo4jReader
from recallm.stores.neo4j.vector_index import float_row
from recallm.vectors import encode
from tests.neo4j.fixtures import RunningServer
from tests.neo4j.proxy import Proxy
from tests.store_suite.marked_text import entity, prepared
from tests.stores.neo4j_tools import letters

_DIMENSION = 24
_RANDOM = np.random.default_rng(7)
_CENTRES = _RANDOM.normal(size=(20, _DIMENSION))


def _vectors(number: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Vectors in 20 clusters, of shape (number, 24)."""
    near = _RANDOM.normal(size=(number, _DIMENSION)) * 0.5
    return np.asarray(_CENTRES[_RANDOM.integers(20, size=number)] + near)


def _updates(vectors: Iterable[Any], **values: Any) -> list[PreparedUpdate]:
    return [
        prepared(
            f"p{place}",
            "[Ann] ran",
            speaker=("Eve", "Dan")[place % 2],
            vectors=(StatementVector(position=0, model="m", blob=encode(vector)),),
            **values,
        )
        for place, vector in enumerate(vectors)
    ]


def _exact(
    reader: Neo4jReader, question: Sequence[float], limit: int, where: Filter
) -> list[tuple[int, float]]:
    """The nearest, by all vectors that the reader shows."""
    shown = {t << 20 for t in reader.t_indexes(where)}
    vectors = {
        key: np.frombuffer(blob, "<f2").astype(float)
        for key, blob in reader.vectors(model="m").items()
        if key in shown
    }
    unit = np.array(question) / np.linalg.norm(question)
    cosines = {key: float(it @ unit / np.linalg.norm(it)) for key, it in vectors.items()}
    return sorted(cosines.items(), key=lambda it: (-it[1], -it[0]))[:limit]


def test_statements(indexed: Neo4jStore, namespace: str) -> None:
    """The nearest that a view shows; those of the other namespace and what is forgotten never."""
    vectors = _vectors(300)
    updates = [
        replace(
            update,
            timestamp=datetime(2030, 1, 1 + place % 3, tzinfo=UTC),
            expires_at=datetime(2031, 1, 1, tzinfo=UTC) if place % 5 == 0 else None,
        )
        for place, update in enumerate(_updates(vectors))
    ]
    indexed.apply(namespace, updates)
    indexed.apply(f"{namespace}-other", _updates(vectors[:50]))
    for id in ("p1", "p2", "p3"):
        indexed.forget(namespace, Selection(kind="id", value=id))
    for where, horizon in (
        (Filter(), Horizon()),
        (Filter(speaker="Eve"), Horizon()),
        (Filter(until=6), Horizon()),
        (Filter(since=295), Horizon()),
        (Filter(session="none"), Horizon()),
        (Filter(), Horizon(as_of=9)),
        (Filter(), Horizon(as_of=datetime(2030, 1, 2, tzinfo=UTC))),
        (Filter(), Horizon(now=datetime(2031, 1, 2, tzinfo=UTC))),
    ):
        found_of = wanted_of = 0
        with indexed.reader(namespace, horizon) as reader:
            assert reader.searches_statements()
            for question in vectors[:10].tolist():
                found = reader.nearest_statements(question, model="m", limit=10, where=where)
                wanted = _exact(reader, question, 10, where)
                assert len(found) == len(wanted), (where, horizon)
                assert found == sorted(found, key=lambda it: (-it[1], -it[0]))
                cosines = dict(wanted)
                for key, cosine in found:
                    if key in cosines:
                        assert cosine == pytest.approx(cosines[key], abs=1e-3)
                found_of += len({key for key, _ in found} & cosines.keys())
                wanted_of += len(wanted)
        assert found_of >= 0.98 * wanted_of, (where, horizon)


def test_a_memory_answers_as_one_that_compares_all(
    indexed: Neo4jStore, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every ranking that uses vectors; and no vector but those of candidates is read."""
    read: list[Collection[int] | None] = []
    vectors = Neo4jReader.vectors

    def noted(
        self: Neo4jReader, keys: Collection[int] | None = None, **given: Any
    ) -> Mapping[int, bytes]:
        read.append(keys)
        return vectors(self, keys, **given)

    monkeypatch.setattr(Neo4jReader, "vectors", noted)
    talk = [f"Ann moved to town {n} and Bob{n % 7} baked bread." for n in range(60)]
    questions = ("Where did Ann move?", "Who baked bread in town 33?", "What about Bob3?")
    with (
        RecallM(indexed, namespace=namespace, embeddings=letters, vector_index="neo4j") as far,
        RecallM(embeddings=letters) as near,
    ):
        for memory in (far, near):
            memory.update_many([{"text": text, "session": "talk"} for text in talk])
        for question in questions:
            assert far.recall(question).text == near.recall(question).text
            found = far.recall(question, session="talk", limit=3)
            assert found.text == near.recall(question, session="talk", limit=3).text
            assert far.recall(question, as_of=9).text == near.recall(question, as_of=9).text
    assert None not in read


def test_trips(
    neo4j_server: RunningServer,
    proxy: Proxy,
    namespace: str,
    indexed: Neo4jStore,
) -> None:
    """The index is asked beside the other questions of a recall; an update takes as few as ever."""
    del indexed  # small namespaces ask the index
    with RecallM(
        proxy.uri,
        auth=neo4j_server.auth,
        namespace=namespace,
        embeddings=letters,
        vector_index="neo4j",
    ) as memory:
        memory.update_many([f"Ann moved to town {n}." for n in range(30)])
        memory.recall("Where did Ann move?")
        proxy.trips = 0
        memory.update("Bob moved to town 31.")
        assert proxy.trips <= 4
        proxy.trips = 0
        memory.recall("Where did Bob move?")
        assert proxy.trips <= 7


def test_vectors_from_before(
    store: Neo4jStore,
    indexed: Neo4jStore,
    driver: Driver,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``embed`` indexes them, also after an interruption; later ones are indexed whoever writes."""
    vectors = _vectors(40)
    store.apply(namespace, _updates(vectors[:30]))
    store.apply(
        namespace,
        [prepared("e", "[Bo]", entities=(entity("b", "b", vectors={"m": encode(vectors[39])}),))],
    )
    with indexed.reader(namespace) as reader:
        assert not reader.searches_statements()
        assert not reader.searches_entities("m")
    monkeypatch.setattr("recallm.stores.neo4j.indexing._AT_ONCE", 8)
    calls = []

    def failing(model: str, blob: bytes) -> dict[str, Any]:
        calls.append(blob)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return float_row(model, blob)

    with monkeypatch.context() as patch:
        patch.setattr("recallm.stores.neo4j.indexing.float_row", failing)
        with pytest.raises(KeyboardInterrupt):
            indexed.index_vectors(namespace)
    with indexed.reader(namespace) as reader:
        assert not reader.searches_statements()
    store.apply(namespace, [_updates(vectors[:31])[30]])  # while half of them are indexed
    assert indexed.index_vectors(namespace) == 31 - 16 - 1 + 1
    store.apply(namespace, [_updates(vectors[:32])[31]])
    assert indexed.index_vectors(namespace) == 0
    found = driver.execute_query(
        "MATCH (n:RecallMNamespace {name: $name}) MATCH (v:RecallMVector {namespace: n.rows}) "
        "RETURN count(v) AS all, count(CASE WHEN size(keys(v)) = 5 THEN 1 END) AS indexed",
        name=namespace,
    ).records[0]
    assert dict(found) == {"all": 32, "indexed": 32}
    with indexed.reader(namespace) as reader:
        assert reader.searches_statements()
        best = reader.nearest_statements(vectors[31].tolist(), model="m", limit=1, where=Filter())
        assert best[0][0] == 33 << 20
        near = reader.nearest_entities(vectors[39].tolist(), model="m", limit=3)
        assert [id for id, _ in near] == ["b"]


def test_entities(indexed: Neo4jStore, namespace: str) -> None:
    """An entity is found by its latest vector, while it is shown; not by one of zeros."""
    vectors = _vectors(200)
    with RecallM(indexed, namespace=namespace, vector_index="neo4j") as memory:
        graph = memory.graph
        graph.upsert_many(
            GraphUpdate(entities=[NewEntity(id=f"e{n}", embeddings={"m": vector.tolist()})])
            for n, vector in enumerate(vectors)
        )
        for n in range(20):
            found = graph.nearest(vectors[n].tolist(), model="m", limit=3)
            cosines = vectors @ vectors[n] / np.linalg.norm(vectors, axis=1)
            assert [it.id for it, _ in found] == [f"e{k}" for k in np.argsort(-cosines)[:3]]
            assert found[0][1] == pytest.approx(1, abs=1e-3)
        graph.upsert(entities=[NewEntity(id="e0", embeddings={"m": vectors[1].tolist()})])
        graph.upsert(entities=[NewEntity(id="e1", embeddings={"m": [0.0] * _DIMENSION})])
        graph.delete(entities=["e2"])
        assert graph.nearest(vectors[1].tolist(), model="m", limit=1)[0][0].id == "e0"
        ids = {it.id for it, _ in graph.nearest(vectors[0].tolist(), model="m", limit=500)}
        assert ids == {f"e{n}" for n in range(200)} - {"e1", "e2"}
        early = graph.nearest(vectors[9].tolist(), model="m", limit=500, as_of=5)
        assert {it.id for it, _ in early} <= {f"e{n}" for n in range(5)}
        assert len(graph.nearest([0.0] * _DIMENSION, model="m", limit=5)) == 5
        assert graph.nearest(vectors[0].tolist(), model="other") == []


def test_an_archive_comes_into_the_index(
    store: Neo4jStore, indexed: Neo4jStore, namespace: str, tmp_path: Path
) -> None:
    with RecallM(store, namespace=namespace, embeddings=letters) as memory:
        memory.update_many([f"Ann moved to town {n}." for n in range(30)])
        memory.export(tmp_path / "archive")
        text = memory.recall("Where did Ann move?").text
    copy = f"{namespace}-copy"
    with RecallM(indexed, namespace=copy, embeddings=letters, vector_index="neo4j") as memory:
        memory.load(tmp_path / "archive")
        with indexed.reader(copy) as reader:
            assert reader.searches_statements()
        assert memory.recall("Where did Ann move?").text == text
        memory.forget(everything=True)
        memory.update_many([f"Bob moved to town {n}." for n in range(30)])
        with indexed.reader(copy) as reader:
            assert reader.searches_statements()
        assert "Bob moved" in memory.recall("Where did Bob move?").text


def test_a_graph_of_llama_index_in_a_shard(
    neo4j_server: RunningServer, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``vector_query`` asks the index of the shard, and reads no vector of an entity."""
    vectors = _vectors(30)
    with RecallM(
        lambda _: neo4j_server.uri,
        auth=neo4j_server.auth,
        namespace=namespace,
        vector_index="neo4j",
    ) as memory:
        graph = RecallMPropertyGraphStore(memory)
        graph.upsert_nodes(
            [EntityNode(name=f"e{n}", embedding=it.tolist()) for n, it in enumerate(vectors)]
        )
        query = VectorStoreQuery(query_embedding=vectors[7].tolist(), similarity_top_k=2)
        monkeypatch.delattr(Neo4jReader, "entity_vectors")
        nodes, cosines = graph.vector_query(query)
        assert nodes[0].id == "e7"
        assert cosines[0] == pytest.approx(1, abs=1e-3)
        assert len(nodes) == 2
        assert memory.embed() == 0


def test_large_vectors_are_compared_in_memory(indexed: Neo4jStore, namespace: str) -> None:
    """No index takes more than 4,096 dimensions."""

    def wide(texts: Sequence[str]) -> list[list[float]]:
        return [[*row, *([0.0] * 4096)] for row in letters(texts)]

    with RecallM(indexed, namespace=namespace, embeddings=wide, vector_index="neo4j") as memory:
        memory.update_many([f"Ann moved to town {n}." for n in range(30)])
        with indexed.reader(namespace) as reader:
            assert not reader.searches_statements()
        assert "town 7" in memory.recall("Did Ann move to town 7?").text
        assert memory.embed() == 0


@pytest.mark.parametrize(
    "opened",
    [
        lambda: RecallM(embeddings=letters, vector_index="neo4j"),
        lambda: RecallM(vector_index="neo4j"),
        lambda: RecallM(lambda _: None, embeddings=letters, vector_index="neo4j"),
    ],
    ids=["in memory", "without embeddings", "shards"],
)
def test_other_stores_have_none(opened: Callable[[], RecallM]) -> None:
    with pytest.raises(InvalidInputError, match="goes with a Neo4j server alone"):
        opened()


def test_a_store_without(store: Neo4jStore) -> None:
    with pytest.raises(InvalidInputError, match="vector_index=True"):
        RecallM(store, embeddings=letters, vector_index="neo4j")
    with pytest.raises(InvalidInputError, match="vector_index=True"):
        store.index_vectors("n")
