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

__all__ = [
    "Claim",
    "Ending",
    "GroupKey",
    "Holding",
    "PredicateName",
    "PredicateNames",
    "Relations",
    "Side",
    "Span",
    "group_key",
    "holding",
]
