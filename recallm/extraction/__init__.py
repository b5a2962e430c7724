"""Extraction: from text to statements, concepts and neighbours; what a question asks for.

This package holds the rules of language. It never sees a store and ranks nothing. Other parts
import from here what they need of it. Only this package imports spaCy.
"""

from recallm.extraction.english import word_set
from recallm.extraction.extractor import Extractor
from recallm.extraction.questions import asked_traits
from recallm.extraction.stems import stem
from recallm.extraction.words import Lexicon, Mark, Word

__all__ = [
    "Extractor",
    "Lexicon",
    "Mark",
    "Word",
    "asked_traits",
    "stem",
    "word_set",
]
