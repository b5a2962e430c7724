"""From a question's concepts to a recalled context: the two rankings of ``recall``."""

from __future__ import annotations

from recallm.retrieval.paper import recall_paper
from recallm.retrieval.statements import rank_passages, recall_statements

__all__ = ["rank_passages", "recall_paper", "recall_statements"]
