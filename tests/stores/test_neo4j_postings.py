"""Posting lists that are longer than a block: what they say is what the oracle says."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from neo4j import Driver

from recallm.model import Filter, Horizon, PreparedUpdate, Selection
from recallm.stores.base import GraphReader
from recallm.stores.neo4j import Neo4jStore
from tests.store_suite import DictStore
from tests.store_suite.marked_text import prepared
from tests.store_suite.snapshots import snapshot

_UPDATES = 330
_SIZES = (1, 63, 1, 64, 65, 129, 7)
"""Of batches: they end before, at and behind the end of a block."""


def _updates() -> list[PreparedUpdate]:
    """Each holds "ann" twice in one statement and once in another; all but the first two refer to
    the first, or to the second."""
    return [
        prepared("p0", "[Cy] sang"),
        prepared("p1", "[Dee] sang"),
        *(
            prepared(
                f"p{n}",
                f"Ann met [Ann] in [T{n % 7}]",
                f"{{She>{'cy@p0' if n % 2 else 'dee@p1'}}} saw [Ann]",
                speaker=("Eve", "Dan")[n % 2],
                session=f"s{n % 3}",
            )
            for n in range(2, _UPDATES)
        ),
    ]


def _reads(reader: GraphReader) -> list[object]:
    """Parts of the lists, newest first."""
    stems, names = ["ann", "likes", "met", "saw", "t3"], ["ann", "cy", "dee", "t3"]
    filters = (Filter(), Filter(speaker="Eve"), Filter(since=70, until=140), Filter(session="s1"))
    found: list[object] = [
        (dict(reader.postings(stems, limit=limit, where=where)), reader.state.t_index)
        for where in filters
        for limit in (1, 64, 65, 200)
    ]
    return found + [
        dict(reader.mentions(names, limit=limit, where=where))
        for where in filters
        for limit in (1, 64, 65, None)
    ]


def _agree(stores: Sequence[Neo4jStore | DictStore], namespace: str) -> None:
    """Parts of the lists at some horizons, and all that can be said now."""
    for horizon in (Horizon(as_of=64), Horizon(as_of=200), Horizon()):
        answers = []
        for store in stores:
            with store.reader(namespace, horizon) as reader:
                answers.append((_reads(reader), snapshot(reader) if horizon == Horizon() else None))
        assert answers[0][0] == answers[1][0]
        assert answers[0][1] == answers[1][1]


def test_lists_of_blocks(store: Neo4jStore, driver: Driver, namespace: str) -> None:
    """While they grow, and after statements at any place were forgotten, or lost the concept
    that a pronoun stood for."""
    stores = (store, DictStore())
    updates = _updates()
    assert sum(_SIZES) == len(updates)
    for size in _SIZES:
        batch, updates = updates[:size], updates[size:]
        for each in stores:
            each.apply(namespace, batch)
    _agree(stores, namespace)
    blocks = (
        "MATCH (n:RecallMNamespace {name: $name}) MATCH (p:RecallMPostings {namespace: n.rows}) "
        "RETURN count(p) AS blocks, max(size(p.keys)) AS most"
    )
    found = driver.execute_query(blocks, name=namespace).records[0]
    assert found["blocks"] > 20
    assert found["most"] == 64
    for id in ("p0", "p2", "p64", "p66", "p131", *(f"p{n}" for n in range(140, 215)), "p329"):
        for each in stores:
            each.forget(namespace, Selection(kind="id", value=id))
    _agree(stores, namespace)
    for each in stores:
        each.apply(namespace, [prepared("new", "Ann met [Ann]", session="s1")])
        each.forget(namespace, Selection(kind="concept", value="t3"))
    _agree(stores, namespace)
    for each in stores:
        each.forget(namespace, Selection(kind="before", value=_UPDATES + 9))
    _agree(stores, namespace)
    assert driver.execute_query(blocks, name=namespace).records[0]["blocks"] == 0


def test_what_is_forgotten_is_in_no_list(store: Neo4jStore, driver: Driver, namespace: str) -> None:
    """``forget(everything=True)`` deletes the blocks too."""
    store.apply(namespace, _updates())
    rows = driver.execute_query(
        "MATCH (n:RecallMNamespace {name: $name}) RETURN n.rows AS rows", name=namespace
    ).records[0]["rows"]
    store.forget(namespace, Selection(kind="everything", value=True))
    left = driver.execute_query(
        "MATCH (p:RecallMPostings {namespace: $rows}) RETURN count(p) AS blocks", rows=rows
    ).records[0]["blocks"]
    assert left == 0


def test_a_list_that_begins_anew(store: Neo4jStore, namespace: str) -> None:
    """All of a list goes, and a posting comes, with one write: the first block stays empty."""
    stores = (store, DictStore())
    replaced = [prepared(f"p{n}", "[Bo] ran", replaces=True) for n in range(64)]
    for each in stores:
        each.apply(namespace, [prepared(f"p{n}", "[Ann] ran") for n in range(64)])
        each.apply(namespace, [*replaced, prepared("new", "[Ann] sat")])
        each.apply(namespace, [prepared("later", "[Ann] sat")])
    answers = []
    for each in stores:
        with each.reader(namespace, Horizon(as_of=129)) as reader:
            answers.append(_reads(reader))
    assert answers[0] == answers[1]


def test_a_block_that_is_written_meanwhile(store: Neo4jStore, namespace: str) -> None:
    """No posting is read twice, and totals are those of the view's t, although the server shows
    what is committed while it reads."""
    store.apply(namespace, [prepared(f"p{n}", "[Ann] ran") for n in range(60)])

    def write() -> None:
        for n in range(60, 180):
            store.apply(namespace, [prepared(f"p{n}", "[Ann] ran")])

    reads = 0
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        while not writing.done():
            with store.reader(namespace) as reader:
                [found] = reader.postings(["ann"], limit=1000, where=Filter()).values()
                mentioned = reader.mentions(["ann"], limit=None, where=Filter())["ann"]
                wanted = tuple(t << 20 for t in range(reader.state.t_index, 0, -1))
                assert found.keys.tolist() == mentioned.keys.tolist() == [*wanted]
                assert found.statements == mentioned.statements == len(wanted)
                assert set(found.counts.tolist()) == {1}
                [ann] = reader.concepts(["ann"])
                assert ann.t_index == ann.updates == ann.statements == len(wanted)
                reads += 1
        writing.result()
    assert reads > 5
