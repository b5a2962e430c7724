"""What a predicate means: its name, the relation that it phrases, and what holds by its evidence.

Predicates are the texts of triplets' relations as written. Only ``held_facts`` asks a
``GraphReader``; the rest knows values alone.
"""

from recallm.recall.predicates.held_facts import (
    SURE,
    Conditions,
    FactReading,
    Found,
    PerVocabulary,
    Vocabulary,
    end_key,
    evidence_confidence,
)
from recallm.recall.predicates.holding import (
    Claim,
    Ending,
    Side,
    Span,
    holding,
)
from recallm.recall.predicates.normal_form import PredicateName, PredicateNames, relation_words
from recallm.recall.predicates.relations import Relations, shipped_words, stems_of_states
from recallm.recall.predicates.similarity import RelationVectors, SimilarRelations, name_similarity
from recallm.recall.predicates.states import SOMEBODY, SPEAKER, stated_relations

__all__ = [
    "SOMEBODY",
    "SPEAKER",
    "SURE",
    "Claim",
    "Conditions",
    "Ending",
    "FactReading",
    "Found",
    "PerVocabulary",
    "PredicateName",
    "PredicateNames",
    "RelationVectors",
    "Relations",
    "Side",
    "SimilarRelations",
    "Span",
    "Vocabulary",
    "end_key",
    "evidence_confidence",
    "holding",
    "name_similarity",
    "relation_words",
    "shipped_words",
    "stated_relations",
    "stems_of_states",
]
