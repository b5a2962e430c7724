"""Writers of one process that are grouped."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime

import pytest

from recallm.errors import ConflictError, StoreBusyError, StoreUnavailableError
from recallm.model import Filter, Horizon, PreparedUpdate
from recallm.stores.base import Applied, ExpiredError
from recallm.stores.neo4j import Neo4jStore, groups
from recallm.stores.neo4j.groups import Groups
from tests.store_suite.marked_text import prepared

_BOUND = 60
"""Seconds after which a test fails: what hangs does so for longer."""


class _Writer:
    """A store that writes when it may, and says what it wrote at once."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may = threading.Semaphore(0)
        self.written: list[list[str]] = []
        self.errors: dict[str, BaseException] = {}
        self.nows: list[datetime | None] = []

    def write(
        self, namespace: str, updates: Sequence[PreparedUpdate], now: datetime | None
    ) -> list[Applied]:
        del namespace
        self.nows.append(now)
        self.begun.release()
        assert self.may.acquire(timeout=_BOUND)
        ids = [update.id for update in updates]
        self.written.append(ids)
        for id in ids:
            if id in self.errors:
                raise self.errors[id]
        return [Applied(t_index=int(id)) for id in ids]


def _waiting(them: Groups, count: int) -> None:
    """Return when so many calls wait."""
    pause = threading.Event()
    while len(them._waiting.get("a", ())) < count:
        pause.wait(0.01)


def _calls(
    *calls: str, errors: dict[str, BaseException] | None = None
) -> tuple[list[object], list[list[str]]]:
    """What each call of the ids "1 2 …" gets, and the groups that were written; the first call
    leads, the others wait in order."""
    writer = _Writer()
    writer.errors = errors or {}
    them = Groups(writer.write)
    with ThreadPoolExecutor(len(calls)) as pool:
        jobs = []
        for n, call in enumerate(calls):
            updates = [prepared(id, "[Ann]") for id in call.split()]
            jobs.append(pool.submit(them.apply, "a", updates, None))
            if n:
                _waiting(them, n)
            else:
                assert writer.begun.acquire(timeout=_BOUND)
        writer.may.release(20)
        wait(jobs, _BOUND)
    assert not them._waiting
    answers: list[object] = []
    for job in jobs:
        error = job.exception()
        answers.append(repr(error) if error else [update.t_index for update in job.result()])
    return answers, writer.written


def test_those_who_wait_are_written_together() -> None:
    """Each call gets the answer to its own updates."""
    answers, written = _calls("1", "2 3", "4")
    assert answers == [[1], [2, 3], [4]]
    assert written == [["1"], ["2", "3", "4"]]


def test_the_present_of_a_group() -> None:
    """The latest of those that its calls give: what has expired for one call stops all, and each is
    written alone then. A call without ``now`` is in another group."""
    writer = _Writer()
    writer.errors = {"3": ExpiredError()}
    them = Groups(writer.write)
    early, late = datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC)
    with ThreadPoolExecutor(4) as pool:
        jobs = []
        for n, now in enumerate((None, late, early, None)):
            jobs.append(pool.submit(them.apply, "a", [prepared(str(n + 1), "[Ann]")], now))
            if n:
                _waiting(them, n)
            else:
                assert writer.begun.acquire(timeout=_BOUND)
        writer.may.release(20)
        wait(jobs, _BOUND)
    assert isinstance(jobs[2].exception(), ExpiredError)
    assert [jobs[n].result() for n in (0, 1, 3)] == [[Applied(t_index=n)] for n in (1, 2, 4)]
    assert writer.written[:2] == [["1"], ["2", "3"]]
    alone = dict(zip((ids[0] for ids in writer.written), writer.nows, strict=True))
    assert writer.nows[:2] == [None, late]
    assert (alone["3"], alone["4"]) == (early, None)


def test_a_call_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written in the next group."""
    monkeypatch.setattr(groups, "_ROOM", 3)
    answers, written = _calls("1", "2 3", "4 5", "6")
    assert answers == [[1], [2, 3], [4, 5], [6]]
    assert written == [["1"], ["2", "3"], ["4", "5", "6"]]


def test_an_error_of_one_call() -> None:
    """It reaches that call alone."""
    error = ConflictError("3", index=0)
    answers, written = _calls("1", "2", "3", "4", errors={"3": error})
    assert answers == [[1], [2], repr(error), [4]]
    assert written[:2] == [["1"], ["2", "3", "4"]]
    assert sorted(written[2:]) == [["2"], ["3"], ["4"]]


def test_an_error_of_the_server() -> None:
    """All calls of the group get it: none waits for the server once more."""
    error = StoreBusyError("busy")
    answers, written = _calls("1", "2", "3", errors={"3": error})
    assert answers == [[1], repr(error), repr(error)]
    assert written == [["1"], ["2", "3"]]


def test_an_interrupted_leader() -> None:
    """Those whom it wrote for get an error, and those who come later are written."""
    writer = _Writer()
    writer.errors = {"2": KeyboardInterrupt()}
    them = Groups(writer.write)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(them.apply, "a", [prepared("1", "[Ann]")], None)]
        assert writer.begun.acquire(timeout=_BOUND)
        for n in (2, 3):
            jobs.append(pool.submit(them.apply, "a", [prepared(str(n), "[Ann]")], None))
            _waiting(them, n - 1)
        writer.may.release(20)
        assert isinstance(jobs[1].exception(_BOUND), KeyboardInterrupt)
        assert isinstance(jobs[2].exception(_BOUND), StoreUnavailableError)
        later = pool.submit(them.apply, "a", [prepared("4", "[Ann]")], None)
        assert later.result(_BOUND) == [Applied(t_index=4)]


def test_the_main_thread_writes_for_nobody_else() -> None:
    """Ctrl-C interrupts it."""
    writer = _Writer()
    writer.may.release(20)
    them = Groups(writer.write)
    with ThreadPoolExecutor(1) as pool:
        jobs: list[Future[list[Applied]]] = []

        def write(
            namespace: str, updates: Sequence[PreparedUpdate], now: datetime | None
        ) -> list[Applied]:
            if not jobs:
                jobs.append(pool.submit(them.apply, "a", [prepared("2", "[Ann]")], None))
                _waiting(them, 1)
            return writer.write(namespace, updates, now)

        them._write = write
        assert them.apply("a", [prepared("1", "[Ann]")], None) == [Applied(t_index=1)]
        assert jobs[0].result(_BOUND) == [Applied(t_index=2)]
    assert writer.written == [["1"], ["2"]]


def test_a_leader_that_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has waited in vain writes alone."""
    monkeypatch.setattr(groups, "_PATIENCE", 0.1)
    writer = _Writer()
    them = Groups(writer.write)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(them.apply, "a", [prepared("1", "[Ann]")], None)
        assert writer.begun.acquire(timeout=_BOUND)
        second = pool.submit(them.apply, "a", [prepared("2", "[Ann]")], None)
        assert writer.begun.acquire(timeout=_BOUND)
        writer.may.release(2)
        assert first.result(_BOUND) == [Applied(t_index=1)]
        assert second.result(_BOUND) == [Applied(t_index=2)]


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
