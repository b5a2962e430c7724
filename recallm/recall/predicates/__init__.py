"""What a predicate means: its name, the relation that it phrases, and what holds by its evidence.

Predicates are the texts of triplets' relations as written. Only ``held_facts`` asks a
``GraphReader``; the rest knows values alone.
"""
