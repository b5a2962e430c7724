"""Reads what the rankings order, from a ``GraphReader``, and gives it as values.

``recallm.recall.ranking`` orders these values and never sees a reader.
"""
