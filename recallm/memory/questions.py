"""The part of a memory that answers questions: recall, prompts, answers, what was superseded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Unpack

from recallm.errors import LLMRequiredError
from recallm.ground import checks
from recallm.ground.language_models import answer_of
from recallm.ground.methods import knows_its_arguments
from recallm.memory.open_memory import Part
from recallm.model import MAX_POSITION, Filter, Moment, statement_key
from recallm.recall.recalling import RANKINGS, Recaller, check_probabilities, checked_request
from recallm.recall.request import RecallArguments, RecallRequest
from recallm.recall.results import Answer, RecalledContext, RecalledStatement
from recallm.recall.retrieval.superseded import superseded_statements
from recallm.stores.base import GraphReader


@knows_its_arguments
class Questions(Part):
    """Answers questions about one namespace, with the ranking of the memory's settings."""

    def recall(self, question: str, **arguments: Unpack[RecallArguments]) -> RecalledContext:
        """The statements that help to answer ``question``, in the order in which they became true;
        an empty context where the memory knows none.

        ``limit`` bounds the statements (with ``ranking="paper"``, the contexts of concepts),
        ``max_tokens`` the whole text. ``as_of``: recall as the memory stood at a t_index, or only
        what was said up to a moment. ``since``, ``until`` (inclusive), ``speaker``, ``session``,
        ``metadata`` and ``path`` (items at and below it) restrict the statements. A moment is an
        aware datetime or a text in ISO 8601, in this machine's time zone where it names none;
        "2026-01-01" is the whole day: ``since`` its start, ``until`` and ``as_of`` its end.
        ``min_score`` is the lowest probability. ``known``: ids of passages that the reader of the
        context sees anyway; their statements are left out. ``asker``: who asks; "I" and "my" in the
        question stand for this speaker. None: for the speaker "Human", "user" or "me", if the
        memory has one.

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        return self.recaller.recall(self._request(question, arguments))

    def explain(self, question: str, *, statement: str, **recall: Unpack[RecallArguments]) -> str:
        """Why ``recall`` hands over the statement with the id ``statement``, or leaves it out: as
        too unlikely, said already, over the budget, or not found at all, for example.

        ``recall`` are the arguments of ``recall``. The question is asked once more.

        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> memory.update("Ann likes tea. The sea was calm.", id="m").statements
        ('m#0', 'm#1')
        >>> memory.explain("What does Ann drink?", statement="m#0").splitlines()[0]
        'handed over'
        >>> memory.explain("What does Ann drink?", statement="m#7")
        'not found: this view of the memory holds no statement with that id'

        Raises:
            InvalidInputError: an argument cannot be used, or not with this ranking.
            StoreError: the store failed.

        """
        check_probabilities(self._opened.config.ranking, "explain")
        id = checks.name(statement, "statement")
        return self.recaller.explain(self._request(question, recall), id)

    def _request(self, question: str, given: Mapping[str, Any]) -> RecallRequest:
        self._opened.check_open()
        return checked_request(
            question,
            given,
            now=self._opened.clock(),
            config=self._opened.config,
            count_tokens=self._opened.count_tokens,
        )

    def ask(
        self,
        question: str,
        *,
        llm: Callable[[str], str] | None = None,
        **recall: Unpack[RecallArguments],
    ) -> Answer:
        """Answer ``question`` with ``llm`` (or the memory's) from what is recalled.

        ``recall`` are the arguments of ``recall``. The answer is a ``str``; its ``context`` is the
        recalled context. The prompt is the RecallM paper's (with ``ranking="ement"``, EMENT's).

        Raises:
            LLMRequiredError: no language model was given.
            LLMError: the language model failed.
            InvalidInputError: an argument cannot be used.

        """
        model = checks.optional_callable(llm, "llm") or self._opened.llm
        if model is None:
            raise LLMRequiredError(
                "ask needs a language model: give any callable prompt → text, as "
                "ask(question, llm=…) or RecallM(…, llm=…); recall needs none"
            )
        context = self.recall(question, **recall)
        return Answer(answer_of(model, self._prompt(question, context)), context)

    def fetch_thoughts(self, question: str, **recall: Unpack[RecallArguments]) -> str:
        """What is known about ``question``, and the question, as one prompt for any language model:
        the prompt that ``ask`` gives to its own.

        ``recall`` are the arguments of ``recall``. Where nothing is known the prompt says so.

        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> update = memory.update("Brandon loves coffee")
        >>> "Brandon loves coffee" in memory.fetch_thoughts("Who loves coffee?")
        True
        """
        return self._prompt(question, self.recall(question, **recall))

    def superseded(
        self, statements: Iterable[RecalledStatement], *, as_of: Moment | None = None
    ) -> frozenset[str]:
        """The ids of those of ``statements`` (of ``recall`` or ``history``) that later ones took
        the place of: all their facts were replaced or ended, or a later standalone statement says
        another value of the same relation ("lives in") of the same concept.

        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> for place in ("Malaga", "Porto"):
        ...     update = memory.update(f"Ingrid lives in {place}.", id=place)
        >>> sorted(memory.superseded(memory.history("Ingrid")))
        ['Malaga#0']
        """
        given = checks.instances(RecalledStatement, statements, "statements")
        stored = {
            statement_key(each.t_index, each.position): each.id
            for each in given
            if each.position < MAX_POSITION
        }
        with self._opened.reader(checks.moment(as_of, "as_of")) as reader:
            rows = reader.statements(stored)
            index = self._opened.relation_indexes.of(self._opened.name, reader)
            keys = superseded_statements(reader, rows, index)
        return frozenset(stored[key] for key in keys)

    def _prompt(self, question: str, context: RecalledContext) -> str:
        return RANKINGS[self._opened.config.ranking].prompt(question, context.text)

    @property
    def recaller(self) -> Recaller:
        """Reads and ranks what is stored."""
        opened = self._opened
        return Recaller(
            opened.store, opened.name, opened.extractor, opened.vectors, opened.relation_indexes
        )

    def ranked_passages(
        self, reader: GraphReader, question: str, where: Filter
    ) -> Mapping[str, float]:
        """The passages that are relevant to a question, each with its score, best first."""
        request = RecallRequest(
            question=question,
            where=where,
            now=self._opened.clock(),
            config=self._opened.config,
            count_tokens=self._opened.count_tokens,
        )
        return self.recaller.passages(reader, request)
