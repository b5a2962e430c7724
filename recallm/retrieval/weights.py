"""The model of the default ranking: one weight for each signal, and an intercept.

Log-odds that a statement helps to answer, for signals as ``recallm.retrieval.signals`` measures
them. Fitted on LoCoMo, REALTALK and DuoRC together (development sets; nothing of their text is
here), whole conversations and films left out to choose among signals: by what stands first among
a question's candidates, then scaled to probabilities. Three are set by hand, before the others
were fitted: "time" (each set wants another weight), "recency" (none asks what holds now) and
"named" (each set's memories know two people, or one film; a memory that knows many needs more).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["INTERCEPT", "WEIGHTS"]

INTERCEPT = -5.9

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "bm25": 2.3,
        "window": 1.5,
        "passage": 1.0,
        "session": 2.2,
        "answer": 0.7,
        "concepts": 0.1,
        "named": 1.0,
        "graph": 0.25,
        "time": 0.15,
        "number": 0.75,
        "name": 0.3,
        "entity": 0.6,
        "date": 2.1,
        "speaker": 0.4,
        "first person": 0.55,
        "question": -0.55,
        "after question": 0.25,
        "length": 0.25,
        "recency": 0.35,
    }
)
