"""The tests of ``recallm.testing.StoreSuite``, by topic."""
