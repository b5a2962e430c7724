"""Builds the table of related words that recall reads: ``python -m training.words``."""
