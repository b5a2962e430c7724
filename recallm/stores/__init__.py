"""Temporal graph stores: the protocol, SQLite (embedded), Neo4j (a server)."""
