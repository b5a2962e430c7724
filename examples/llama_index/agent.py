"""An agent that remembers: two users, two conversations each, one memory.

The user is the namespace, so nothing crosses from one to the other. ``Memory``'s session is the
session: what was said in one conversation is recalled in the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory
from offline import words  # type: ignore[import-not-found]
from sqlalchemy.ext.asyncio import create_async_engine

from llama_index_recallm import RecallMMemoryBlock
from recallm import RecallM


def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
    """What a model could read off its prompt: the remembered line that shares most words with the
    question, the later one of equals."""
    question = str(messages[-1].content)
    told = [
        line
        for message in messages
        for line in str(message.content).splitlines()
        if line.startswith("[")
    ]
    shared = [len(words(line) & words(question)) for line in told]
    best = max(range(len(told)), key=lambda place: (shared[place], place), default=None)
    if question.endswith("?") and best is not None and shared[best]:
        text = f"I remember: {told[best].partition(' ')[2]}"
    else:
        text = "I do not know." if question.endswith("?") else "Noted."
    return ChatMessage(role="assistant", content=text)


async def main() -> None:
    """Six turns, and what is known after them."""
    agent = FunctionAgent(
        llm=MockFunctionCallingLLM(response_generator=answer),  # your model
        system_prompt="You are a helpful assistant.",
    )
    # Where LlamaIndex keeps the messages of each session; a file or a server in your own code.
    engine = create_async_engine("sqlite+aiosqlite://")

    with RecallM() as core:  # RecallM("memory.db") keeps it in a file

        async def say(user: str, session: str, text: str) -> None:
            """One turn of a conversation."""
            memory = Memory.from_defaults(
                session_id=f"{user}-{session}",
                memory_blocks=[RecallMMemoryBlock(memory=core, namespace=f"user-{user}")],
                async_engine=engine,
            )
            print(f"{user}, {session}: {text}")
            print(f"    {await agent.run(user_msg=text, memory=memory)}")

        await say("ann", "monday", "I live in Oslo and I work as a baker.")
        await say("bo", "monday", "I live in Bergen.")
        await say("ann", "tuesday", "I moved: now I live in Tromsø.")
        # New conversations: the sessions are empty, the memory is not.
        await say("ann", "wednesday", "Where do I live now?")
        await say("bo", "wednesday", "Where do I live now?")
        await say("bo", "wednesday", "What do I work as?")

        print()
        print(core.in_namespace("user-ann").recall("Where do I live?", asker="Human").text)
    await engine.dispose()


asyncio.run(main())
