"""Extraction: from text to statements, concepts and neighbours. It never sees a store."""

from recallm.extraction.extractor import Extractor
from recallm.extraction.kept import KeptExtractions

__all__ = ["Extractor", "KeptExtractions"]
