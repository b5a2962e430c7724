"""How methods are called: in an event loop, which runs on while the memory works, and by the names
of their arguments."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recallm import ClosedError, InvalidInputError, RecallM
from recallm.facts import FactMemory
from recallm.ground import methods


async def test_a_memory_works_in_an_event_loop(tmp_path: Path) -> None:
    async with await RecallM.aopen(tmp_path / "m.db", namespace="ann") as memory:
        update = await memory.aupdate("Ann moved to Lisbon.", session="s")
        await memory.aupdate_many(["Bob sings.", {"text": "Eve hums.", "id": "3"}])
        assert memory.namespace == "ann"
        assert "Lisbon" in (await memory.arecall("Where did Ann move?", limit=1)).text
        assert await memory.aask("Where did Ann move?", llm=lambda _: "Lisbon") == "Lisbon"
        assert [statement.text for statement in await memory.ahistory("Ann")] == [
            "Ann moved to Lisbon."
        ]
        assert await memory.aget("3") == memory.get("3")
        assert await memory.apassages() == memory.passages()
        assert await memory.aconcepts() == memory.concepts()
        assert await memory.arelations("Ann") == memory.relations("Ann")
        assert await memory.asessions() == memory.sessions()
        assert await memory.astats() == memory.stats()
        assert await memory.aforget(id=update.id)
    with pytest.raises(ClosedError):
        await memory.arecall("Where did Ann move?")


async def test_work_leaves_the_event_loop() -> None:
    threads: set[int] = set()
    owner = contextvars.ContextVar("owner", default="")

    def clock() -> datetime:
        threads.add(threading.get_ident())
        assert owner.get() == "ann"
        return datetime(2024, 5, 1, tzinfo=UTC)

    owner.set("ann")
    memory = await RecallM.aopen(clock=clock)
    await asyncio.gather(*(memory.aupdate(f"Ann likes the number {n}.") for n in range(20)))
    await memory.arecall("What does Ann like?")
    assert (await memory.astats()).passages == 20
    assert threading.get_ident() not in threads
    await memory.aclose()


async def test_a_call_that_holds_up_the_event_loop_says_what_to_write(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("recallm.ground.methods._LONG", 0.0)
    methods._warn_of_event_loop.cache_clear()
    with RecallM() as memory:
        for _ in range(2):
            memory.update("Ann moved to Lisbon.")
        await memory.aupdate("Bo lives in Oslo.")
        memory.namespaces()
    logged = [each.getMessage() for each in caplog.records if "event loop" in each.getMessage()]
    beginning = "{0} held up the event loop; write there: await "
    assert logged == [
        f"{beginning.format('update')}memory.aupdate(…)",
        f"{beginning.format('namespaces')}asyncio.to_thread(memory.namespaces, …)",
        f"{beginning.format('close')}memory.aclose(…)",
    ]


async def test_errors_reach_the_caller() -> None:
    with pytest.raises(InvalidInputError, match="namespace"):
        await RecallM.aopen(namespace="")
    async with RecallM() as memory:
        with pytest.raises(InvalidInputError):
            await memory.aupdate(1)  # type: ignore[arg-type]


async def test_a_cancelled_update_is_written_whole(tmp_path: Path) -> None:
    started, goes_on = threading.Event(), threading.Event()

    def clock() -> datetime:
        started.set()
        goes_on.wait(10)
        return datetime(2024, 5, 1, tzinfo=UTC)

    goes_on.set()
    memory = await RecallM.aopen(tmp_path / "m.db", clock=clock)
    started.clear()
    goes_on.clear()
    writing = asyncio.create_task(memory.aupdate("Ann sings."))
    await asyncio.to_thread(started.wait, 10)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    goes_on.set()
    while not (await memory.astats()).passages:
        await asyncio.sleep(0.01)
    assert [passage.text for passage in memory.passages()] == ["Ann sings."]
    await memory.aclose()


def test_an_argument_that_does_not_exist_names_the_one_that_is_meant() -> None:
    memory = RecallM()
    calls: list[tuple[Callable[..., Any], str, str]] = [
        (RecallM, "user_id", "namespace="),
        (RecallM, "embedings", "embeddings="),
        (memory.recall, "k", "limit="),
        (memory.recall, "user_id", "in_namespace"),
        (partial(memory.ask, "Who?", llm=str), "top_k", "limit="),
        (memory.update, "sesion", "session="),
        (memory.update, "colour", "known are text, speaker"),
        (partial(memory.update, "Ann keeps bees."), "created_at", "timestamp="),
        (memory.forget, "concpet", "concept="),
        (memory.history, "top_k", "limit="),
        (memory.items.search, "k", "limit="),
        (memory.graph.entities, "lables", "labels="),
        (FactMemory(memory).read, "asof", "as_of="),
        (lambda **item: memory.update_many([{"text": "Hi.", **item}]), "sesion", "session="),
        (lambda **given: asyncio.run(memory.arecall(**given)), "top_k", "limit="),
    ]
    wrong: list[str] = []
    for call, argument, hint in calls:
        try:
            call(**{argument: 3})
            wrong.append(f"{argument} was accepted")
        except InvalidInputError as error:
            if hint not in str(error) or argument not in str(error):
                wrong.append(str(error))
    assert not wrong
    assert not memory.passages()
