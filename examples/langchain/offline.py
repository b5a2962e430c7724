"""Stand-ins for a model and for embeddings, so that these examples run with no key and no network.

In your own code use real ones: ``init_chat_model("…")``, ``OpenAIEmbeddings()``.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

_COMMON = {"a", "an", "and", "are", "at", "do", "does", "for", "have", "how", "i", "in", "is", "it"}
_COMMON |= {"me", "my", "of", "on", "or", "the", "there", "to", "what", "where", "which", "you"}


def words(text: str) -> set[str]:
    """The words of a text that say something, cut to their first five letters."""
    return {word[:5] for word in re.findall(r"\w+", text.lower())} - _COMMON


class OfflineChatModel(BaseChatModel):
    """Answers with the line of its prompt that shares most words with the last message, the later
    one of equals: what a model could read off there."""

    @property
    def _llm_type(self) -> str:
        return "offline"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """It calls no tools."""
        del tools, kwargs
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        del stop, run_manager
        question = messages[-1].text.strip().splitlines()[-1]
        told = [
            line
            for message in messages
            for line in message.text.splitlines()
            if line.startswith(("[", "- "))
        ]
        shared = [len(words(line) & words(question)) for line in told]
        best = max(range(len(told)), key=lambda place: (shared[place], place), default=None)
        if question.endswith("?") and best is not None and shared[best]:
            answer = f"I remember: {told[best].partition(' ')[2]}"
        else:
            answer = "I do not know." if question.endswith("?") else "Noted."
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])


class OfflineEmbeddings(Embeddings):
    """Bags of words, hashed into 256 numbers."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector of length 1 a text."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """A vector of length 1."""
        vector = [0.0] * 256
        for word in words(text):
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % 256] += 1.0
        length = math.sqrt(sum(number * number for number in vector)) or 1.0
        return [number / length for number in vector]
