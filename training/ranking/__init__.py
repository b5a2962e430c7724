"""Fits the weights of the default ranking: ``python -m training.ranking``."""
