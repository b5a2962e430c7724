"""The tests of ``tests.store_suite.StoreSuite``, by topic."""
