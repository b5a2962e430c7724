"""Language models that answer and grade: any OpenAI-compatible server, or any command.

A model is a function from a prompt to a text. ``Cached`` keeps each answer in a file of its own, so
that a run that was stopped goes on where it stopped and a second run asks nothing. The prompts
stand in ``prompts.toml``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from recallm import LLMError
from recallm.ground.language_models import command_model, server_model
from recallm.ground.untrusted_text import delimited

Answerer: TypeAlias = Callable[[str], str]
"""A prompt → the model's text."""

_PROMPTS: Mapping[str, str] = tomllib.loads(
    Path(__file__).with_name("prompts.toml").read_text(encoding="utf-8")
)


@contextmanager
def resumable(cache: Path) -> Iterator[None]:
    """End the command with a message where a language model fails. ``cache`` is the folder of the
    answers."""
    try:
        yield
    except LLMError as error:
        raise SystemExit(
            f"{error}\nThe answers and grades so far are in {cache}: the same command goes on from "
            "there."
        ) from error


def filled_prompt(name: str, data: Mapping[str, str], **values: str) -> str:
    """The prompt ``name`` of ``prompts.toml`` with each ``{key}`` replaced by its value. Values of
    ``data``, which recall or a model wrote, stand between delimiters that they cannot close."""
    values |= {key: delimited(value) for key, value in data.items()}
    first, *parts = _PROMPTS[name].strip().split("{")
    filled = [first]
    for part in parts:
        key, _, rest = part.partition("}")
        filled += [values[key], rest]
    return "".join(filled)


# Options of a command.


NO_ANSWERER = "no model answers: give --llm URL --model NAME, or --llm-command COMMAND"


def add_model_options(parser: argparse.ArgumentParser, *, cache: str) -> None:
    """Add the options of the model that answers (``--llm``, ``--model``, ``--llm-command``), the
    same with ``--grader-`` in front, and ``--cache``, the folder of their answers."""
    parser.add_argument("--cache", type=Path, default=Path(cache), help="answers and grades")
    for prefix, whose in (("", "that answers"), ("grader-", "that grades; without it the first")):
        parser.add_argument(
            f"--{prefix}llm",
            metavar="URL",
            help=f"the OpenAI-compatible server of the model {whose}: http://localhost:8000/v1 "
            "(the key, where one is needed, is read from OPENAI_API_KEY)",
        )
        parser.add_argument(f"--{prefix}model", metavar="NAME", help="the model on that server")
        parser.add_argument(
            f"--{prefix}llm-command",
            metavar="COMMAND",
            help="in place of a server: a shell command that reads a prompt and writes the answer",
        )


def answerer_and_grader(
    options: argparse.Namespace, parser: argparse.ArgumentParser
) -> tuple[Cached | None, Cached | None]:
    """The models of ``add_model_options``, cached; None where no model is named. Without a grader
    the answerer grades. Options that do not go together end the command with a message."""
    answerer = _model_of(options, parser, "")
    return answerer, _model_of(options, parser, "grader-") or answerer


def _model_of(
    options: argparse.Namespace, parser: argparse.ArgumentParser, prefix: str
) -> Cached | None:
    start = prefix.replace("-", "_")
    url, model, command = (
        getattr(options, f"{start}{name}") for name in ("llm", "model", "llm_command")
    )
    if url is not None and command is not None:
        parser.error(f"give --{prefix}llm or --{prefix}llm-command, not both")
    if (url is None) != (model is None):
        parser.error(f"--{prefix}llm URL needs --{prefix}model NAME, and the other way round")
    if command is not None:
        return Cached(command_model(command), options.cache, name=command)
    if url is None:
        return None
    served = server_model(url, model, api_key=os.environ.get("OPENAI_API_KEY"))
    return Cached(served, options.cache, name=model)


# The cache.


class Cached:
    """A model whose answers are kept in ``folder``, a JSON file each: its model, prompt and answer.
    A failure is not kept."""

    def __init__(self, answerer: Answerer, folder: Path, *, name: str) -> None:
        self.name = name
        self._answerer = answerer
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, prompt: str) -> str:
        """The answer, out of the folder where it was given before."""
        key = hashlib.sha256(json.dumps([self.name, prompt]).encode()).hexdigest()
        path = self._folder / f"{key}.json"
        if path.exists():
            return str(json.loads(path.read_text(encoding="utf-8"))["answer"])
        answer = self._answerer(prompt).strip()
        content = {"model": self.name, "prompt": prompt, "answer": answer}
        # A whole file or none, also where the command is stopped in the middle.
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=self._folder, suffix=".part", delete=False
        ) as part:
            json.dump(content, part, ensure_ascii=False, indent=1)
        Path(part.name).replace(path)
        return answer
