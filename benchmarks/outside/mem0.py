"""mem0: ``pip install mem0ai onnxruntime tokenizers``.

Without a language model: ``add(messages, infer=False)``, a memory a message, a call a session, with
the day of the session as metadata; ``search`` without a threshold, in its default store (Qdrant,
in the memory of the process). The rest of its search, keywords by Qdrant's BM25 and boosts
for entities, needs a model from Hugging Face and one from GitHub; mem0 goes without where they
cannot be loaded.
"""

from __future__ import annotations

import os
import tempfile
from itertools import groupby
from typing import Any

from benchmarks.outside.serving import DEPTH, Embed, FoundTexts, Said, headed, serve

os.environ["MEM0_TELEMETRY"] = "False"


def search(turns: list[Said], question: str, embed: Embed) -> FoundTexts:
    """What a new memory finds."""
    by_id = {turn["id"]: turn for turn in turns}
    with tempfile.TemporaryDirectory() as folder:
        memory = _memory(folder, embed)
        for _, said in groupby(turns, key=lambda turn: turn["id"].partition(":")[0]):
            spoken = list(said)
            embed([turn["content"] for turn in spoken])  # mem0 embeds one by one
            for turn in spoken:
                memory.add(
                    [{"role": turn["role"], "content": turn["content"]}],
                    user_id="user",
                    metadata={"turn": turn["id"], "date": turn["date"]},
                    infer=False,
                )
        found = memory.search(question, top_k=DEPTH, filters={"user_id": "user"}, threshold=0.0)[
            "results"
        ]
    ids = [each["metadata"]["turn"] for each in found]
    return [([id], headed(by_id[id])) for id in ids]


def _memory(folder: str, embed: Embed) -> Any:
    from mem0 import Memory
    from mem0.embeddings.mock import MockEmbeddings
    from qdrant_client import QdrantClient

    def embedded(_: object, text: str, memory_action: str | None = None) -> list[float]:
        del memory_action
        vector: list[float] = embed([text])[0].tolist()
        return vector

    made = Memory.from_config(
        {
            "llm": {"provider": "openai", "config": {"api_key": "never called"}},
            "embedder": {
                "provider": "openai",
                "config": {"api_key": "never called", "embedding_dims": 384},
            },
            "vector_store": {
                "provider": "qdrant",
                "config": {"client": QdrantClient(":memory:"), "embedding_model_dims": 384},
            },
            "history_db_path": f"{folder}/history.db",
        }
    )
    MockEmbeddings.embed = embedded
    made.embedding_model = MockEmbeddings()
    return made


if __name__ == "__main__":
    serve(search)
