"""Coreference: whom a pronoun of the third person, "he" or "she", stands for.

``resolving`` compares each anaphor of a passage with the names before it, in the passage and in the
last passages of its session.
"""
