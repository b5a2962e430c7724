"""Knowledge updates for tests of what comes after extraction: concepts are named by hand."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

from recallm.model import (
    ConceptMention,
    ExtractedStatement,
    Neighbours,
    PreparedUpdate,
    Trait,
)


def mention(name: str) -> ConceptMention:
    return ConceptMention(name=name, label=name.title(), kind="noun")


def said(
    text: str, *concepts: str, timestamp: datetime | None = None, source: str | None = None
) -> PreparedUpdate:
    """An update of one statement, its own id, whose neighbouring ``concepts`` are related."""
    pairs = pairwise(concepts)
    return PreparedUpdate(
        id=text,
        text=text,
        statements=(
            ExtractedStatement(
                position=0,
                start=0,
                end=len(text),
                terms=concepts,
                concepts=tuple(map(mention, concepts)),
                traits=Trait(0),
            ),
        ),
        timestamp=timestamp,
        source=source,
        neighbours=tuple(
            Neighbours(a=min(pair), b=max(pair), earlier=0, later=0) for pair in pairs
        ),
    )
