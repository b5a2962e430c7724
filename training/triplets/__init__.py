"""Fits the confidence of open triplets on CaRB's development sentences."""
