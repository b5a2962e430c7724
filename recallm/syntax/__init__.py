"""What the parse of a sentence says: its clauses, the open triplets that they state, and the
propositions that it is split into."""

from recallm.syntax.propositions import propositions
from recallm.syntax.tree import SentenceTree
from recallm.syntax.triplets import ConceptAt, triplets_and_facts

__all__ = ["ConceptAt", "SentenceTree", "propositions", "triplets_and_facts"]
