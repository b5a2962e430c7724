"""LangMem's search of a LangGraph store: ``pip install langmem onnxruntime tokenizers``.

Without a language model LangMem writes nothing by itself: each turn is an item of
``InMemoryStore(index=…)``, and ``create_search_memory_tool`` finds items, as its documentation on
storage says. The day and the session are part of an item's value, and only its content is embedded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from benchmarks.outside.serving import DEPTH, Embed, FoundTexts, Said, headed, serve


def search(turns: list[Said], question: str, embed: Embed) -> FoundTexts:
    """What a new store finds."""
    from langgraph.store.base import IndexConfig
    from langgraph.store.memory import InMemoryStore
    from langmem import create_search_memory_tool

    def embedded(texts: Sequence[str]) -> list[list[float]]:
        return [[float(number) for number in row] for row in embed(list(texts))]

    store = InMemoryStore(index=IndexConfig(dims=384, embed=embedded, fields=["content"]))
    namespace = ("memories", "user")
    embed([f"{turn['role']}: {turn['content']}" for turn in turns])  # at once, not one by one
    for turn in turns:
        content = f"{turn['role']}: {turn['content']}"
        store.put(namespace, turn["id"], {"content": content, "date": turn["date"]})
    tool = create_search_memory_tool(namespace, store=store)
    found = json.loads(tool.invoke({"query": question, "limit": DEPTH}))
    by_id = {turn["id"]: turn for turn in turns}
    return [([each["key"]], headed(by_id[each["key"]])) for each in found]


if __name__ == "__main__":
    serve(search)
