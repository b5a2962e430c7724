"""Commands and servers as language models."""

from __future__ import annotations

import pytest

from recallm import LLMError
from recallm.ground.language_models import command_model, server_model
from tests.openai_server import MODEL, OpenAIServer, Reply


def test_a_failing_command_says_so() -> None:
    with pytest.raises(LLMError, match="exit code 3"):
        command_model("exit 3")("prompt")


def test_a_server_that_answers_without_a_text_is_an_error() -> None:
    with OpenAIServer(Reply(text="")) as server, pytest.raises(LLMError, match="without a text"):
        server_model(server.base_url, MODEL)("prompt")


def test_a_busy_server_is_asked_again() -> None:
    with OpenAIServer(Reply(status=429, retry_after=0.01), "Rome") as server:
        assert server_model(server.base_url, MODEL)("prompt") == "Rome"


def test_a_model_that_takes_no_temperature_is_asked_without() -> None:
    refusal = Reply(status=400, text="only the default is supported", parameter="temperature")
    with OpenAIServer(refusal, "Rome") as server:
        assert server_model(server.base_url, MODEL)("prompt") == "Rome"
        assert [request.body.get("temperature") for request in server.requests] == [0, None]
