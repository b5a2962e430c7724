"""The model of the default ranking: one weight for each signal, and an intercept.

Log-odds that a statement helps to answer, for signals as ``recallm.retrieval.signals`` measures
them. Fitted on LoCoMo, REALTALK and DuoRC together (development sets; nothing of their text is
here), whole conversations and films left out to choose among signals: by what stands first among
a question's candidates, then scaled to probabilities. "time" and "recency" are set by hand: the
first fits each set differently, the second none of them asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["INTERCEPT", "WEIGHTS"]

INTERCEPT = -6.0

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bm25": 1.95,
        "window": 1.75,
        "passage": 1.35,
        "session": 2.35,
        "answer": 0.75,
        "concepts": 0.3,
        "graph": 0.25,
        "time": 0.15,
        "number": 0.8,
        "name": 0.3,
        "entity": 0.7,
        "date": 2.1,
        "speaker": 0.4,
        "first person": 0.6,
        "question": -0.6,
        "after question": 0.3,
        "length": 0.25,
        "recency": 0.35,
    }
)
