"""The topics of ``PropertyGraphStoreSuite``."""
