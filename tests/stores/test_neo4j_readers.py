"""Readers beside writers: what they see is whole, or left out."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest

from recallm import RecallM
from recallm.ground.entity_words import whole_name
from recallm.model import Horizon, Passage, PreparedUpdate, Selection, Summary, Trait, WriteSummary
from recallm.stores.neo4j import Neo4jStore
from tests.store_suite.marked_text import entity, mention, prepared, triplet, vector
from tests.store_suite.snapshots import snapshot
from tests.store_suite.topics.base import revisable


@pytest.mark.parametrize("times", [1, pytest.param(4, marks=pytest.mark.nightly)])
def test_readers_beside_writers(store: Neo4jStore, namespace: str, times: int) -> None:
    """What is replaced or forgotten while it is read is left out; what is read is whole."""
    # On a busy machine the writers of one namespace wait long for each other.
    store = Neo4jStore(store.driver, retry_time=120)
    _keep_items(store, namespace, 0, rounds=3)
    with RecallM(store, namespace=namespace) as memory, ThreadPoolExecutor(6) as pool:
        memory.recall("Whom did Ann meet?")
        jobs = [pool.submit(_keep_items, store, namespace, n, rounds=10 * times) for n in (1, 2, 3)]
        jobs += [pool.submit(_read_items, store, memory) for _ in range(15 * times)]
        failures = [job.exception() for job in jobs]
    assert [repr(failure) for failure in failures if failure is not None] == []


def _keep_items(store: Neo4jStore, namespace: str, writer: int, *, rounds: int) -> None:
    """Items under three keys, which all writers share; every fifth is forgotten again."""
    for n in range(rounds):
        id, key = f"{writer}-{n}", f"{n % 3}"
        update = prepared(
            id,
            "[Ann] met [Bo] near the [harbour].",
            f"[Dee] sang for [Bo] in room {id}.",
            path=("p", key),
            key=key,
            session=key,
            speaker="Ann",
            metadata={"id": id},
            entities=(entity(key, "Ann"), entity("x", "Bo")),
            triplets=(triplet(key, "met", "x", position=0),),
            vectors=(vector(0, id.encode().rjust(5)),),
        )
        store.apply(namespace, [update])
        with store.reader(namespace, Horizon()) as reader:
            bo = revisable(reader, "bo")
        if bo is not None:
            summary = Summary(
                concept="bo",
                t_index=bo.t_index,
                text="Bo knows Ann.",
                terms=("bo", "knows", "ann"),
                traits=Trait(0),
            )
            store.amend(namespace, WriteSummary(summary=summary, statements=bo.statements))
        if n % 5 == 4:
            store.forget(namespace, Selection(kind="id", value=id))


def _read_items(store: Neo4jStore, memory: RecallM) -> None:
    """All that a reader can say, and what is recalled: each passage and statement as written."""
    with store.reader(memory.namespace, Horizon()) as reader:
        said = snapshot(reader)
    _check_passages([*said["passages"], *said["all passages"], *chain.from_iterable(said["items"])])
    for row in said["statements"]:
        assert row.metadata == {"id": row.passage_id}
        assert row.item_path == ("p", row.session)
        assert row.text in _room(row.passage_id)
        assert row.concepts[-1] == [mention("harbour"), mention("Bo")][row.position]
    for record in said["dump"]:
        if isinstance(record, PreparedUpdate):
            assert record.text == _room(record.id)
            parts = (record.statements, record.neighbours, record.entities, record.triplets)
            assert ([len(part) for part in parts], len(record.vectors)) == ([2, 4, 2, 1], 1)
    for row in said["evidence"]:
        ends = (row.subject_label, row.predicate, row.object_label)
        assert (ends, row.position) == (("Ann", "met", "Bo"), 0)
        assert row.passage is not None
    assert said["predicates"].keys() <= {"met"}
    assert said["entities by words"].keys() <= {"ann", "bo", whole_name("ann"), whole_name("bo")}
    for place in said["paths"]:
        assert place[0] == "p"
    _check_passages(memory.items.below(("p",)))
    _check_passages([passage for passage, _ in memory.items.search("Whom did Ann meet?", ("p",))])
    for sentence in memory.recall("Whom did Ann meet?").statements:
        assert sentence.text
    assert all(row.text for row in memory.history("Ann"))


def _check_passages(found: Iterable[Passage]) -> None:
    for passage in found:
        assert passage.text == _room(passage.id)
        assert (passage.metadata, passage.speaker) == ({"id": passage.id}, "Ann")
        assert passage.path == ("p", passage.key)


def _room(id: str) -> str:
    return f"Ann met Bo near the harbour. Dee sang for Bo in room {id}."
