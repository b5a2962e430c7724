"""RecallM: the road of a text into the memory, questions, items, revision, archives."""

from recallm.memory.recallm import RecallM

__all__ = ["RecallM"]
