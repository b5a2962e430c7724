"""Temporal graph stores: the protocol, SQLite (embedded), Neo4j (a server).

A new store begins here: implement ``GraphStore`` and ``GraphReader`` of ``base`` and, for writes,
``Rows`` of ``semantics.rows``; then subclass ``recallm.testing.StoreSuite`` in a test.
"""
