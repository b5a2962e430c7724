"""Extraction: from text to statements, concepts and neighbours; what a question asks for.

This package holds the rules of language. It never sees a store and ranks nothing. Other parts
import from here what they need of it. Only this package imports spaCy.
"""

from recallm.english.extractor import Extractor
from recallm.english.questions import asked_traits
from recallm.english.stems import stem
from recallm.english.word_lists import word_set
from recallm.english.words import Lexicon, Mark, Word

__all__ = [
    "Extractor",
    "Lexicon",
    "Mark",
    "Word",
    "asked_traits",
    "stem",
    "word_set",
]
