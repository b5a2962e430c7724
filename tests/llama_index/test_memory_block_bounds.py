"""What the memory block does before the model is called, where a message is long."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index_recallm import RecallMMemoryBlock
from recallm import RecallM
from tests.llama_index.memories import user

DOCUMENT = " ".join(f"Person{place} bought a lamp in shop {place % 77}." for place in range(2000))


async def test_recall_asks_with_the_ends_of_a_long_message() -> None:
    """What is asked about a document stands before it or after it."""
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[1.0, 0.0] for _ in texts]

    with RecallM(embeddings=embed) as memory:
        memory.update("Ann keeps bees.")
        memory.update("Bo plays the harp.")
        block = RecallMMemoryBlock(memory=memory, eager=False, raise_errors=True)
        asked.clear()
        message = user(f"Who keeps bees? {DOCUMENT} Who plays the harp?")
        recalled = await block.aget([message], session_id="s")
    assert "Ann keeps bees." in recalled
    assert "Bo plays the harp." in recalled
    assert asked
    assert max(map(len, asked)) <= 4001
