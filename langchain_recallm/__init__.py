"""RecallM as the memory of LangChain: old chains and new agents.

Every class takes the core as ``memory=`` and has defaults for all else:

>>> from recallm import RecallM
>>> from langchain_recallm import RecallMRetriever
>>> memory = RecallM()
>>> _ = memory.update("Brandon loves coffee")
>>> RecallMRetriever(memory=memory).invoke("Who loves coffee?")[0].page_content
'Brandon loves coffee'

What is not used is not imported: the middleware needs ``langchain``, ``RecallMMemory``
``langchain-classic``, the store and the tools ``langgraph``.
``pip install 'recallm-memory[langchain]'`` brings them all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import recallm.distribution  # noqa: F401 - refuses another project's files among ours
from recallm import MissingDependencyError

if TYPE_CHECKING:
    from langchain_recallm.chain import answer_chain, fact_chat, hybrid_chain
    from langchain_recallm.chat_history import RecallMChatMessageHistory, exchange_messages
    from langchain_recallm.llm import as_llm
    from langchain_recallm.memory import RecallMMemory
    from langchain_recallm.middleware import RecallMMiddleware
    from langchain_recallm.retriever import RecallMRetriever
    from langchain_recallm.store import RecallMStore
    from langchain_recallm.tools import create_fact_tools, create_recallm_tools

__all__ = [
    "RecallMChatMessageHistory",
    "RecallMMemory",
    "RecallMMiddleware",
    "RecallMRetriever",
    "RecallMStore",
    "answer_chain",
    "as_llm",
    "create_fact_tools",
    "create_recallm_tools",
    "exchange_messages",
    "fact_chat",
    "hybrid_chain",
]

_MODULES = {
    "RecallMChatMessageHistory": "chat_history",
    "RecallMMemory": "memory",
    "RecallMMiddleware": "middleware",
    "RecallMRetriever": "retriever",
    "RecallMStore": "store",
    "answer_chain": "chain",
    "as_llm": "llm",
    "create_fact_tools": "tools",
    "create_recallm_tools": "tools",
    "exchange_messages": "chat_history",
    "fact_chat": "chain",
    "hybrid_chain": "chain",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise MissingDependencyError(package, extra="langchain") from error
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
