"""recallm: a long-term memory for LLM applications (RecallM, Kynoch et al. 2023).

Text goes in, concepts and their relations go into a temporal graph; a question goes in, the few
statements that answer it come out, in the order in which they became true.
"""

from recallm import errors
from recallm.errors import *
from recallm.graph import GraphUpdate, MemoryGraph, NewEntity, NewTriplet
from recallm.ground.config import RecallConfig
from recallm.hybrid import HybridRecallM
from recallm.memory import RecallM
from recallm.memory.items import MemoryItems, NewItem
from recallm.model import (
    Adjunct,
    ConceptMention,
    ConceptRow,
    Entity,
    ExtractedStatement,
    Extraction,
    Forgotten,
    Neighbours,
    OpenTriplet,
    Passage,
    Reference,
    Session,
    Stats,
    TemporalAnchor,
    TemporalReading,
    Triplet,
)
from recallm.recall.antecedents import RecalledReference
from recallm.recall.neighbourhood import Neighbourhood
from recallm.recall.results import (
    Answer,
    KnowledgeUpdate,
    RankedConcept,
    RecalledContext,
    RecalledStatement,
    Receipt,
    RelatedConcept,
    Revision,
)

__all__ = [
    "Adjunct",
    "Answer",
    "ConceptMention",
    "ConceptRow",
    "Entity",
    "ExtractedStatement",
    "Extraction",
    "Forgotten",
    "GraphUpdate",
    "HybridRecallM",
    "KnowledgeUpdate",
    "MemoryGraph",
    "MemoryItems",
    "Neighbourhood",
    "Neighbours",
    "NewEntity",
    "NewItem",
    "NewTriplet",
    "OpenTriplet",
    "Passage",
    "RankedConcept",
    "RecallConfig",
    "RecallM",
    "RecalledContext",
    "RecalledReference",
    "RecalledStatement",
    "Receipt",
    "Reference",
    "RelatedConcept",
    "Revision",
    "Session",
    "Stats",
    "TemporalAnchor",
    "TemporalReading",
    "Triplet",
    "__version__",
]
__all__ += errors.__all__

__version__ = "0.1.0"
