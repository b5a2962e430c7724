"""A memory of facts: triplets of the temporal graph that are written and read by their terms
(RET-LLM)."""
