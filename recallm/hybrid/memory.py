"""``HybridRecallM``: RecallM and a vector retriever answer in parallel, a discriminator chooses."""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from recallm import checks
from recallm.errors import ClosedError, InvalidInputError, LLMError, LLMRequiredError
from recallm.hybrid.answers import HybridAnswer, HybridContexts, HybridError
from recallm.hybrid.discriminator import Choice, Discriminator
from recallm.hybrid.trained import TrainedDiscriminator
from recallm.memory import RecallM
from recallm.prompts import answer_of, question_prompt
from recallm.results import Answer, RecalledContext

__all__ = ["HybridRecallM"]

T = TypeVar("T")

_log = logging.getLogger(__name__)

_CALLERS = (ClosedError, InvalidInputError, LLMRequiredError)
"""Errors of whoever calls, seen in the memory's own branch: the other would not make them good."""


class HybridRecallM:
    """Hybrid-RecallM (paper, Hybrid-RecallM Architecture): two branches answer in parallel, the
    discriminator chooses.

    The branch "recallm" is ``memory`` as it is. The branch "vectors" is, where ``vectors`` is None,
    the same memory with ``ranking="vectors"``: what is written to the memory is in both, and it
    needs embeddings. ``vectors`` may also be another ``RecallM``, or any callable question →
    context text: a retriever of one's own. ``llm`` (prompt → text) answers for both; without one,
    the memory's. ``discriminator``: a ``TrainedDiscriminator`` where none is given.

    One branch may fail: the other one's answer stands, the result tells the error, and it is
    logged. So it is where the discriminator's language model fails: the trained one chooses.
    Safe to use from several threads, if ``llm`` and ``vectors`` are.

    >>> memory = RecallM()
    >>> update = memory.update("Brandon moved to Paris")
    >>> def nearest(question):
    ...     return "Brandon loves coffee."
    >>> def model(prompt):
    ...     return "Brandon lives in Paris." if "Paris" in prompt else "It is not mentioned."
    >>> answer = HybridRecallM(memory, llm=model, vectors=nearest).ask("Where does Brandon live?")
    >>> answer, answer.choice.name
    ('Brandon lives in Paris.', 'recallm')

    Raises:
        InvalidInputError: an argument cannot be used, or the memory has no embeddings and
            ``vectors`` is None.

    """

    def __init__(
        self,
        memory: RecallM,
        *,
        llm: Callable[[str], str] | None = None,
        vectors: RecallM | Callable[[str], str] | None = None,
        discriminator: Discriminator | None = None,
    ) -> None:
        if not isinstance(memory, RecallM):
            raise InvalidInputError(
                f"memory must be a RecallM, not {type(memory).__name__}", argument="memory"
            )
        if discriminator is not None and not isinstance(discriminator, Discriminator):
            raise InvalidInputError(
                "discriminator must have a method choose(question, answers), as "
                "TrainedDiscriminator() and LLMDiscriminator(llm) have",
                argument="discriminator",
            )
        self._memory = memory
        self._llm = checks.optional_callable(llm, "llm")
        self._vectors = _vector_branch(memory, vectors)
        self._trained = TrainedDiscriminator()
        self._discriminator = discriminator or self._trained

    @property
    def memory(self) -> RecallM:
        """The memory: what is written to it is written for both branches."""
        return self._memory

    def ask(
        self, question: str, *, llm: Callable[[str], str] | None = None, **recall: Any
    ) -> HybridAnswer:
        """Answer ``question`` in both branches at once, and choose.

        ``llm`` stands in for the hybrid's. ``recall`` are the arguments of ``RecallM.recall``; a
        retriever of one's own is given the question alone, and ``min_score``, which the nearest by
        embedding do not have, goes to the branch "recallm" alone.

        Raises:
            LLMRequiredError: no language model was given.
            InvalidInputError: an argument cannot be used.
            HybridError: both branches failed.

        """
        asked = checks.string(question, "question")
        model = checks.optional_callable(llm, "llm") or self._llm or self._memory.llm
        if model is None:
            raise LLMRequiredError(
                "ask needs a language model: give any callable prompt → text, as "
                "HybridRecallM(memory, llm=…) or ask(question, llm=…); recall needs none"
            )
        answers, errors = _both(
            lambda: self._memory.ask(asked, llm=model, **recall),
            lambda: self._ask_vectors(asked, model, recall),
        )
        return HybridAnswer.of(self._choose(asked, answers, errors), answers, errors)

    def recall(self, question: str, **recall: Any) -> HybridContexts:
        """What both branches recall, at once, without a language model; arguments as in ``ask``.

        Raises:
            InvalidInputError: an argument cannot be used.
            HybridError: both branches failed.

        """
        asked = checks.string(question, "question")
        contexts, errors = _both(
            lambda: self._memory.recall(asked, **recall),
            lambda: self._recall_vectors(asked, recall),
        )
        return HybridContexts(contexts=contexts, errors=errors)

    def _choose(
        self, question: str, answers: Mapping[str, Answer], errors: Mapping[str, Exception]
    ) -> Choice:
        if errors:
            (other,) = answers
            ((failed, error),) = errors.items()
            return Choice(other, None, f"{failed} failed: {type(error).__name__}: {error}")
        given = {name: str(answer) for name, answer in answers.items()}
        try:
            choice: object = self._discriminator.choose(question, given)
        except LLMError as error:
            _log.warning("the trained discriminator chooses, since another failed: %s", error)
            choice = replace(self._trained.choose(question, given), reason=str(error))
        if not isinstance(choice, Choice) or choice.name not in answers:
            raise InvalidInputError(
                f"a discriminator must return a Choice of one of {', '.join(answers)}, not "
                f"{choice!r}",
                argument="discriminator",
            )
        return choice

    def _ask_vectors(
        self, question: str, model: Callable[[str], str], recall: Mapping[str, Any]
    ) -> Answer:
        if isinstance(self._vectors, RecallM):
            return self._vectors.ask(question, llm=model, **_without_score(recall))
        context = self._recall_vectors(question, recall)
        return Answer(answer_of(model, question_prompt(question, context.text)), context)

    def _recall_vectors(self, question: str, recall: Mapping[str, Any]) -> RecalledContext:
        if isinstance(self._vectors, RecallM):
            return self._vectors.recall(question, **_without_score(recall))
        text: object = self._vectors(question)
        if not isinstance(text, str):
            # Not an error of this call's arguments: the other branch stands.
            raise TypeError(f"vectors must return the context as a str, not {type(text).__name__}")
        return RecalledContext(question=question, text=text, tokens=self._memory.count_tokens(text))


