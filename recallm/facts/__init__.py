"""A memory of facts: triplets of the temporal graph that are written and read by their terms
(RET-LLM)."""

from recallm.facts.calls import (
    BrokenCall,
    Call,
    parse_calls,
    results_text,
)
from recallm.facts.chat import ChatAnswer, FactChat
from recallm.facts.fact import Change, Fact, Match, NewFact, Term
from recallm.facts.memory import FactMemory
from recallm.facts.tables import TableReport

__all__ = [
    "BrokenCall",
    "Call",
    "Change",
    "ChatAnswer",
    "Fact",
    "FactChat",
    "FactMemory",
    "Match",
    "NewFact",
    "TableReport",
    "Term",
    "parse_calls",
    "results_text",
]
