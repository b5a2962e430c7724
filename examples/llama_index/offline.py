"""A stand-in for a language model, so that these examples run with no key and no network.

In your own code use a real one, such as ``OpenAI(model="…")`` of ``llama-index-llms-openai``.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

from llama_index.core.llms import (
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)

_COMMON = {"a", "an", "and", "are", "at", "did", "do", "does", "for", "have", "how", "i", "in"}
_COMMON |= {"is", "it", "me", "my", "of", "on", "or", "the", "there", "to", "was", "what", "where"}
_COMMON |= {"which", "who", "you"}


def words(text: str) -> set[str]:
    """The words of a text that say something, cut to their first five letters."""
    return {word[:5] for word in re.findall(r"\w+", text.lower())} - _COMMON


class OfflineLLM(CustomLLM):
    """Answers with the line of the context that shares most words with the query, the later one of
    equals: what a model could read off there."""

    @property
    def metadata(self) -> LLMMetadata:
        """A model of that name, with room for a long context."""
        return LLMMetadata(context_window=32_000, model_name="offline")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """The answer to a prompt of a query engine."""
        del formatted, kwargs
        context, _, query = prompt.rpartition("Query: ")
        lines = [line for line in context.splitlines() if line.strip()]
        asked = words(query.partition("\n")[0])
        shared = [len(words(line) & asked) for line in lines]
        best = max(range(len(lines)), key=lambda place: (shared[place], place), default=None)
        known = best is not None and shared[best] > 0
        return CompletionResponse(text=lines[best] if known and best is not None else "Unknown.")

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """The same answer, at once."""

        def stream() -> Generator[CompletionResponse, None, None]:
            whole = self.complete(prompt, formatted, **kwargs)
            yield CompletionResponse(text=whole.text, delta=whole.text)

        return stream()
