"""Extraction: from text to statements, concepts and neighbours. It never sees a store."""

from recallm.extraction.extractor import Extractor

__all__ = ["Extractor"]
