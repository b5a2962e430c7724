"""A real Neo4j server for the tests, started by the tests."""
