"""Trains, packs and measures the English pipeline that ships inside `recallm`.

Run it with ``python -m training.pipeline DATA_DIR``; ``training/README.md`` says what
DATA_DIR holds and what the steps are.
"""
