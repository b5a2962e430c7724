"""Benchmarks: each prints one table, and writes it as JSON with ``--json``."""
