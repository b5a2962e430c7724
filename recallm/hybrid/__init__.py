"""Hybrid-RecallM: RecallM and a vector retriever answer, a discriminator chooses between them."""

from __future__ import annotations

from recallm.hybrid.answers import HybridAnswer, HybridContexts, HybridError
from recallm.hybrid.discriminator import Choice, Discriminator, WeightsError
from recallm.hybrid.llm import LLMDiscriminator
from recallm.hybrid.memory import HybridRecallM
from recallm.hybrid.trained import TrainedDiscriminator

__all__ = [
    "Choice",
    "Discriminator",
    "HybridAnswer",
    "HybridContexts",
    "HybridError",
    "HybridRecallM",
    "LLMDiscriminator",
    "TrainedDiscriminator",
    "WeightsError",
]
