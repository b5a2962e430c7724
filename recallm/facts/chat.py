"""A chat with a memory of facts: the controller between a user, a language model and the memory
(RET-LLM, sections 3 and 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from datetime import datetime
from typing import Any, get_args

from recallm.errors import InvalidInputError, LLMError
from recallm.facts.calls import Call
from recallm.facts.chat_prompts import PromptName, chat_prompt
from recallm.facts.chat_reply import Reply
from recallm.facts.fact import Fact, NewFact
from recallm.facts.memory import FactMemory
from recallm.ground import checks
from recallm.ground.untrusted_text import storable


class ChatAnswer(str):
    """The reply that a user sees: a ``str`` without calls.

    ``facts`` are those that the model read; ``written`` those that it stored; ``calls`` is every
    call that was carried out, in order, with its results. ``complete`` is false where the reply or
    what it rests on may lack something: a bound was met, results were left out, a call could not be
    read, or the model wrote nothing.
    """

    __slots__ = ("calls", "complete", "facts", "written")

    facts: tuple[Fact, ...]
    written: tuple[NewFact, ...]
    calls: tuple[Call, ...]
    complete: bool

    def __new__(
        cls,
        text: str,
        *,
        facts: Iterable[Fact] = (),
        written: Iterable[NewFact] = (),
        calls: Iterable[Call] = (),
        complete: bool = True,
    ) -> ChatAnswer:
        """``text`` is what the user sees."""
        answer = super().__new__(cls, text)
        answer.facts = tuple(facts)
        answer.written = tuple(written)
        answer.calls = tuple(calls)
        answer.complete = complete
        return answer


class FactChat:
    """Replies to messages with a language model that reads and writes a memory of facts.

    >>> from recallm import RecallM
    >>> from recallm.facts import FactChat, FactMemory
    >>> script = iter([
    ...     "[MEM_WRITE{Ada>>employed by>>BMW}] Noted.",
    ...     "[MEM_READ{Ada>>employed by>>}:",
    ...     "Ada is employed by BMW.",
    ... ])
    >>> chat = FactChat(FactMemory(RecallM()), lambda prompt: next(script))
    >>> chat.answer("BMW has employed Ada.")
    'Noted.'
    >>> answer = chat.answer("Who employs Ada?")
    >>> print(answer, *answer.calls)
    Ada is employed by BMW. [MEM_READ{Ada>>employed by>>}:{Ada>>employed by>>BMW}]

    ``llm`` is a callable from a prompt to a text, or to an iterator of its pieces (``as_llm`` of
    ``langchain_recallm`` and ``llama_index_recallm`` makes one of a model). The model stops at a
    call that asks, gets the results and goes on.
    Calls are carried out where the model writes them, never where they stand in a message or in a
    stored value, also where the model repeats such a text.

    ``prompt`` is "few-shot", or "fine-tuned" for a model that was trained on calls, which gets the
    message alone. A reply asks at most ``rounds`` times, gets at most ``limit`` results of 8,000
    characters each time, and is cut after 40,000 characters.

    ``redact``, text → text, changes the message, the history, the source, and the terms that the
    model writes or asks with, before the model or the memory gets them. The reply is not changed.

    A chat keeps nothing but facts: give earlier messages and replies as ``history``.
    """

    def __init__(
        self,
        facts: FactMemory,
        llm: Callable[[str], str | Iterable[str]],
        *,
        prompt: PromptName = "few-shot",
        rounds: int = 8,
        limit: int = 50,
        redact: Callable[[str], str] | None = None,
    ) -> None:
        if not isinstance(facts, FactMemory):
            raise InvalidInputError(
                f"facts must be a FactMemory, not {checks.shown(facts)}", argument="facts"
            )
        self._facts = facts
        if isinstance(llm, type) or not callable(llm):
            raise InvalidInputError(
                "llm must be a callable prompt → text or prompt → pieces of text, not "
                f"{checks.shown(llm)}; of a model of LangChain or LlamaIndex give as_llm(model)",
                argument="llm",
            )
        self._llm = llm
        self._redact = checks.optional_callable(redact, "redact")
        self._prompt = checks.choice(prompt, get_args(PromptName), "prompt")
        self._rounds = checks.positive(rounds, "rounds")
        self._limit = checks.positive(limit, "limit")

    @property
    def facts(self) -> FactMemory:
        """The memory."""
        return self._facts

    def answer(
        self,
        message: str,
        *,
        history: Iterable[tuple[str, str]] = (),
        said: datetime | None = None,
        source: str | None = None,
    ) -> ChatAnswer:
        """Reply to ``message``. The facts that the model writes are stored in one transaction when
        the reply ends, as ``said`` then and with the ``source``.

        Raises:
            InvalidInputError: an argument cannot be used.
            LLMError: the model failed, or wrote a fact that cannot be stored. Nothing was stored.
            StoreError: the memory failed. Nothing was stored.

        """
        message = self._redacted(checks.passage_text(message, "message"))
        turns = [
            (self._redacted(asked), self._redacted(replied))
            for asked, replied in map(_turn, checks.listed(history, "history"))
        ]
        said = checks.timestamp(said, "said")
        source = checks.optional_name(source, "source")
        source = None if source is None else checks.name(self._redacted(source), "source")
        reply = Reply(
            self._facts,
            chat_prompt(self._prompt, message, turns),
            rounds=self._rounds,
            limit=self._limit,
            quotes=(message, *(text for turn in turns for text in turn)),
            redacted=self._redacted,
        )
        while not reply.has_ended:
            with closing(_pieces(self._llm, reply.prompt)) as pieces:
                reply.turn(pieces)
        try:
            written = [
                NewFact(str(subject), str(relation), str(object), said, source)
                for subject, relation, object in (call.terms for call in reply.writes)
            ]
            if written:  # all or none
                self._facts.write_many(written, batch_size=len(written))
        except InvalidInputError as error:
            raise LLMError(
                f"the language model wrote a fact that cannot be stored: {error}"
            ) from error
        return ChatAnswer(
            reply.text,
            facts=reply.facts,
            written=written,
            calls=reply.calls,
            complete=reply.is_complete,
        )

    def _redacted(self, text: str) -> str:
        if self._redact is None:
            return text
        redacted: object = self._redact(text)
        if not isinstance(redacted, str):
            raise InvalidInputError(
                f"redact must return a str, not {type(redacted).__name__}", argument="redact"
            )
        return redacted


def _turn(turn: object) -> tuple[str, str]:
    """An earlier message and its reply."""
    texts = tuple(checks.strings(turn, "history"))
    if len(texts) != 2:
        raise InvalidInputError(
            f"history must hold pairs of a message and its reply, not {checks.shown(turn)}",
            argument="history",
        )
    return texts


def _pieces(llm: Callable[[str], object], prompt: str) -> Generator[str, None, None]:
    """The text that ``llm`` writes behind a prompt, whole or in the pieces that it gives. An
    iterator of pieces is closed where no more of them are asked for. Characters that no store can
    hold become question marks.

    Raises:
        LLMError: the model failed, or gave something that is no text.

    """
    answer: Any = None
    try:
        answer = llm(prompt)
        for piece in answer if isinstance(answer, Iterator | list | tuple) else (answer,):
            if not isinstance(piece, str):
                raise LLMError(
                    f"the language model answered with {type(piece).__name__}, not with text; wrap "
                    "it in a function that returns the text"
                )
            yield storable(piece)
    except LLMError:
        raise
    except Exception as error:
        raise LLMError(f"the language model failed: {type(error).__name__}: {error}") from error
    finally:
        close = getattr(answer, "close", None)
        if callable(close):
            close()
