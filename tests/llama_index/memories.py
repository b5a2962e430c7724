"""What tests of the memory block share: a core, LlamaIndex memories, turns of a conversation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from llama_index_recallm import RecallMMemoryBlock
from recallm import RecallM
from tests.written_messages import speakers_and_texts

__all__ = [
    "SMALL",
    "NewMemory",
    "ai",
    "core",
    "new_memory",
    "system_of",
    "texts",
    "tool",
    "turn",
    "user",
]

SMALL = {"token_limit": 1000, "token_flush_size": 100, "chat_history_token_ratio": 0.1}
"""A queue of 100 tokens, and room for blocks."""

NewMemory = Callable[..., Memory]
"""A ``Memory`` of a session with these blocks; ``engine`` where several share their queue."""


@pytest.fixture
def core() -> Iterator[RecallM]:
    with RecallM() as core:
        yield core


@pytest.fixture
async def new_memory() -> AsyncIterator[NewMemory]:
    engines: list[AsyncEngine] = []

    def make(
        session: str | None = None,
        *blocks: RecallMMemoryBlock,
        engine: AsyncEngine | None = None,
        **how: Any,
    ) -> Memory:
        if engine is None:
            engine = create_async_engine("sqlite+aiosqlite://")
        engines.append(engine)
        return Memory.from_defaults(session, memory_blocks=list(blocks), async_engine=engine, **how)

    yield make
    for engine in engines:
        await engine.dispose()


def user(content: Any, **more: Any) -> ChatMessage:
    return ChatMessage(role="user", content=content, additional_kwargs=more)


def ai(content: Any, **more: Any) -> ChatMessage:
    return ChatMessage(role="assistant", content=content, additional_kwargs=more)


def tool(content: Any, **more: Any) -> ChatMessage:
    return ChatMessage(role="tool", content=content, additional_kwargs=more)


def system_of(messages: list[ChatMessage]) -> str:
    """The system message that a model is sent; '' where there is none."""
    return str(messages[0].content) if messages and messages[0].role == "system" else ""


def texts(core: RecallM, session: str | None = None) -> list[str]:
    return [text for _, text in speakers_and_texts(core, session)]


async def turn(memory: Memory, asked: str, answered: str) -> list[ChatMessage]:
    """A turn as a ``SimpleChatEngine`` does it; returns the messages that the model gets."""
    await memory.aput(user(asked))
    sent = await memory.aget()
    await memory.aput(ai(answered))
    return sent
