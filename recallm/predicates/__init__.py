"""What a predicate means: its name, the relation that it phrases, and what holds by its evidence.

Predicates are the texts of triplets' relations as written. The package knows values alone: no store
and no pipeline.
"""

from recallm.predicates.holding import (
    Claim,
    Ending,
    GroupKey,
    Holding,
    Side,
    Span,
    group_key,
    holding,
)
from recallm.predicates.names import PredicateName, PredicateNames
from recallm.predicates.relations import Relations
from recallm.predicates.similarity import RelationVectors, SimilarRelations, name_similarity

__all__ = [
    "Claim",
    "Ending",
    "GroupKey",
    "Holding",
    "PredicateName",
    "PredicateNames",
    "RelationVectors",
    "Relations",
    "Side",
    "SimilarRelations",
    "Span",
    "group_key",
    "holding",
    "name_similarity",
]
