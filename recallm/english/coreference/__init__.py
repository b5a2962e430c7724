"""Coreference: whom a pronoun, or a noun phrase such as "the company", stands for.

``resolving`` compares each anaphor of a passage with the names before it, in the passage and in the
last passages of its session.
"""
