"""Texts as coreference reads them: through the shipped pipeline, as in a knowledge update."""

from __future__ import annotations

from collections.abc import Sequence

from recallm.config import RecallConfig
from recallm.english.coreference.passage import TextRead
from recallm.english.plain_reading import TextReader


def read_texts(texts: Sequence[str]) -> list[TextRead]:
    """Each text as a passage without a speaker."""
    return [TextRead(read) for read in TextReader(RecallConfig()).read(texts)]
