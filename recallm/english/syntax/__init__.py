"""What the parse of a sentence says: its clauses, and the open triplets that they state."""

from recallm.english.syntax.triplets import triplets_and_facts

__all__ = ["triplets_and_facts"]
