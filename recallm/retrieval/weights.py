"""The model of the default ranking: one weight for each signal, and an intercept.

Log-odds that a statement helps to answer, for signals as ``recallm.retrieval.signals`` measures
them. Fitted on LoCoMo, REALTALK and DuoRC together (development sets; nothing of their text is
here), whole conversations and films left out to choose among signals.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["INTERCEPT", "WEIGHTS"]

INTERCEPT = -7.0

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bm25": 1.75,
        "window": 2.8,
        "passage": 2.7,
        "session": 5.0,
        "answer": 1.85,
        "concepts": 1.75,
        "graph": 0.2,
        "time": 1.1,
        "number": 1.25,
        "name": 1.2,
        "person": 0.5,
        "place": 0.5,
        "organisation": 0.5,
        "date": 5.0,
        "speaker": 1.0,
        "first person": 0.9,
        "question": -1.1,
        "after question": 0.35,
        "length": 0.55,
        "recency": 0.5,
    }
)
