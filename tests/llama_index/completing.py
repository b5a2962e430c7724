"""A LlamaIndex model without chat, which gives one answer to every prompt."""

from __future__ import annotations

from typing import Any

from llama_index.core.llms import (
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from pydantic import BaseModel, Field


class Completing(CustomLLM):
    """``answer`` also where a structure is asked for; ``given`` keeps the prompts."""

    answer: str = "Understood."
    given: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100_000)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.given.append(prompt)
        return CompletionResponse(text=self.answer)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        raise NotImplementedError

    async def astructured_predict(self, output_cls: Any, *args: Any, **kwargs: Any) -> BaseModel:
        found: BaseModel = output_cls.model_validate_json(self.answer)
        return found
