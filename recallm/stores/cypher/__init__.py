"""All Cypher of recallm; ``schema`` describes the graph.

Every query is a ``LiteralString``: values enter as parameters alone.
"""
