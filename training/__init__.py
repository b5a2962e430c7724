"""Builds what `recallm` ships trained: the English pipeline and the weights of the ranking."""
