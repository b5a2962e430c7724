"""The types of ``recallm``'s public names: mypy checks this module, and no test runs it.

A call that stops type-checking here stops type-checking in users' code. The fields of results are
what their annotations say, and stand here where a call leads to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, assert_type

from recallm import (
    Answer,
    Forgotten,
    KnowledgeUpdate,
    NewEntity,
    NewTriplet,
    RankedConcept,
    RecallConfig,
    RecalledContext,
    RecalledStatement,
    RecallM,
    Receipt,
    Session,
)
from recallm.vectors import Embedding

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def llm(prompt: str) -> str:
    return prompt


def embed(texts: list[str]) -> Sequence[Sequence[float]]:
    return [[float(len(text))] for text in texts]


def open_memories() -> None:
    assert_type(RecallM(), RecallM)
    assert_type(RecallM("memory.db"), RecallM)
    assert_type(RecallM(Path("memory.db"), namespace="user-42", llm=llm, embeddings=embed), RecallM)
    assert_type(RecallM("neo4j://host:7687", auth=("neo4j", "secret"), timeout=10), RecallM)
    embedding = Embedding(name="lengths", embed=embed)
    settings = RecallConfig(ranking="paper", limit=5)
    memory = RecallM(config=settings, embeddings=embedding, clock=lambda: NOON, count_tokens=len)
    assert_type(memory.in_namespace("user-43"), RecallM)
    assert_type(memory.with_ranking("statements"), RecallM)
    assert_type(memory.namespace, str)
    assert_type(memory.config, RecallConfig)
    assert_type(memory.llm, Callable[[str], str] | None)
    assert_type(memory.now(), datetime)
    assert_type(memory.count_tokens("Some text."), int)
    with memory as opened:
        assert_type(opened, RecallM)


def write(memory: RecallM) -> None:
    update = memory.update(
        "I start at Cisco on Monday!",
        speaker="Brandon",
        timestamp=NOON,
        source="chat",
        session="chat-17",
        id="message-1",
        metadata={"channel": "general"},
        expires_at=None,
        entities=[NewEntity(id="Cisco", type="company")],
        triplets=[NewTriplet(subject="Brandon", predicate="works for", object="Cisco")],
        replace=False,
    )
    assert_type(update, KnowledgeUpdate)
    items: list[str | Mapping[str, Any]] = ["Carter ate.", {"text": "Bo ate.", "source": "log"}]
    assert_type(memory.update_many(items, batch_size=10, progress=True), list[KnowledgeUpdate])
    assert_type(memory.embed(batch_size=100), int)
    assert_type(memory.expire({"message-1": NOON}), int)
    assert_type(memory.withdraw(["message-1"], undo=True), int)
    assert_type(memory.forget(concept="Paris"), Forgotten)
    memory.forget(before=NOON)
    memory.forget(expired=True)
    assert_type(memory.export(StringIO()), int)
    assert_type(memory.load("memory.jsonl"), int)
    assert_type(memory.export_namespace("ann", "ann.jsonl"), Receipt)
    assert_type(memory.erase_namespace("ann"), Receipt)
    assert_type(memory.namespaces(), tuple[str, ...])
    assert_type(memory.sessions(limit=3), tuple[Session, ...])


async def in_an_event_loop() -> None:
    memory = await RecallM.aopen("memory.db")
    assert_type(memory, RecallM)
    assert_type(await memory.aupdate("Ann sails.", speaker="Ann"), KnowledgeUpdate)
    assert_type(await memory.arecall("Who sails?", limit=3), RecalledContext)
    assert_type(await memory.aask("Who sails?", llm=llm), Answer)
    await memory.aupdate(7)  # type: ignore[arg-type]


def refuse(memory: RecallM) -> None:
    memory.update(7)  # type: ignore[arg-type]


def recall(memory: RecallM) -> None:
    context = memory.recall(
        "Where does Brandon work?",
        limit=5,
        max_tokens=200,
        as_of=2,
        since=NOON,
        until=7,
        speaker="Brandon",
        session="chat-17",
        metadata={"channel": "general"},
        path=("docs", "guides"),
        min_score=0.5,
        known={"message-1"},
    )
    assert_type(context, RecalledContext)
    assert_type(context.statements, tuple[RecalledStatement, ...])
    assert_type(context.concepts, tuple[RankedConcept, ...])
    assert_type(memory.ask("Where does Brandon work?", llm=llm, limit=3), Answer)
    memory.recall("Who?", limit="3")  # type: ignore[arg-type]
