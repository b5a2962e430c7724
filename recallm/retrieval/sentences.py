"""Which statements say the same: equal sentences of one speaker."""

from __future__ import annotations

import unicodedata

from recallm.model import StoredStatement
from recallm.results import chronological

__all__ = ["is_later", "sentence"]


def sentence(statement: StoredStatement) -> tuple[str | None, str]:
    """What equal sentences of a speaker have in common, whatever their case and white space."""
    text = unicodedata.normalize("NFKC", statement.text).casefold()
    return statement.speaker, " ".join(text.split())


def is_later(one: StoredStatement, other: StoredStatement) -> bool:
    """Whether ``one`` became true after ``other``."""
    return chronological((one, other))[1] is one
