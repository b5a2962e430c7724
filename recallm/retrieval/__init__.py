"""From a question's concepts to a recalled context: the two rankings of ``recall``."""

from __future__ import annotations

from recallm.retrieval.paper import recall_paper
from recallm.retrieval.statements import recall_statements

__all__ = ["recall_paper", "recall_statements"]
