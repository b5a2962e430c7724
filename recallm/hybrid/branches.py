"""``HybridRecallM``: RecallM and a vector retriever answer in parallel, a discriminator chooses."""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Protocol, Unpack, runtime_checkable

from recallm.errors import ClosedError, InvalidInputError, LLMError, LLMRequiredError, RecallMError
from recallm.ground import checks
from recallm.hybrid.discriminator import Choice, Discriminator, TrainedDiscriminator
from recallm.memory import RecallM
from recallm.memory.recallm import checked_memory
from recallm.model import Moment, Passage
from recallm.recall.prompts import answer_of, question_prompt
from recallm.recall.request import FilterArguments, RecallArguments
from recallm.recall.results import Answer, RecalledContext

_log = logging.getLogger(__name__)

_BATCH = 1_000
"""Documents that a collection of chromadb gets, or loses, at once."""

_CALLER_ERRORS = (ClosedError, InvalidInputError, LLMRequiredError)
"""Errors in the call itself, raised by the branch "recallm". They are raised again, although the
other branch may have answered."""


@runtime_checkable
class Collection(Protocol):
    """A collection of chromadb."""

    def upsert(self, *, ids: Any, documents: Any, metadatas: Any) -> None:
        """Add documents, or replace those with the same ids."""

    def delete(self, *, ids: Any) -> Any:
        """Delete documents."""

    def get(self, *, where: Any, include: Any) -> Any:
        """The documents with these metadata."""

    def query(self, *, query_texts: Any, n_results: int, where: Any) -> Any:
        """The nearest documents with these metadata."""


class HybridError(RecallMError):
    """Both branches failed; ``errors`` has the error of each, by its name."""

    def __init__(self, errors: Mapping[str, Exception]) -> None:
        reasons = "; ".join(
            f"{name}: {type(error).__name__}: {error}" for name, error in errors.items()
        )
        super().__init__(f"no branch of the hybrid could answer ({reasons})")
        self.errors = errors


class HybridAnswer(Answer):
    """The chosen answer, a ``str``, with the ``context`` that its model was given.

    ``choice`` tells the branch that it comes from, and why. ``answers`` has each branch's answer
    (with its own context), ``errors`` the error of a branch that failed, by name: "recallm",
    "vectors".
    """

    __slots__ = ("answers", "choice", "errors")

    choice: Choice
    answers: Mapping[str, Answer]
    errors: Mapping[str, Exception]