def _vector_branch(
    memory: RecallM, vectors: RecallM | Callable[[str], str] | None
) -> RecallM | Callable[[str], str]:
    if isinstance(vectors, RecallM):
        return vectors
    if vectors is not None:
        if not callable(vectors):
            raise InvalidInputError(
                "vectors must be a RecallM, or a callable question → context text, not "
                f"{type(vectors).__name__}",
                argument="vectors",
            )
        return vectors
    try:
        return memory.with_ranking("vectors")
    except InvalidInputError:
        raise InvalidInputError(
            "the branch of the vector database needs embeddings: open the memory with "
            "RecallM(…, embeddings=…), or give vectors=, a callable question → context text",
            argument="vectors",
        ) from None


def _without_score(recall: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in recall.items() if name != "min_score"}


def _both(
    recallm: Callable[[], T], vectors: Callable[[], T]
) -> tuple[dict[str, T], dict[str, Exception]]:
    """What each branch gives, and the errors of those that fail; one of them runs in a thread of
    its own, in a copy of the caller's context."""
    done: dict[str, T] = {}
    errors: dict[str, Exception] = {}
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="recallm-vectors") as pool:
        other = pool.submit(contextvars.copy_context().run, vectors)
        for name, branch in (("recallm", recallm), ("vectors", other.result)):
            try:
                done[name] = branch()
            except Exception as error:  # noqa: BLE001 - a branch may fail in any way
                errors[name] = error
    if isinstance(errors.get("recallm"), _CALLERS):
        raise errors["recallm"]
    if not done:
        raise HybridError(errors)
    for name, failure in errors.items():
        _log.warning("the branch %s failed, the other one answers: %s", name, failure)
    return done, errors
