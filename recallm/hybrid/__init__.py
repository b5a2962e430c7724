"""Hybrid-RecallM: RecallM and a vector retriever answer, a discriminator chooses."""

from __future__ import annotations

from recallm.hybrid.branches import (
    Collection,
    HybridAnswer,
    HybridError,
    HybridRecallM,
)
from recallm.hybrid.discriminator import (
    Choice,
    Discriminator,
    LLMDiscriminator,
    TrainedDiscriminator,
)

__all__ = [
    "Choice",
    "Collection",
    "Discriminator",
    "HybridAnswer",
    "HybridError",
    "HybridRecallM",
    "LLMDiscriminator",
    "TrainedDiscriminator",
]
