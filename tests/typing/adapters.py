"""The types of the adapters' public names: mypy checks this module, and no test runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, Item, SearchItem
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.graph_stores.types import (
    GraphStore,
    LabelledNode,
    PropertyGraphStore,
    Relation,
)
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.schema import BaseNode, NodeWithScore, TransformComponent
from llama_index.core.tools import FunctionTool

import langchain_recallm
import llama_index_recallm
from recallm import RecallM
from recallm.adapting import Message
from recallm.facts import FactMemory
from recallm.hybrid import LLMDiscriminator


def namespace_of_run(config: RunnableConfig) -> str:
    return str(config.get("configurable", {})["user_id"])


def namespace_of_runtime(runtime: Runtime[Any]) -> str:
    return str(runtime.context)


def redact(text: str) -> str:
    return text.replace("4711", "[PIN]")


def accept(message: Message) -> bool:
    return message.role == "human" and "[PIN]" not in message.text


def langchain_agent(memory: RecallM, model: BaseChatModel) -> None:
    middleware = langchain_recallm.RecallMMiddleware(
        memory=memory,
        namespace=namespace_of_runtime,
        scope="session",
        position="user",
        roles=("human", "tool"),
        limit=None,
        max_tokens=500,
        min_score=0.2,
        redact=redact,
        accept=accept,
        raise_errors=True,
        name="team",
    )
    base: AgentMiddleware[Any, Any, Any] = middleware
    assert_type(middleware.name, str)
    assert_type(middleware.memory, RecallM)
    tools = langchain_recallm.create_recallm_tools(memory, namespace="ann")
    assert_type(tools, list[BaseTool])
    create_agent(model, tools, middleware=[base])
    assert_type(langchain_recallm.create_fact_tools(memory), list[BaseTool])
    langchain_recallm.create_fact_tools(FactMemory(memory), namespace=namespace_of_runtime, limit=5)
    langchain_recallm.RecallMMiddleware(memory=memory, position="top")  # type: ignore[arg-type]
    langchain_recallm.RecallMMiddleware(memory)  # type: ignore[call-arg]


async def langchain_retriever(memory: RecallM, model: BaseChatModel) -> None:
    retriever = langchain_recallm.RecallMRetriever(
        memory=memory, namespace=namespace_of_run, k=3, where={"channel": "general"}, order="score"
    )
    base: BaseRetriever = retriever
    assert_type(base.invoke("Who loves coffee?"), list[Document])
    assert_type(retriever.invoke("Who loves coffee?", k=1), list[Document])
    assert_type(await retriever.ainvoke("Who loves coffee?"), list[Document])
    chain = langchain_recallm.answer_chain(memory, model, session="monday", max_tokens=500)
    assert_type(chain, Runnable[str | dict[str, Any], dict[str, Any]])
    assert_type(chain.invoke("Who loves coffee?"), dict[str, Any])
    hybrid = langchain_recallm.hybrid_chain(memory, model, vectors=retriever, limit=3)
    assert_type(hybrid, Runnable[str | dict[str, Any], dict[str, Any]])
    langchain_recallm.hybrid_chain(
        memory, model, vectors=memory, discriminator=LLMDiscriminator(str)
    )
    langchain_recallm.hybrid_chain(memory, model, vectors=str, namespace=namespace_of_run)
    chat = langchain_recallm.fact_chat(FactMemory(memory), model, namespace=namespace_of_run)
    assert_type(chat, Runnable[str | dict[str, Any], dict[str, Any]])
    assert_type(langchain_recallm.as_llm(model), Callable[[str], str])


def langchain_conversations(memory: RecallM) -> None:
    history = langchain_recallm.RecallMChatMessageHistory(memory=memory, session="monday", limit=9)
    base: BaseChatMessageHistory = history
    assert_type(history.messages, list[BaseMessage])
    base.add_user_message("I live in Oslo.")
    chain_memory = langchain_recallm.RecallMMemory(memory=memory, session="monday", limit=5)
    assert_type(chain_memory.memory_variables, list[str])
    assert_type(chain_memory.load_memory_variables({"input": "Where?"}), dict[str, Any])
    chain_memory.save_context({"input": "I live in Oslo."}, {"output": "Noted."})


async def langgraph_store(memory: RecallM) -> None:
    store = langchain_recallm.RecallMStore(
        memory=memory, fields=["text"], ttl={"default_ttl": 60.0, "refresh_on_read": True}
    )
    base: BaseStore = store
    base.put(("users", "ann"), "food", {"memory": "Ann loves pizza"})
    assert_type(store.get(("users", "ann"), "food"), Item | None)
    assert_type(store.search(("users",), query="What does Ann love?"), list[SearchItem])
    assert_type(await store.asearch(("users",)), list[SearchItem])
    assert_type(store.sweep_ttl(), int)


async def llama_index_memory(memory: RecallM, llm: BaseLLM) -> None:
    block = llama_index_recallm.RecallMMemoryBlock(
        memory=memory,
        namespace="user-ann",
        scope="session",
        roles={"human"},
        redact=redact,
        accept=accept,
    )
    base: BaseMemoryBlock[str] = block
    talk = Memory.from_defaults(session_id="monday", memory_blocks=[base])
    assert_type(block.flush(talk), int)
    assert_type(await block.aflush(talk), int)
    assert_type(llama_index_recallm.as_llm(llm), Callable[[str], str])


async def llama_index_retrievers(memory: RecallM, llm: BaseLLM) -> None:
    retriever = llama_index_recallm.RecallMRetriever(
        memory, namespace="ann", limit=3, where={"channel": "general"}, order="score"
    )
    assert_type(retriever.retrieve("Who loves coffee?"), list[NodeWithScore])
    assert_type(await retriever.aretrieve("Who loves coffee?"), list[NodeWithScore])
    engine = llama_index_recallm.RecallMHybridQueryEngine(memory, llm, vectors=retriever, limit=3)
    base: BaseQueryEngine = engine
    assert_type(base.query("Who loves coffee?"), RESPONSE_TYPE)
    spec = llama_index_recallm.RecallMFactToolSpec(FactMemory(memory), source="monday")
    assert_type(spec.to_tool_list(), list[FunctionTool])
    store = llama_index_recallm.RecallMPropertyGraphStore(memory)
    llama_index_recallm.RecallMSubRetriever(store, include_text=True, limit=3)
    llama_index_recallm.RecallMRetriever(memory, order="best")  # type: ignore[arg-type]


async def llama_index_graphs(memory: RecallM, nodes: list[BaseNode]) -> None:
    store = llama_index_recallm.RecallMPropertyGraphStore(
        memory, embedding_model="words", timestamp_key="date"
    )
    base: PropertyGraphStore = store
    assert_type(base.get(ids=["Ann"]), list[LabelledNode])
    assert_type(await store.aget(properties={"name": "Ann"}), list[LabelledNode])
    [(source, relation, target)] = store.get_triplets(entity_names=["Ann"])
    assert_type(source, LabelledNode)
    assert_type(relation, Relation)
    assert_type(target, LabelledNode)
    assert_type(store.get_llama_nodes(["chunk"]), list[BaseNode])
    store.persist("folder/graph.json")
    extractor = llama_index_recallm.RecallMExtractor(memory=memory)
    component: TransformComponent = extractor
    component(nodes)
    triplets = llama_index_recallm.RecallMGraphStore(memory)
    legacy: GraphStore = triplets
    legacy.upsert_triplet("Ann", "sails to", "Naxos")
    assert_type(triplets.get("Ann"), list[list[str]])
    assert_type(triplets.get_rel_map(["Ann"]), dict[str, list[list[str]]])
