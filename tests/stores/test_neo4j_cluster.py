"""A cluster whose leader moves: writes go on, each once; reads go to the followers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from urllib.parse import urlsplit

import pytest

from recallm.errors import StoreUnavailableError
from recallm.model import Horizon
from recallm.stores.neo4j import Neo4jStore
from tests.neo4j.cluster import Cluster
from tests.neo4j.fixtures import RunningServer
from tests.store_suite.topics.base import snapshot_of
from tests.stores.neo4j_tools import rich


@pytest.fixture
def cluster(neo4j_server: RunningServer) -> Iterator[Cluster]:
    address = urlsplit(neo4j_server.uri)
    with Cluster((address.hostname or "localhost", address.port or 7687)) as cluster:
        yield cluster


@pytest.fixture
def spread(neo4j_server: RunningServer, cluster: Cluster) -> Iterator[Neo4jStore]:
    """A store that knows the cluster alone."""
    with closing(Neo4jStore(cluster.uri, auth=neo4j_server.auth, retry_time=8)) as store:
        yield store


def test_writes_go_to_the_leader_and_reads_to_the_followers(
    spread: Neo4jStore, cluster: Cluster, namespace: str
) -> None:
    """No read burdens the leader; what was written is read at once."""
    first, second, third = cluster.members
    for t in range(1, 5):
        assert spread.apply(namespace, [rich(str(t))])[0].t_index == t
        with spread.reader(namespace, Horizon()) as reader:
            assert reader.state.t_index == t
            assert len(reader.passages()) == t
    assert first.commits >= 4
    assert second.commits == third.commits == 0
    assert first.reads == 0
    assert second.reads > 0
    assert third.reads > 0


# A write is two queries.
@pytest.mark.parametrize(("written", "message"), [*product([0, 1], range(1, 4))])
@pytest.mark.parametrize("how", ["refuse", "drop"])
def test_the_leader_moves_during_a_write(
    spread: Neo4jStore,
    store: Neo4jStore,
    cluster: Cluster,
    namespace: str,
    how: str,
    written: int,
    message: int,
) -> None:
    """The write is done by the next leader, once; the write after that goes there at once."""
    if written:
        spread.apply(namespace, [rich("1")])
    cluster.move_at(how, message=message)
    for t in range(written + 1, written + 4):
        assert spread.apply(namespace, [rich(str(t))])[0].t_index == t
    assert cluster.leader is cluster.members[1]
    assert cluster.members[1].commits >= 2
    _assert_updated(store, namespace, written + 3)


def test_the_leader_moves_after_a_commit(
    spread: Neo4jStore, store: Neo4jStore, cluster: Cluster, namespace: str
) -> None:
    """The reply to the commit is lost with the old leader: the new one knows that it was done."""
    spread.apply(namespace, [rich("1")])
    cluster.move_at("commit")
    assert spread.apply(namespace, [rich("2")])[0].t_index == 2
    assert cluster.leader is cluster.members[1]
    assert spread.apply(namespace, [rich("3")])[0].t_index == 3
    _assert_updated(store, namespace, 3)


_CODES = (
    "Neo.TransientError.General.DatabaseUnavailable",
    "Neo.TransientError.Cluster.ReplicationFailure",
    "Neo.TransientError.Transaction.LeaseExpired",
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
)
_PLACES = [*product([0, 1], range(1, 3))]


@pytest.mark.parametrize(
    ("code", "written", "message"),
    [
        pytest.param(code, *place, marks=[] if (n + m) % 4 == 0 else pytest.mark.nightly)
        for n, code in enumerate(_CODES)
        for m, place in enumerate(_PLACES)
    ],
)
def test_an_error_of_an_election(
    spread: Neo4jStore,
    store: Neo4jStore,
    cluster: Cluster,
    namespace: str,
    code: str,
    written: int,
    message: int,
) -> None:
    """What a member answers while roles change passes; the write is done once."""
    if written:
        spread.apply(namespace, [rich("1")])
    cluster.move_at(code, message=message)
    t = written + 1
    assert spread.apply(namespace, [rich(str(t))])[0].t_index == t
    assert cluster.settled
    _assert_updated(store, namespace, t)


def test_without_a_leader(
    neo4j_server: RunningServer, store: Neo4jStore, cluster: Cluster, namespace: str
) -> None:
    """Reads go on; a write waits for the next leader, and fails where none comes in time."""
    opened = Neo4jStore(cluster.uri, auth=neo4j_server.auth, retry_time=1)
    with (
        closing(opened) as hasty,
        closing(Neo4jStore(cluster.uri, auth=neo4j_server.auth, retry_time=20)) as patient,
    ):
        hasty.apply(namespace, [rich("1")])
        old, cluster.leader = cluster.leader, None
        with pytest.raises(StoreUnavailableError):
            hasty.apply(namespace, [rich("2")])
        for each in (hasty, patient):
            assert snapshot_of(each, namespace) == snapshot_of(store, namespace)
        elected = threading.Timer(0.5, setattr, (cluster, "leader", cluster.members[2]))
        elected.start()
        assert patient.apply(namespace, [rich("2")])[0].t_index == 2
        elected.join()
        assert hasty.apply(namespace, [rich("3")])[0].t_index == 3
    assert old is cluster.members[0]
    assert cluster.members[2].commits >= 2
    _assert_updated(store, namespace, 3)


def _assert_updated(store: Neo4jStore, namespace: str, times: int) -> None:
    """Each of ``times`` updates counts once."""
    with store.reader(namespace, Horizon()) as reader:
        assert reader.state.t_index == times
        assert len(reader.passages()) == times
        assert reader.relations(["ann", "bo"], among=True)[0].strength == times
