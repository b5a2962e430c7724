"""A query engine over documents, with no language model and no embedding model at indexing.

The first chapter of *The Wonderful Wizard of Oz* (L. Frank Baum, 1900, in the public domain) is
split, its concepts and their relations become a property graph, and each question is answered from
the statements that are recalled for it. Then a second document says otherwise, and the engine is
shown that last. Needs ``pip install 'recallm-memory[llama-index]'``.
"""

from __future__ import annotations

from pathlib import Path

from llama_index.core import Document, PropertyGraphIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.query_engine import RetrieverQueryEngine
from offline import OfflineLLM  # type: ignore[import-not-found]

from llama_index_recallm import (
    RecallMExtractor,
    RecallMPropertyGraphStore,
    RecallMSubRetriever,
)
from recallm import RecallM

CHAPTER = Path(__file__).parent / "the_cyclone.txt"
QUESTIONS = (
    "Who threw open the trap door?",
    "What kind of hair did Toto have?",
    "Where were the cows and horses kept?",
    "When did Aunt Em come to live there?",
)

with RecallM() as memory:  # RecallM("oz.db") keeps it in a file
    store = RecallMPropertyGraphStore(memory=memory)
    index = PropertyGraphIndex.from_documents(
        [Document(text=CHAPTER.read_text("utf-8"), id_="the cyclone")],
        property_graph_store=store,
        kg_extractors=[RecallMExtractor(memory=memory)],  # no language model
        embed_kg_nodes=False,  # no embedding model
        transformations=[SentenceSplitter(chunk_size=256, chunk_overlap=0)],
    )
    held = memory.stats()
    print(f"{held.passages} chunks, {held.entities} nodes, {held.triplets} relations")

    # One node a statement; RecallMRetriever does the same for any index, and for none.
    retriever = index.as_retriever(sub_retrievers=[RecallMSubRetriever(store, limit=5)])
    engine = RetrieverQueryEngine.from_args(retriever, llm=OfflineLLM())  # your language model

    for question in QUESTIONS:
        print(f"\n{question}\n{engine.query(question)}")

    index.insert(Document(text="Toto was dyed, and is a pink dog now.", id_="news"))
    print(f"\nAnd what colour is Toto now?\n{engine.query('What colour is Toto now?')}")
    told = retriever.retrieve("What colour is Toto now?")
    print("\nThe engine was shown:")
    for found in told:
        print(f"- {' '.join(found.text.split())}")
