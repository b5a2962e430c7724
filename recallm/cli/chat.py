"""``recallm chat``: a conversation with a language model that remembers."""

from __future__ import annotations

import re
import sys
from collections import deque
from datetime import datetime
from typing import Annotated

import typer

from recallm import LLMError, RecalledContext, RecallM
from recallm.cli.app import Opener, command
from recallm.cli.arguments import ModelCommand, ModelName, ModelServer, language_model
from recallm.cli.output import printable, working, write_text
from recallm.ground.language_models import LanguageModel, answer_of
from recallm.recall.prompts import chat_messages

_TURNS = 10
"""Exchanges of this conversation that the model sees verbatim."""

_ASSISTANT = "Assistant"

_COMMAND = re.compile(r"/[\w?-]*(?=\s|$)")
"""A word behind a slash; "/etc/hosts" is none."""

_HELP = "/why: what was recalled for the last answer, /help: this list, /quit: the end"


class Chat:
    """One conversation. Each message is remembered before the model is asked, and the answer when
    it came; recall leaves out what the model sees anyway.

    ``llm`` is a callable messages → text, ``speaker`` the user's name in the memory, ``max_tokens``
    bounds what is recalled.
    """

    def __init__(
        self,
        memory: RecallM,
        llm: LanguageModel,
        *,
        speaker: str,
        session: str,
        max_tokens: int,
    ) -> None:
        self._memory = memory
        self._llm = llm
        self._speaker = speaker
        self._session = session
        self._max_tokens = max_tokens
        self._lines: deque[tuple[str, str, str]] = deque(maxlen=2 * _TURNS)
        self.context: RecalledContext | None = None
        """What was recalled for the last message."""

    def answer(self, message: str) -> str:
        """The model's answer to ``message``.

        Raises:
            LLMError: the model failed; ``message`` is remembered all the same.
            InvalidInputError: ``message`` cannot be stored.
            StoreError: the store failed.

        """
        self.context = self._memory.recall(
            message,
            max_tokens=self._max_tokens,
            known=[id for id, _, _ in self._lines],
            asker=self._speaker,
        )
        self._remember(self._speaker, message)
        messages = chat_messages(
            self.context.text,
            [(speaker, text) for _, speaker, text in self._lines],
            user=self._speaker,
            assistant=_ASSISTANT,
        )
        reply = answer_of(self._llm, messages)
        if reply:
            self._remember(_ASSISTANT, reply)
        return reply

    def _remember(self, speaker: str, text: str) -> None:
        update = self._memory.update(
            text, speaker=speaker, session=self._session, timestamp=self._memory.now()
        )
        self._lines.append((update.id, speaker, text))


@command(creates=True)
def chat(
    open_memory: Opener,
    *,
    llm: ModelServer = None,
    model: ModelName = None,
    llm_command: ModelCommand = None,
    speaker: Annotated[str, typer.Option(help="Your name in the memory.")] = "User",
    session: Annotated[
        str | None, typer.Option(help="The conversation's name. Default: its date and time.")
    ] = None,
    max_tokens: Annotated[
        int, typer.Option(help="Recall at most this many tokens of text for an answer.")
    ] = 1000,
) -> None:
    """Talk with a language model that remembers what was said, also the next time.

    /why shows what was recalled for the last answer and why, /help lists the commands, /quit ends
    (so does Ctrl-D). No line that begins with a command is remembered.
    """
    answerer = language_model(llm, model, llm_command)
    is_terminal = sys.stdin.isatty()
    with open_memory() as memory:
        started = datetime.now().astimezone()
        talk = Chat(
            memory,
            answerer,
            speaker=speaker,
            session=session or f"chat {started:%Y-%m-%d %H:%M:%S}",
            max_tokens=max_tokens,
        )
        while True:
            if is_terminal:
                typer.echo(f"{printable(speaker)}: ", nl=False, err=True)
            line = sys.stdin.readline()
            message = line.strip()
            given = _COMMAND.match(message)
            called = given[0].lower() if given else None
            if not line or called == "/quit":
                break
            if called == "/why":
                why = talk.context.explain() if talk.context else "nothing was recalled"
                for each in why.splitlines():
                    typer.echo(printable(each))
            elif called == "/help":
                typer.echo(_HELP)
            elif called is not None:
                typer.echo(f"recallm: there is no command {called}; {_HELP}", err=True)
            elif message:
                try:
                    with working("thinking"):
                        answer = talk.answer(message)
                except LLMError as error:
                    typer.echo(f"recallm: {printable(str(error))}", err=True)
                else:
                    write_text(answer)
