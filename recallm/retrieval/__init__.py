"""From a question's concepts to a recalled context: the rankings of ``recall``."""

from __future__ import annotations

from recallm.retrieval.ement import recall_ement, recall_nearest
from recallm.retrieval.paper import recall_paper
from recallm.retrieval.statements import rank_passages, recall_statements

__all__ = [
    "rank_passages",
    "recall_ement",
    "recall_nearest",
    "recall_paper",
    "recall_statements",
]
