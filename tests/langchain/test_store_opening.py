"""A store that opens and closes a memory of its own, and the thread that sweeps it."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from langchain_recallm import RecallMStore
from recallm import ClosedError, InvalidInputError, RecallM, StoreError
from tests.langchain.conftest import Clock

SOON = 0.01 / 60
"""A hundredth of a second, in minutes."""


class Watched(RecallMStore):
    """Notes each sweep; the first ones fail where ``failures`` says so."""

    def __init__(self, failures: int = 0, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.failures = failures
        self.swept = threading.Semaphore(0)

    def sweep_ttl(self) -> int:
        try:
            if self.failures:
                self.failures -= 1
                raise StoreError("the disk is gone")
            return super().sweep_ttl()
        finally:
            self.swept.release()


# -- opening ---------------------------------------------------------------------------------------


def test_a_store_opens_and_closes_its_own_memory(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    for place in (path, str(path)):
        with RecallMStore.from_conn_string(place, namespace="ann", fields=["text"]) as store:
            store.setup()
            store.put(("a",), "k", {"text": "Ann has a cat.", "n": 1})
        with pytest.raises(ClosedError):
            store.get(("a",), "k")
    with RecallM(path, namespace="ann") as memory:
        assert memory.recall("What does Ann have?").statements[0].text == "Ann has a cat."


async def test_it_opens_and_closes_off_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def noted(work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            threads.append(threading.get_ident())
            return work(*args, **kwargs)

        return run

    monkeypatch.setattr(RecallM, "__init__", noted(RecallM.__init__))
    monkeypatch.setattr(RecallM, "close", noted(RecallM.close))
    async with RecallMStore.from_conn_string(tmp_path / "store.db") as store:
        await store.aput(("a",), "k", {"text": "Ann has a cat."})
        assert (await store.aget(("a",), "k")) is not None
    assert len(threads) == 2
    assert threading.get_ident() not in threads
    with pytest.raises(ClosedError):
        await store.aget(("a",), "k")


def test_in_memory() -> None:
    with RecallMStore.from_conn_string(":memory:", ttl={"default_ttl": 1}) as store:
        store.put(("a",), "k", {"n": 1})
        assert store.ttl_config == {"default_ttl": 1}


def test_what_cannot_be_used_leaves_nothing_open(tmp_path: Path) -> None:
    with (
        pytest.raises(InvalidInputError, match="embeddings=…"),
        RecallMStore.from_conn_string(":memory:", index={"dims": 3}),
    ):
        pass
    with (
        pytest.raises(InvalidInputError, match="fields"),
        (
            RecallMStore.from_conn_string(tmp_path / "store.db", fields=3)  # type: ignore[arg-type]
        ),
    ):
        pass
    with pytest.raises(StoreError), RecallMStore.from_conn_string(tmp_path / "no" / "folder.db"):
        pass
    with (
        pytest.raises(TypeError, match="colour"),
        RecallMStore.from_conn_string(":memory:", colour="red"),
    ):
        pass


async def test_a_block_leaves_a_given_memory_open_unless_it_is_to_be_closed() -> None:
    with RecallM() as memory:
        with RecallMStore(memory=memory) as store:
            store.put(("a",), "k", {"n": 1})
        async with RecallMStore(memory=memory) as store:
            assert await store.aget(("a",), "k")
        assert memory.items.get(("a",), "k")
        with RecallMStore(memory=memory, closes_memory=True):
            pass
        with pytest.raises(ClosedError):
            memory.items.get(("a",), "k")


# -- sweeping --------------------------------------------------------------------------------------


def test_the_sweeper_frees_the_room_of_expired_items() -> None:
    clock = Clock()
    with RecallM(clock=clock) as memory, Watched(memory=memory) as store:
        store.put(("a",), "gone", {"text": "Ann has a cat."}, ttl=1)
        store.put(("a",), "kept", {"text": "Ann has a dog."})
        clock.now += timedelta(minutes=2)
        assert memory.stats().passages == 2
        future = store.start_ttl_sweeper(SOON)
        assert store.start_ttl_sweeper(SOON) is future
        store.swept.acquire()
        store.swept.acquire()  # the first sweep is over by then
        assert memory.stats().passages == 1
        assert store.stop_ttl_sweeper(timeout=10)
        assert future.result(timeout=10) is None
        assert store.stop_ttl_sweeper()


def test_a_failed_sweep_is_logged_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    with RecallM() as memory, Watched(memory=memory, failures=2) as store:
        store.start_ttl_sweeper(SOON)
        for _ in range(4):
            store.swept.acquire()
    assert caplog.text.count("expired items were not swept") == 2


def test_the_configured_interval_counts_where_none_is_given() -> None:
    with RecallM() as memory:
        with Watched(memory=memory, ttl={"sweep_interval_minutes": SOON}) as store:
            store.start_ttl_sweeper()
            store.swept.acquire()
        with Watched(memory=memory) as store:
            future = store.start_ttl_sweeper()
            assert future.cancel()
            assert store.stop_ttl_sweeper(timeout=10)
            store.start_ttl_sweeper(SOON)  # it can be started again
            store.swept.acquire()


def threads() -> list[threading.Thread]:
    return [it for it in threading.enumerate() if it.name == "recallm-ttl-sweeper"]


def ended(sweeper: threading.Thread) -> bool:
    sweeper.join(10)
    return not sweeper.is_alive()


def test_the_thread_ends_with_its_store_and_with_its_memory() -> None:
    with RecallM() as memory:
        store = RecallMStore(memory=memory)
        store.start_ttl_sweeper()
        [thread] = threads()
        alive = weakref.ref(store)
        del store
        gc.collect()
        assert alive() is None
        assert ended(thread)
        other = RecallMStore(memory=memory)
        done: Future[None] = other.start_ttl_sweeper(SOON)
    done.result(timeout=10)  # the memory is closed


def test_an_interval_that_cannot_be_used(subtests: pytest.Subtests) -> None:
    minutes: Any
    for minutes in [0, -1, "5", True, float("inf"), float("nan")]:
        with subtests.test(case=str(minutes)):
            with RecallM() as memory, RecallMStore(memory=memory) as store:
                with pytest.raises(InvalidInputError, match="sweep_interval_minutes"):
                    store.start_ttl_sweeper(minutes)
                assert threads() == []


def test_expiry_is_seen_at_once_with_or_without_a_sweep() -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    clock = Clock()
    clock.now = now
    with RecallM(clock=clock) as memory, RecallMStore(memory=memory) as store:
        store.put(("a",), "k", {"n": 1}, ttl=1)
        clock.now = now + timedelta(minutes=1)
        assert store.get(("a",), "k") is None
