"""An agent with a memory of facts: it writes what it is told, looks facts up, and counts them.

What holds follows the latest fact; what held before is still known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from langchain_recallm import create_fact_tools
from recallm import RecallM
from recallm.facts import FactMemory


class OfflineToolModel(BaseChatModel):
    """Understands a few sentences, and calls the tool that a model would call for them; in your
    own code use a real model."""

    @property
    def _llm_type(self) -> str:
        return "offline"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """It knows the tools."""
        del tools, kwargs
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        del stop, run_manager
        text = messages[-1].text
        if isinstance(messages[-1], ToolMessage):
            lines = [line for line in text.splitlines() if not line.startswith(("<", "What was"))]
            reply = AIMessage("; ".join(line.partition("] ")[2] or line for line in lines))
        else:
            reply = AIMessage("", tool_calls=[_call(text)])
        return ChatResult(generations=[ChatGeneration(message=reply)])


def _call(text: str) -> Any:
    if found := re.match(r"How many people (work for|live in) (\w+)\?", text):
        name, arguments = "count_facts", {"relation": found[1], "object": found[2]}
    elif found := re.match(r"Who (works for|lives in) (\w+)\?", text):
        name, arguments = "read_facts", {"relation": found[1], "object": found[2]}
    elif found := re.match(r"Whom did (\w+) work for\?", text):
        name, arguments = "fact_history", {"subject": found[1], "relation": "works for"}
    else:
        subject, relation, object_ = re.findall(r"^(\w+) (works for|lives in) (\w+)", text)[0]
        name = "write_fact"
        arguments = {"subject": subject, "relation": relation, "object": object_}
    return {"name": name, "args": arguments, "id": "call", "type": "tool_call"}


with RecallM() as memory:  # RecallM("memory.db") keeps it in a file
    agent = create_agent(OfflineToolModel(), create_fact_tools(memory))

    for number, text in enumerate(
        (
            "Ada works for Cisco.",
            "Bo works for Opera.",
            "Ada works for Opera now.",
            "Who works for Cisco?",
            "Who works for Opera?",
            "How many people work for Opera?",
            "Whom did Ada work for?",
        )
    ):
        state = agent.invoke(
            {"messages": [HumanMessage(text)]},
            config={"configurable": {"thread_id": f"talk-{number}"}},
        )
        print(f"{text}\n    {state['messages'][-1].text}")

    # What was said in one conversation can be forgotten; the former fact holds again.
    memory.forget(source="talk-2")
    print([fact.object for fact in FactMemory(memory).read("Ada", "works for")])
