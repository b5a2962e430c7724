"""recallm: a long-term memory for LLM applications (RecallM, Kynoch et al. 2023).

Text goes in, concepts and their relations go into a temporal graph; a question goes in, the few
statements that answer it come out, in the order in which they became true.
"""

from recallm.config import RecallConfig
from recallm.errors import (
    ArchiveError,
    ClosedError,
    ConflictError,
    DimensionError,
    EmbeddingError,
    EmbeddingModelError,
    InvalidInputError,
    LLMError,
    LLMRequiredError,
    MissingDependencyError,
    PipelineError,
    RecallMError,
    SchemaVersionError,
    StoreBusyError,
    StoreCorruptError,
    StoreCredentialsError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
    UnknownEntityError,
    UnknownPassageError,
)
from recallm.graph import GraphUpdate, MemoryGraph, NewEntity, NewTriplet
from recallm.hybrid import HybridRecallM
from recallm.items import MemoryItems, NewItem
from recallm.memory import RecallM
from recallm.model import (
    ConceptMention,
    ConceptRow,
    Entity,
    ExtractedStatement,
    Extraction,
    Forgotten,
    Neighbours,
    Passage,
    Stats,
    TemporalReading,
    Triplet,
)
from recallm.results import (
    Answer,
    KnowledgeUpdate,
    RankedConcept,
    RecalledContext,
    RecalledStatement,
    Revision,
)

__all__ = [
    "Answer",
    "ArchiveError",
    "ClosedError",
    "ConceptMention",
    "ConceptRow",
    "ConflictError",
    "DimensionError",
    "EmbeddingError",
    "EmbeddingModelError",
    "Entity",
    "ExtractedStatement",
    "Extraction",
    "Forgotten",
    "GraphUpdate",
    "HybridRecallM",
    "InvalidInputError",
    "KnowledgeUpdate",
    "LLMError",
    "LLMRequiredError",
    "MemoryGraph",
    "MemoryItems",
    "MissingDependencyError",
    "Neighbours",
    "NewEntity",
    "NewItem",
    "NewTriplet",
    "Passage",
    "PipelineError",
    "RankedConcept",
    "RecallConfig",
    "RecallM",
    "RecallMError",
    "RecalledContext",
    "RecalledStatement",
    "Revision",
    "SchemaVersionError",
    "Stats",
    "StoreBusyError",
    "StoreCorruptError",
    "StoreCredentialsError",
    "StoreError",
    "StoreFullError",
    "StoreReadOnlyError",
    "StoreUnavailableError",
    "TemporalReading",
    "Triplet",
    "UnknownEntityError",
    "UnknownPassageError",
    "__version__",
]

__version__ = "0.1.0"
