"""How the ranker of coreference is trained: ``python -m training.coreference``."""
