"""How often a memory waits for its server."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import pytest

from recallm import RecallM
from recallm.stores.base import Applied
from recallm.stores.neo4j import Neo4jStore
from recallm.stores.neo4j.connection import Tx
from tests.neo4j.fixtures import RunningServer
from tests.neo4j.proxy import Proxy
from tests.store_suite.marked_text import prepared
from tests.stores.neo4j_tools import letters

_TALK = [
    f"Ann moved to town {place} in May." if place % 3 else f"Bob cooks dish {place}; Ann sings."
    for place in range(40)
]
_QUESTIONS = (
    "Where does Ann live?",
    "Who cooks dish 33?",
    "What happened in May?",
    "Which towns did Ann move to?",
    "Is there a zebra?",
)


@pytest.fixture
def store(neo4j_server: RunningServer, proxy: Proxy) -> Iterator[Neo4jStore]:
    with closing(Neo4jStore(proxy.uri, auth=neo4j_server.auth)) as store:
        yield store


DELAYS = [0.01, *(pytest.param(delay, marks=pytest.mark.nightly) for delay in (0.0, 0.03))]


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("embeddings", [None, letters])
def test_a_recall_takes_at_most_eight(
    store: Neo4jStore, proxy: Proxy, embeddings: object, delay: float
) -> None:
    """Also with vectors, for questions of all kinds; the answers are those of a local memory."""
    with (
        RecallM(store, namespace=str(uuid.uuid4()), embeddings=embeddings) as far,
        RecallM(embeddings=embeddings) as near,
    ):
        for memory in (far, near):
            memory.update_many([{"text": text, "session": "talk"} for text in _TALK])
            memory.recall("Who sings?")  # reads the vectors into memory
        proxy.delay = delay
        for question in _QUESTIONS:
            proxy.trips = 0
            found = far.recall(question)
            assert proxy.trips <= 8, question
            assert found.text == near.recall(question).text


def test_a_rare_word_in_a_long_session_takes_as_few(store: Neo4jStore, proxy: Proxy) -> None:
    """The statements around it come in few reads, not each with one of its own."""
    with RecallM(store, namespace=str(uuid.uuid4())) as memory:
        memory.update_many(
            [
                {"text": "A zebra ran." if place == 100 else f"It rains on day {place}."}
                | {"session": "talk"}
                for place in range(200)
            ]
        )
        memory.recall("Who rains?")
        proxy.trips = 0
        found = memory.recall("What about the zebra?", limit=50)
        assert len(found.statements) > 1
        assert proxy.trips <= 8


def test_reads_together_take_one(store: Neo4jStore, proxy: Proxy) -> None:
    with RecallM(store, namespace=str(uuid.uuid4())) as memory:
        memory.update("Ann sings.")
        with store.reader(memory.namespace) as reader:
            proxy.trips = 0
            reader.together(
                lambda reader: reader.concepts(["ann"]),
                lambda reader: reader.sizes(),
                lambda reader: reader.passages(limit=3),
            )
            assert proxy.trips == 1


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("embeddings", [None, letters])
def test_a_write_takes_at_most_four(
    store: Neo4jStore, proxy: Proxy, embeddings: object, delay: float
) -> None:
    """An update and a batch, with new ids or with those that are there."""
    batch = [{"text": text, "session": "talk", "id": f"{n}"} for n, text in enumerate(_TALK)]
    with RecallM(store, namespace=str(uuid.uuid4()), embeddings=embeddings) as memory:
        memory.update("Dan sings.")
        proxy.delay = delay
        proxy.trips = 0
        memory.update("Ann cooks for Bob.", timestamp=datetime(2030, 1, 1, tzinfo=UTC))
        assert proxy.trips <= 4
        for _ in range(2):
            proxy.trips = 0
            memory.update_many(batch)
            assert proxy.trips <= 4


def test_writers_that_are_in_each_others_way(
    store: Neo4jStore, neo4j_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who finds that another one wrote meanwhile takes the lock; nothing is lost."""
    namespace = str(uuid.uuid4())
    store.apply(namespace, [prepared("0", "[Ann]")])
    commit, tries = Tx.commit, []

    with closing(Neo4jStore(neo4j_server.uri, auth=neo4j_server.auth)) as other:

        def commit_later(tx: Tx) -> None:
            if tx._at_commit is not None:
                tries.append(tx)
                monkeypatch.setattr(Tx, "commit", commit)
                other.apply(namespace, [prepared(f"other-{len(tries)}", "[Ann] met [Bo]")])
                monkeypatch.setattr(Tx, "commit", commit_later)
            commit(tx)

        monkeypatch.setattr(Tx, "commit", commit_later)
        assert store.apply(namespace, [prepared("1", "[Ann] met [Bo]")]) == [Applied(t_index=3)]
    assert len(tries) == 1
    with store.reader(namespace) as reader:
        assert reader.state.t_index == 3
        assert reader.relations(["ann"], limit=9)[0].strength == 2
