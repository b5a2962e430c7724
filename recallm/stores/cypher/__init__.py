"""The Cypher of readers and writers; ``schema`` describes the graph.

Every query is a ``LiteralString``: values enter as parameters alone. What one module of
``recallm.stores.neo4j`` alone runs stands there.
"""
