"""What the parse of a sentence says: its clauses, and the facts that they state."""
