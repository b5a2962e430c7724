"""From ``ConversationBufferMemory`` and ``VectorStoreRetrieverMemory`` to ``RecallMMemory``.

The chain stays as it is: only its memory changes.
"""

from __future__ import annotations

import warnings
from typing import Any

from langchain_classic.chains import ConversationChain
from langchain_classic.memory import ConversationBufferMemory, VectorStoreRetrieverMemory
from langchain_core._api.deprecation import LangChainDeprecationWarning
from langchain_core.vectorstores import InMemoryVectorStore
from offline import OfflineChatModel, OfflineEmbeddings  # type: ignore[import-not-found]

from langchain_recallm import RecallMMemory
from recallm import RecallM

# The classic classes say so when they are built.
warnings.filterwarnings("ignore", category=LangChainDeprecationWarning)

TOLD = [
    "My sister Ingrid lives in Malaga.",
    "My bicycle is red.",
    "Ingrid moved: she lives in Porto now.",
]
QUESTION = "Where does Ingrid live?"


def prompt_of(memory: Any) -> str:
    """Tell a conversation to a chain with this memory, and give what its prompt would hold."""
    chain = ConversationChain(llm=OfflineChatModel(), memory=memory)
    for text in TOLD:
        chain.invoke({"input": text})
    history: str = memory.load_memory_variables({"input": QUESTION})["history"]
    return history


# Before: all that was said, at any length, and gone with the process.
print("ConversationBufferMemory\n" + prompt_of(ConversationBufferMemory()))

# Before: the nearest turns in no order, old and new alike; clear() clears nothing.
vectors = InMemoryVectorStore(OfflineEmbeddings()).as_retriever(search_kwargs={"k": 2})
print("\nVectorStoreRetrieverMemory\n" + prompt_of(VectorStoreRetrieverMemory(retriever=vectors)))

# After: what helps with the question, in the order in which it became true, within a budget.
with RecallM() as memory:  # RecallM("memory.db") keeps it in a file
    print("\nRecallMMemory\n" + prompt_of(RecallMMemory(memory=memory, limit=4, max_tokens=200)))

    # What the old memory holds moves over with its own method.
    old = ConversationBufferMemory(return_messages=True)
    old.save_context({"input": "Ingrid has a dog."}, {"output": "What is it called?"})
    messages = old.chat_memory.messages
    new = RecallMMemory(memory=memory, session="moved")
    for asked, answered in zip(messages[::2], messages[1::2], strict=True):
        new.save_context({"input": asked}, {"output": answered})
    print("\n" + memory.recall("What animal does Ingrid have?", limit=1).text)
