"""A memory of facts: triplets of the temporal graph that are written and read by their terms
(RET-LLM)."""

from recallm.facts.fact import Change, Fact, Match, NewFact, Term
from recallm.facts.memory import FactMemory

__all__ = ["Change", "Fact", "FactMemory", "Match", "NewFact", "Term"]