class HybridRecallM:
    """Hybrid-RecallM (paper, Hybrid-RecallM Architecture): two branches answer in parallel, the
    discriminator chooses.

    The branch "recallm" is ``memory`` as it is. For the branch "vectors", ``vectors`` may be None
    (the same memory with ``ranking="vectors"``, which needs embeddings; whatever is written to the
    memory is in both), another ``RecallM``, a collection of chromadb, which follows the memory,
    or any callable question → context text, such as a retriever of your own. ``llm`` (prompt →
    text) answers for both; None: the memory's. ``discriminator``: None means a
    ``TrainedDiscriminator``.

    If one branch fails, the other's answer is chosen; the error is in the result and is logged. If
    the discriminator's language model fails, a ``TrainedDiscriminator`` chooses. Safe to use from
    several threads, if ``llm`` and ``vectors`` are.

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
        vectors: RecallM | Collection | Callable[[str], str] | None = None,
        discriminator: Discriminator | None = None,
    ) -> None:
        if discriminator is not None and not isinstance(discriminator, Discriminator):
            raise InvalidInputError(
                "discriminator must have a method choose(question, answers), as "
                "TrainedDiscriminator() and LLMDiscriminator(llm) have",
                argument="discriminator",
            )
        self._memory = checked_memory(memory)
        self._llm = checks.optional_callable(llm, "llm")
        self._ask_vectors = _vector_branch(memory, vectors)
        self._trained = TrainedDiscriminator()
        self._discriminator = discriminator or self._trained

    @property
    def memory(self) -> RecallM:
        """The memory. Write to it for both branches."""
        return self._memory

    def ask(
        self,
        question: str,
        *,
        llm: Callable[[str], str] | None = None,
        **recall: Unpack[RecallArguments],
    ) -> HybridAnswer:
        """Answer ``question`` in both branches at once, and choose.

        ``llm`` takes the place of the hybrid's. ``recall`` are the arguments of ``RecallM.recall``.
        A retriever of your own gets the question only. ``min_score`` goes to the branch "recallm"
        only, since the nearest by embedding have no probabilities.

        Raises:
            LLMRequiredError: no language model was given.
            InvalidInputError: an argument cannot be used.
            HybridError: both branches failed.

        """
        asked = checks.string(question, "question")
        model = checks.optional_callable(llm, "llm") or self._llm or self._memory.llm
        without_bound = recall.copy()
        without_bound["min_score"] = None
        answers, errors = _both(
            lambda: self._memory.ask(asked, llm=model, **recall),
            lambda: self._ask_vectors(asked, llm=model, **without_bound),
        )
        choice = self._choose(asked, answers, errors)
        chosen = answers[choice.name]
        answer = HybridAnswer(chosen, chosen.context)
        answer.choice, answer.answers, answer.errors = choice, answers, errors
        return answer

    def _choose(
        self, question: str, answers: Mapping[str, Answer], errors: Mapping[str, Exception]
    ) -> Choice:
        if errors:
            (succeeded,) = answers
            ((failed, error),) = errors.items()
            return Choice(succeeded, None, f"{failed} failed: {type(error).__name__}: {error}")
        texts = {name: str(answer) for name, answer in answers.items()}
        try:
            choice: object = self._discriminator.choose(question, texts)
        except LLMError as error:
            _log.warning("the trained discriminator chooses, the other one failed: %s", error)
            choice = replace(self._trained.choose(question, texts), reason=str(error))
        if not isinstance(choice, Choice) or choice.name not in answers:
            raise InvalidInputError(
                f"a discriminator must return a Choice of one of {', '.join(answers)}, not "
                f"{choice!r}",
                argument="discriminator",
            )
        return choice


def _nearest_in_chroma(memory: RecallM, collection: Any) -> Callable[..., str]:
    """What finds the passages of ``memory`` that are nearest to a question, in a collection of
    chromadb that follows the memory: a line each with its speaker, the nearest first, bounded and
    filtered by the arguments of ``RecallM.recall``.

    With each question the collection gets the texts that were added since, and loses those that
    were forgotten, withdrawn or changed, or have expired: until then they stay in Chroma, those of
    an erased namespace until the collection is deleted. Nothing of them is handed over: each line
    is read from the memory. The collection's own embedding function embeds the texts. Namespaces of
    one memory may share a collection; another memory needs another one.
    """
    own: dict[str, Any] = {"namespace": memory.namespace}

    def id_of(passage: Passage) -> str:
        return f"{memory.namespace} {passage.t_index}"

    def follow() -> dict[str, Passage]:
        stored = {id_of(each): each for each in memory.passages() if each.text.strip()}
        found = collection.get(where=own, include=["documents"])
        held = dict(zip(found["ids"], found["documents"], strict=True))
        gone = [id for id in held if id not in stored]
        new = [id for id, passage in stored.items() if held.get(id) != passage.text]
        for start in range(0, len(gone), _BATCH):
            collection.delete(ids=gone[start : start + _BATCH])
        for start in range(0, len(new), _BATCH):
            ids = new[start : start + _BATCH]
            collection.upsert(
                ids=ids,
                documents=[stored[id].text for id in ids],
                metadatas=[{**own, "t": stored[id].t_index} for id in ids],
            )
        return stored

    def nearest(
        question: str,
        *,
        limit: int | None = None,
        max_tokens: int | None = None,
        as_of: Moment | None = None,
        known: Iterable[str] = (),
        asker: str | None = None,  # noqa: ARG001 - the nearest text says "I" or not
        min_score: float | None = None,  # noqa: ARG001 - distances are no probabilities
        **filters: Unpack[FilterArguments],
    ) -> str:
        allowed, where, hidden = follow(), own, set(known)
        if as_of is not None or filters or hidden:
            seen = memory.passages(as_of=as_of, **filters)
            allowed = {id_of(each): each for each in seen if each.id not in hidden}
            where = {"$and": [own, {"t": {"$in": [each.t_index for each in allowed.values()]}}]}
        if not allowed:
            return ""
        near = collection.query(
            query_texts=[question],
            n_results=memory.config.limit if limit is None else limit,
            where=where,
        )
        text = ""
        # Another thread may have added passages meanwhile.
        for passage in [allowed[id] for id in near["ids"][0] if id in allowed]:
            line = f"{passage.speaker}: {passage.text}" if passage.speaker else passage.text
            longer = f"{text}\n{line}" if text else line
            if max_tokens is None or memory.count_tokens(longer) <= max_tokens:
                text = longer
        return text

    return nearest


def _vector_branch(
    memory: RecallM, vectors: RecallM | Collection | Callable[[str], str] | None
) -> Callable[..., Answer]:
    """What answers in the branch "vectors", as ``RecallM.ask`` does."""
    if isinstance(vectors, RecallM):
        return vectors.ask
    if isinstance(vectors, Collection) or callable(vectors):
        in_chroma = _nearest_in_chroma(memory, vectors) if isinstance(vectors, Collection) else None
        own: Any = vectors

        def ask(question: str, *, llm: Callable[[str], str], **recall: Any) -> Answer:
            text: object = in_chroma(question, **recall) if in_chroma else own(question)
            if not isinstance(text, str):
                # Not an InvalidInputError: the other branch may still answer.
                kind = type(text).__name__
                raise TypeError(f"vectors must return the context as a str, not {kind}")
            tokens = memory.count_tokens(text)
            context = RecalledContext(question=question, text=text, tokens=tokens)
            return Answer(answer_of(llm, question_prompt(question, text)), context)

        return ask
    if vectors is not None:
        raise InvalidInputError(
            "vectors must be a RecallM, a collection of chromadb, or a callable question → context "
            f"text, not {type(vectors).__name__}",
            argument="vectors",
        )
    try:
        return memory.with_ranking("vectors").ask
    except InvalidInputError:
        raise InvalidInputError(
            "the branch of the vector database needs embeddings: open the memory with "
            "RecallM(…, embeddings=…), or give vectors=, a callable question → context text",
            argument="vectors",
        ) from None


def _both(
    recallm: Callable[[], Answer], vectors: Callable[[], Answer]
) -> tuple[dict[str, Answer], dict[str, Exception]]:
    """The answers of the branches, and the errors of those that fail. "vectors" runs in a thread of
    its own, in a copy of the caller's context."""
    answers: dict[str, Answer] = {}
    errors: dict[str, Exception] = {}
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="recallm-vectors") as pool:
        future = pool.submit(contextvars.copy_context().run, vectors)
        for name, branch in (("recallm", recallm), ("vectors", future.result)):
            try:
                answers[name] = branch()
            except Exception as error:  # noqa: BLE001 - a branch may fail in any way
                errors[name] = error
    if isinstance(errors.get("recallm"), _CALLER_ERRORS):
        raise errors["recallm"]
    if not answers:
        raise HybridError(errors)
    for name, failure in errors.items():
        _log.warning("the branch %s failed, the other one answers: %s", name, failure)
    return answers, errors
