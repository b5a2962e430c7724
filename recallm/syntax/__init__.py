"""What the parse of a sentence says: its clauses, and the open triplets that they state."""

from recallm.syntax.triplets import ConceptAt, open_triplets

__all__ = ["ConceptAt", "open_triplets"]
