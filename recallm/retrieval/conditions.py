"""Whether a statement that was reached by way of another meets a filter."""

from __future__ import annotations

import json
from datetime import datetime

from recallm.model import Filter, StoredStatement

__all__ = ["meets"]


def meets(statement: StoredStatement, where: Filter) -> bool:
    """Whether ``statement`` meets every condition of ``where``, as a store would decide it."""
    if where.speaker is not None and statement.speaker != where.speaker:
        return False
    if where.session is not None:
        name = statement.session if statement.session is not None else statement.source
        if name != where.session:
            return False
    if where.path is not None and (
        statement.item_path is None or statement.item_path[: len(where.path)] != where.path
    ):
        return False
    for bound, sign in ((where.since, 1), (where.until, -1)):
        if not _on_side(statement, bound, sign):
            return False
    return all(
        name in statement.metadata and _json(statement.metadata[name]) == _json(value)
        for name, value in where.metadata.items()
    )


def _json(value: object) -> str:
    """Equal for equal JSON values; Python would have True equal 1."""
    return json.dumps(value, sort_keys=True)


def _on_side(statement: StoredStatement, bound: int | datetime | None, sign: int) -> bool:
    if bound is None:
        return True
    if isinstance(bound, datetime):
        said = statement.timestamp
        return said is not None and (said >= bound if sign > 0 else said <= bound)
    return (statement.t_index - bound) * sign >= 0
