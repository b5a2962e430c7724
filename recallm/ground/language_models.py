"""How a language model (a function from a prompt to a text) is asked, and models for the commands
and the benchmarks."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from recallm.errors import LLMError, MissingDependencyError

if TYPE_CHECKING:
    from openai import Omit
    from openai.types.chat import ChatCompletion

LanguageModel: TypeAlias = Callable[[str], str]

_RETRIES = 5
"""Of a request that the server refuses for now or does not answer; the client backs off."""

_TIMEOUT = 300.0
"""Seconds that one request may take: local models are slow."""


def answer_of(llm: LanguageModel, prompt: str) -> str:
    """The answer of ``llm`` to ``prompt``, without surrounding white space.

    Raises:
        LLMError: it failed, or gave something other than a str.

    """
    try:
        answer: object = llm(prompt)
    except LLMError:
        raise
    except Exception as error:
        raise LLMError(f"the language model failed: {type(error).__name__}: {error}") from error
    if not isinstance(answer, str):
        raise LLMError(
            f"the language model answered with {type(answer).__name__}, not with a str; wrap "
            "it in a function that returns the text"
        )
    return answer.strip()


def command_model(command: str) -> LanguageModel:
    """A language model that is a shell command: the prompt on its standard input, its standard
    output the answer.

    Raises:
        LLMError: (of what is returned) the command failed.

    """

    def answer(prompt: str) -> str:
        # The command is the user's own, for the user's own shell.
        done = subprocess.run(  # noqa: S602
            command,
            shell=True,
            check=False,
            input=prompt,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        if done.returncode:
            raise LLMError(f"--llm-command ended with exit code {done.returncode}")
        return done.stdout.strip()

    return answer


def server_model(url: str, model: str, *, api_key: str | None = None) -> LanguageModel:
    """The model with this name behind an OpenAI-compatible server (``http://localhost:11434/v1``).
    Failures that may pass are tried again.

    Raises:
        MissingDependencyError: the client, openai, is not installed.
        LLMError: (of what is returned) the server failed, or answered nothing.

    """
    try:
        from openai import BadRequestError, OpenAI, OpenAIError, omit
    except ImportError:
        raise MissingDependencyError("openai", extra="openai") from None

    client = OpenAI(
        base_url=url, api_key=api_key or "unused", max_retries=_RETRIES, timeout=_TIMEOUT
    )

    def asked(prompt: str, temperature: float | Omit) -> ChatCompletion:
        return client.chat.completions.create(
            model=model,
            messages=[{"role": "user", "content": prompt}],
            temperature=temperature,
        )

    def answer(prompt: str) -> str:
        try:
            try:
                reply = asked(prompt, 0)
            except BadRequestError as error:
                if error.param != "temperature":  # some models take none but their own
                    raise
                reply = asked(prompt, omit)
        except OpenAIError as error:
            raise LLMError(f"the model {model} at {url} failed: {error}") from error
        text = reply.choices[0].message.content if reply.choices else None
        if text is None:
            raise LLMError(f"the model {model} at {url} answered without a text")
        return text

    return answer
