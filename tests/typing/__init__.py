"""Uses of the public names whose types mypy checks; nothing here runs."""
