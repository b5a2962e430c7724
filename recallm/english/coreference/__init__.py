"""Coreference: whom a pronoun, or a noun phrase such as "the company", stands for.

``resolve`` compares each anaphor of a passage with the names before it, in the passage and in the
last passages of its session. The parts:

* ``passage``: a passage's tokens and names; ``anaphors``: its pronouns and noun phrases.
* ``discourse``: what the names refer to, and which referents are candidates.
* ``features``: what speaks for a candidate; ``resolving``: how probable it is the antecedent.
* ``words``: word lists, and the gender of first names.
"""

from recallm.english.coreference.anaphors import has_anaphors
from recallm.english.coreference.passage import TextRead
from recallm.english.coreference.resolving import Decision, Ranker, Resolved, decisions, resolve

__all__ = [
    "Decision",
    "Ranker",
    "Resolved",
    "TextRead",
    "decisions",
    "has_anaphors",
    "resolve",
]
