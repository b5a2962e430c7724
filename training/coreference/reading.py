"""Texts as coreference reads them: through the shipped pipeline, as in a knowledge update."""

from __future__ import annotations

from collections.abc import Sequence

from recallm.english.coreference.passage import TextRead
from recallm.english.plain_reading import TextReader
from recallm.ground.config import RecallConfig


def read_texts(texts: Sequence[str]) -> list[TextRead]:
    """Each text as a passage without a speaker."""
    return [TextRead(read) for read in TextReader(RecallConfig()).read(texts)]
