"""Arguments that several commands read alike."""

from __future__ import annotations

import logging
import os
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from recallm import InvalidInputError
from recallm.ground import checks
from recallm.ground.language_models import LanguageModel, command_model, server_model

STANDARD_STREAM = Path("-")

_log = logging.getLogger(__name__)

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Write JSON.")]
ModelServer: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--llm",
        envvar="RECALLM_LLM",
        help="The OpenAI-compatible server of a language model: http://localhost:11434/v1 "
        "(the extra 'openai'; the key, where the server wants one, is read from OPENAI_API_KEY).",
        rich_help_panel="Language model",
    ),
]
ModelName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        envvar="RECALLM_MODEL", help="The model on that server.", rich_help_panel="Language model"
    ),
]
ModelCommand: TypeAlias = Annotated[
    str | None,
    typer.Option(
        envvar="RECALLM_LLM_COMMAND",
        help="In place of a server: a shell command that reads the prompt from its standard input "
        "and writes the answer: 'ollama run NAME'.",
        rich_help_panel="Language model",
    ),
]


def moment_of(value: str | None, option: str) -> int | datetime | None:
    """A t_index, or a date."""
    if value is None or not value.isdecimal():
        return None if value is None else date_of(value, option)
    try:
        return int(value)
    except ValueError as error:
        raise typer.BadParameter(f"{option}: a t_index has fewer digits") from error


def date_of(value: str, option: str) -> datetime:
    """What ``checks.iso_moment`` reads."""
    try:
        return checks.iso_moment(value, option.removeprefix("--").replace("-", "_"))
    except InvalidInputError as error:
        raise typer.BadParameter(error.message) from error


def check_readable(path: Path) -> None:
    """Refuse the name of a file that is not there, before the memory is opened: a command that
    fails must not leave a new file behind."""
    # Typer's exists=True would take "-" for the name of a file.
    if path != STANDARD_STREAM and not path.is_file():
        raise typer.BadParameter(f"there is no file {path}")


def language_model(llm: str | None, model: str | None, llm_command: str | None) -> LanguageModel:
    """The model that the three options name. The key of a server is read from OPENAI_API_KEY."""
    if (llm is None) == (llm_command is None):
        raise typer.BadParameter(
            "name a language model: --llm URL --model NAME, or --llm-command COMMAND"
        )
    if llm_command is not None:
        return command_model(llm_command)
    if llm is None or model is None:
        raise typer.BadParameter("--llm URL needs --model NAME")
    return server_model(llm, model, api_key=os.environ.get("OPENAI_API_KEY"))


def read_secret(file: Path, argument: str) -> str:
    """The password or token in a file, without the line break at its end. Warns of a file that
    other users of the machine can read."""
    kind = "password" if argument == "password_file" else "token"
    if os.name == "posix" and file.stat().st_mode & 0o077:
        _log.warning("other users can read the %s in %s: chmod 600 it", kind, file)
    try:
        return file.read_text(encoding="utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"the {kind} in {file} is not text in UTF-8", argument=argument
        ) from error
