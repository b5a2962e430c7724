"""A recalled statement as a framework's document has it: our fields beside its own metadata."""

from __future__ import annotations

from typing import Any

from recallm.results import RecalledStatement

__all__ = ["shown_beside"]


def shown_beside(statement: RecalledStatement) -> dict[str, Any]:
    """``t_index``, ``timestamp`` (ISO 8601 text, which JSON and vector stores can hold),
    ``speaker``, ``source``, ``session``, ``score``, ``concepts`` (names) and ``passage`` (an id),
    None where unknown, and the statement's own metadata beside them. What is named like one of
    these stands under ``own``, so that nothing is lost."""
    timestamp = statement.timestamp
    ours = {
        "t_index": statement.t_index,
        "timestamp": None if timestamp is None else timestamp.isoformat(),
        "speaker": statement.speaker,
        "source": statement.source,
        "session": statement.session,
        "score": statement.score,
        "concepts": list(statement.concepts),
        "passage": statement.passage,
    }
    own = dict(statement.metadata)
    clashing = {name: own.pop(name) for name in statement.metadata if name in {*ours, "own"}}
    return {**ours, **own, **({"own": clashing} if clashing else {})}
