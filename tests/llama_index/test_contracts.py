"""What LlamaIndex's own tests ask of graph stores and memory blocks: on ours, and on LlamaIndex's
own as the reference; and which kinds of cases of other property graph stores fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from llama_index.core import MockEmbedding
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.graph_stores import SimpleGraphStore
from llama_index.core.graph_stores.types import EntityNode, GraphStore
from llama_index.core.memory import (
    BaseMemoryBlock,
    InsertMethod,
    StaticMemoryBlock,
    VectorMemoryBlock,
)
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    VectorStoreQuery,
    VectorStoreQueryResult,
)
from pydantic import PrivateAttr

from llama_index_recallm import (
    RecallMGraphStore,
    RecallMMemoryBlock,
    RecallMPropertyGraphStore,
)
from recallm import RecallM
from tests.llama_index.memories import NewMemory, ai, new_memory, system_of, user

__all__ = ["new_memory"]  # a fixture

# -- graph stores ------------------------------------------------------------------------------


@pytest.fixture(params=["recallm", "SimpleGraphStore"])
def graph(request: pytest.FixtureRequest, memory: RecallM) -> GraphStore:
    return RecallMGraphStore(memory=memory) if request.param == "recallm" else SimpleGraphStore()


def test_an_empty_graph(graph: GraphStore) -> None:
    assert isinstance(graph, GraphStore)
    assert graph.get("Ann") == []
    assert not any(graph.get_rel_map(["Ann"]).values())
    graph.delete("Ann", "LIKES", "tea")
    assert graph.get("Ann") == []


def test_triplets_of_a_subject(graph: GraphStore) -> None:
    for triplet in (("Ann", "LIKES", "tea"), ("Ann", "HATES", "milk"), ("Bo", "LIKES", "tea")):
        graph.upsert_triplet(*triplet)
    assert graph.get("Ann") == [["LIKES", "tea"], ["HATES", "milk"]]
    assert graph.get("Bo") == [["LIKES", "tea"]]
    assert graph.get("tea") == []


def test_relations_by_depth(graph: GraphStore) -> None:
    chain = [["a", "R", "b"], ["b", "R", "c"], ["c", "R", "d"]]
    for triplet in chain:
        graph.upsert_triplet(*triplet)
    for depth in (1, 2, 3):
        assert graph.get_rel_map(["a"], depth=depth) == {"a": chain[:depth]}
    assert graph.get_rel_map(["b"], depth=1) == {"b": chain[1:2]}


def test_relations_of_several_subjects(graph: GraphStore) -> None:
    graph.upsert_triplet("a", "R", "b")
    graph.upsert_triplet("c", "R", "d")
    both = {"a": [["a", "R", "b"]], "c": [["c", "R", "d"]]}
    assert graph.get_rel_map(["a", "c"], depth=1) == both
    assert graph.get_rel_map(["a", "c"], depth=1, limit=1)["a"] == both["a"]
    found = graph.get_rel_map(depth=1)
    assert {subject: found[subject] for subject in both} == both


# -- cases of the stores for other databases that fail -----------------------------------------


def _asks_in_cypher(store: RecallMPropertyGraphStore) -> None:
    store.structured_query("MATCH (n:`__Entity__`) RETURN n")


def _asks_for_a_schema(store: RecallMPropertyGraphStore) -> None:
    assert "Node properties:" in store.get_schema_str()


def _expects_another_base(store: RecallMPropertyGraphStore) -> None:
    assert "Neo4jPropertyGraphStore" in [base.__name__ for base in type(store).__mro__]


def _turns_to_another_graph(store: Any) -> None:
    store.switch_graph("new_graph")


FAILING = {
    _asks_in_cypher: NotImplementedError,
    _asks_for_a_schema: AssertionError,
    _expects_another_base: AssertionError,
    _turns_to_another_graph: AttributeError,
}
"""docs/llama_index.md names each of these kinds, and its reason."""


def test_the_kinds_of_cases_that_fail(store: RecallMPropertyGraphStore) -> None:
    """Where one of them no longer fails, the documentation says too little of the store."""
    store.upsert_nodes([EntityNode(name="Ann", label="PERSON", properties={"age": 30})])
    for case, error in FAILING.items():
        with pytest.raises(error):
            case(store)


# -- memory blocks -----------------------------------------------------------------------------


class _Nodes(BasePydanticVectorStore):
    """A vector store that finds everything, as that of LlamaIndex's tests."""

    stores_text: bool = True
    _nodes: list[BaseNode] = PrivateAttr(default_factory=list)

    @property
    def client(self) -> None:
        return None

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        self._nodes += nodes
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        raise NotImplementedError

    def query(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        del query
        return VectorStoreQueryResult(nodes=self._nodes, similarities=[1.0] * len(self._nodes))


@pytest.fixture(params=["recallm", "VectorMemoryBlock"])
def block(request: pytest.FixtureRequest) -> Iterator[BaseMemoryBlock[str]]:
    if request.param == "VectorMemoryBlock":
        yield VectorMemoryBlock(vector_store=_Nodes(), embed_model=MockEmbedding(embed_dim=4))
        return
    with RecallM() as memory:
        yield RecallMMemoryBlock(memory=memory, raise_errors=True)


HISTORY = [
    user("What is the capital of France?"),
    ai("The capital of France is Paris."),
    user("And of Germany?"),
    ai("The capital of Germany is Berlin."),
]
ASKED = user("Tell me about the capital of France.")


def told() -> list[ChatMessage]:
    """Copies: a block may take the session out of the messages that it is given."""
    return [message.model_copy(deep=True) for message in HISTORY]


async def test_what_was_put_is_found(block: BaseMemoryBlock[str]) -> None:
    await block.aput(told())
    found = await block.aget([ASKED])
    assert "The capital of France is Paris." in found
    assert "The capital of France is Paris." in await block.aget([ASKED], session_id="another")


async def test_no_text_is_nothing(block: BaseMemoryBlock[str]) -> None:
    image = user([ImageBlock(url="https://a.example/b.png")])
    for messages in ([], [ChatMessage(role="user", blocks=[])], [image]):
        await block.aput(messages)
        assert await block.aget([ASKED]) == ""
    await block.aput(told())
    assert await block.aget([]) == ""


async def test_parts_of_a_message(block: BaseMemoryBlock[str]) -> None:
    parts = [TextBlock(text="Ann lives in Oslo."), TextBlock(text="She keeps bees.")]
    await block.aput([user(parts)])
    found = await block.aget([user("Where does Ann live, and what does she keep?")])
    assert "Ann lives in Oslo." in found
    assert "She keeps bees." in found


async def test_arguments_that_others_use(block: BaseMemoryBlock[str]) -> None:
    """``Memory`` hands every block whatever its caller gave."""
    await block.aput(told())
    assert "Paris" in await block.aget([ASKED], session_id="s", another="value")


@pytest.mark.parametrize("method", list(InsertMethod))
async def test_where_a_memory_shows_it(
    block: BaseMemoryBlock[str], new_memory: NewMemory, method: InsertMethod
) -> None:
    await block.aput(told())
    memory = new_memory("s", block, insert_method=method)
    await memory.aput(ASKED.model_copy(deep=True))
    sent = await memory.aget()
    assert [str(message.role.value) for message in sent] == (
        ["system", "user"] if method is InsertMethod.SYSTEM else ["user"]
    )
    shown = "\n".join(part.text for part in sent[0].blocks if isinstance(part, TextBlock))
    assert "The capital of France is Paris." in shown


async def test_beside_another_block(block: BaseMemoryBlock[str], new_memory: NewMemory) -> None:
    """Where there is room for one of them, the one that may be cut goes."""
    await block.aput(told())
    block.priority = 1
    kept = StaticMemoryBlock(
        name="kept", static_content=[TextBlock(text="Answer in French.")], priority=0
    )
    roomy = new_memory("s", kept, block)
    await roomy.aput(ASKED.model_copy(deep=True))
    both = system_of(await roomy.aget())
    assert "Answer in French." in both
    assert "is Paris" in both
    tight = new_memory("t", kept, block, token_limit=45, chat_history_token_ratio=0.5)
    await tight.aput(ASKED.model_copy(deep=True))
    one = system_of(await tight.aget())
    assert "Answer in French." in one
    assert "is Paris" not in one
