"""RecallMPropertyGraphStore under LlamaIndex beside its own in-memory store, and what the memory
block costs a turn.

    python -m benchmarks.llama_index [--chunks 1000] [--calls 50] [--known 10000] [--json OUT]

Both stores are filled by a ``PropertyGraphIndex`` with ``RecallMExtractor``, a chunk of eight
statements each and an embedding of 384 numbers, and asked the same. RecallM writes to an SQLite
file, durably, keeps an index of words and which chunk said what; LlamaIndex's
``SimplePropertyGraphStore`` is a dict, and answers no vector query. A turn is the user's message
and the model's answer put into a ``Memory``, and the history with what is recalled for it gotten.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from llama_index.core import Document, PropertyGraphIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery

from benchmarks.latency import milliseconds
from benchmarks.report import percentile, report
from benchmarks.statements import Talk
from llama_index_recallm import (
    RecallMExtractor,
    RecallMMemoryBlock,
    RecallMPropertyGraphStore,
)
from recallm import RecallM

_DIMENSIONS = 384


class RandomEmbedding(BaseEmbedding):
    """A direction of its own for every text, the same whenever it is asked."""

    def _get_query_embedding(self, query: str) -> list[float]:
        seed = sum(query.encode()) * 1_000_003 + len(query)
        return [float(number) for number in np.random.default_rng(seed).normal(size=_DIMENSIONS)]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def measured(store: PropertyGraphStore, memory: RecallM, chunks: int, calls: int) -> dict[str, Any]:
    """Chunks a second of a build, and milliseconds of each call in what was built."""
    said = Talk(seed=3).statements()
    texts = [" ".join(islice(said, 8)) for _ in range(chunks + calls)]
    embedding = RandomEmbedding()
    begun = perf_counter()
    index = PropertyGraphIndex(
        nodes=[TextNode(id_=f"chunk-{n}", text=text) for n, text in enumerate(texts[:chunks])],
        property_graph_store=store,
        kg_extractors=[RecallMExtractor(memory=memory)],
        embed_model=embedding,
    )
    taken = perf_counter() - begun
    names = [node.id for node in store.get() if hasattr(node, "name")][:calls]
    ids = [f"chunk-{n}" for n in range(calls)]

    def rel_map(name: str) -> object:
        return store.get_rel_map(store.get(ids=[name]), depth=2, limit=30)

    def vector_query(name: str) -> object:
        vector = embedding.get_query_embedding(name)
        return store.vector_query(VectorStoreQuery(query_embedding=vector, similarity_top_k=4))

    inserted = milliseconds(lambda text: index.insert(Document(text=text)), texts[chunks:])
    times = {
        "insert": inserted,
        "get": milliseconds(lambda name: store.get(ids=[name]), names),
        "rel map": milliseconds(rel_map, names),
        "chunk": milliseconds(lambda id: store.get_llama_nodes([id]), ids),
        "vector query": milliseconds(vector_query, names) if store.supports_vector_queries else [],
        "delete chunk": milliseconds(lambda id: store.delete(ids=[id]), ids),
    }
    return {
        "build, chunks/s": chunks / taken,
        **{
            f"{name} p50 ms": statistics.median(spent) if spent else None
            for name, spent in times.items()
        },
    }


def turns(block: RecallMMemoryBlock | None, questions: list[str]) -> dict[str, Any]:
    """Milliseconds of a turn for each question."""
    talk = Memory.from_defaults(memory_blocks=[] if block is None else [block])

    def turn(text: str) -> None:
        talk.put(ChatMessage(role="user", content=text))
        talk.get(input=text)
        talk.put(ChatMessage(role="assistant", content="Noted."))

    taken = milliseconds(turn, questions)
    return {"turn p50 ms": statistics.median(taken), "turn p95": percentile(taken, 0.95)}


def main() -> None:
    """Measure both, report both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--known", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    questions = Talk(seed=1).questions(options.calls)
    with tempfile.TemporaryDirectory(prefix="recallm-bench-") as folder:
        rows = [{"memory": "no block", **turns(None, questions)}]
        with RecallM(Path(folder) / "turns.db") as memory:
            memory.update_many(islice(Talk().statements(), options.known))
            block = RecallMMemoryBlock(memory=memory)
            rows.append(
                {
                    "memory": f"RecallMMemoryBlock, {options.known:,} known",
                    **turns(block, questions),
                }
            )
        report("One turn of a LlamaIndex Memory", rows, None)
        with RecallM(Path(folder) / "graph.db") as memory:
            ours = RecallMPropertyGraphStore(memory=memory)
            found = [
                {
                    "store": "RecallMPropertyGraphStore, SQLite file",
                    **measured(ours, memory, options.chunks, options.calls),
                }
            ]
        with RecallM() as memory:
            simple = SimplePropertyGraphStore()
            found.append(
                {
                    "store": "LlamaIndex's SimplePropertyGraphStore",
                    **measured(simple, memory, options.chunks, options.calls),
                }
            )
    report(f"A property graph of {options.chunks:,} chunks", found, options.json)


if __name__ == "__main__":
    main()
