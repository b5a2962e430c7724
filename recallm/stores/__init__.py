"""Temporal graph stores: the protocol, SQLite (embedded), Neo4j (a server).

A new store begins here: implement ``GraphStore`` and ``GraphReader`` of ``base`` and, for writes,
``Rows`` of ``semantics.rows``. Then copy ``tests/store_suite`` from recallm's repository into your
``tests`` and subclass its ``StoreSuite`` in a test.
"""
