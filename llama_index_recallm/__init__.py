"""RecallM in LlamaIndex: property graph store, retrievers, query engine, extractor, memory block,
tools.

Every class stands on a memory, the core, and has defaults for all else:

>>> from recallm import RecallM
>>> from llama_index_recallm import RecallMRetriever
>>> memory = RecallM()
>>> _ = memory.update("Brandon loves coffee")
>>> RecallMRetriever(memory=memory).retrieve("Who loves coffee?")[0].text
'Brandon loves coffee'

``pip install 'recallm-memory[llama-index]'`` brings what is needed.
"""

import importlib.util

import recallm.distribution  # noqa: F401 - refuses another project's files among ours
from recallm import MissingDependencyError

if importlib.util.find_spec("llama_index") is None:
    raise MissingDependencyError("llama-index-core", extra="llama-index")

from llama_index_recallm.extractor import RecallMExtractor
from llama_index_recallm.graph_store import RecallMGraphStore
from llama_index_recallm.hybrid import RecallMHybridQueryEngine
from llama_index_recallm.llm import as_llm
from llama_index_recallm.memory_block import RecallMMemoryBlock
from llama_index_recallm.property_graph_store import RecallMPropertyGraphStore
from llama_index_recallm.retrievers import RecallMRetriever, RecallMSubRetriever
from llama_index_recallm.tools import RecallMFactToolSpec, RecallMToolSpec

__all__ = [
    "RecallMExtractor",
    "RecallMFactToolSpec",
    "RecallMGraphStore",
    "RecallMHybridQueryEngine",
    "RecallMMemoryBlock",
    "RecallMPropertyGraphStore",
    "RecallMRetriever",
    "RecallMSubRetriever",
    "RecallMToolSpec",
    "as_llm",
]
