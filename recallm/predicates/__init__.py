"""What a predicate means: its name, the relation that it phrases, and what holds by its evidence.

Predicates are the texts of triplets' relations as written. Only ``reading`` and ``vocabulary`` ask
a ``GraphReader``; the rest knows values alone.
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
from recallm.predicates.reading import Conditions, FactReading, Found, end_key
from recallm.predicates.relations import Relations
from recallm.predicates.similarity import RelationVectors, SimilarRelations, name_similarity
from recallm.predicates.table import shipped_words
from recallm.predicates.vocabulary import PerVocabulary, Vocabulary

__all__ = [
    "Claim",
    "Conditions",
    "Ending",
    "FactReading",
    "Found",
    "GroupKey",
    "Holding",
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
    "group_key",
    "holding",
    "name_similarity",
    "shipped_words",
]
