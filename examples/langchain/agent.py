"""An agent that remembers: two users, two conversations each, one memory.

The user is the namespace, so nothing crosses from one to the other. The thread is the session: what
was said in one conversation is recalled in the next.
"""

from __future__ import annotations

from dataclasses import dataclass

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from offline import OfflineChatModel  # type: ignore[import-not-found]

from langchain_recallm import RecallMMiddleware
from recallm import RecallM


@dataclass
class User:
    """What a run is told of who it runs for."""

    id: str


with RecallM() as memory:  # RecallM("memory.db") keeps it in a file
    agent = create_agent(
        OfflineChatModel(),  # your model
        system_prompt="You are a helpful assistant.",
        middleware=[
            RecallMMiddleware(memory=memory, namespace=lambda runtime: f"user-{runtime.context.id}")
        ],
        context_schema=User,
        checkpointer=InMemorySaver(),
    )

    def say(user: str, thread: str, text: str) -> None:
        """One turn of a conversation."""
        state = agent.invoke(
            {"messages": [HumanMessage(text)]},
            config={"configurable": {"thread_id": f"{user}-{thread}"}},
            context=User(user),
        )
        print(f"{user}, {thread}: {text}\n    {state['messages'][-1].text}")

    say("ann", "monday", "I live in Oslo and I work as a baker.")
    say("bo", "monday", "I live in Bergen.")
    say("ann", "tuesday", "I moved: now I live in Tromsø.")
    # New conversations: the threads are empty, the memory is not.
    say("ann", "wednesday", "Where do I live now?")
    say("bo", "wednesday", "Where do I live now?")
    say("bo", "wednesday", "What do I work as?")

    print()
    print(memory.in_namespace("user-ann").recall("Where do I live?", asker="Human").text)
