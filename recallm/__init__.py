"""recallm: a long-term memory for LLM applications (RecallM, Kynoch et al. 2023).

Text goes in, concepts and their relations go into a temporal graph; a question goes in, the few
statements that answer it come out, in the order in which they became true.
"""

from recallm.config import RecallConfig
from recallm.errors import (
    ArchiveError,
    ClosedError,
    ConflictError,
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
)
from recallm.graph import MemoryGraph, NewEntity, NewTriplet
from recallm.items import MemoryItems, NewItem
from recallm.memory import RecallM
from recallm.model import ConceptRow, Entity, Forgotten, Passage, Stats, Triplet
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
    "ConceptRow",
    "ConflictError",
    "Entity",
    "Forgotten",
    "InvalidInputError",
    "KnowledgeUpdate",
    "LLMError",
    "LLMRequiredError",
    "MemoryGraph",
    "MemoryItems",
    "MissingDependencyError",
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
    "Triplet",
    "UnknownEntityError",
    "__version__",
]

__version__ = "0.1.0"
