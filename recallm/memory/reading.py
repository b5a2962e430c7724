"""The part of a memory that reads: it answers questions, and looks up what is stored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Unpack

from recallm.errors import LLMRequiredError
from recallm.ground import checks
from recallm.memory.open_memory import OpenMemory, Part
from recallm.model import (
    LARGEST_NUMBER,
    MAX_POSITION,
    ConceptRow,
    Filter,
    Moment,
    Passage,
    Session,
    Stats,
    statement_key,
)
from recallm.recall.neighbourhood import known_name
from recallm.recall.prompts import answer_of
from recallm.recall.recalling import RANKINGS, check_probabilities, checked_request
from recallm.recall.request import FilterArguments, RecallArguments, RecallRequest
from recallm.recall.results import (
    Answer,
    RecalledContext,
    RecalledStatement,
    RelatedConcept,
    chronological,
)
from recallm.recall.retrieval.superseded import superseded_statements


class Reading(Part):
    """Reads one namespace; questions with the ranking of the memory's settings."""

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
        return self._opened.recaller.recall(_request(self._opened, question, arguments))

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
        return self._opened.recaller.explain(_request(self._opened, question, recall), id)

    def ask(
        self,
        question: str,
        *,
        llm: Callable[[str], str] | None = None,
        **recall: Unpack[RecallArguments],
    ) -> Answer:
        """Answer ``question`` with ``llm`` (or the memory's) from what is recalled.

        ``recall`` are the arguments of ``recall``. The answer is a ``str``; its ``context`` is the
        recalled context. The prompt is the RecallM paper's (with ``ranking="ement"``, EMENT's);
        ``llm=str`` gives the prompt itself.

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
        context = self._opened.recaller.recall(_request(self._opened, question, recall))
        prompt = RANKINGS[self._opened.config.ranking].prompt(question, context.text)
        return Answer(answer_of(model, prompt), context)

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
        with self._opened.reader(as_of) as reader:
            rows = reader.statements(stored)
            index = self._opened.relation_indexes.of(self._opened.name, reader)
            keys = superseded_statements(reader, rows, index)
        return frozenset(stored[key] for key in keys)

    # -- without a question ----------------------------------------------------------------

    def get(self, id: str) -> Passage | None:
        """The passage with this id, verbatim; None if there is none."""
        return self.get_many([checks.string(id, "id")]).get(id)

    def get_many(self, ids: Collection[str], *, withdrawn: bool = False) -> dict[str, Passage]:
        """The passages with these ids, by id, all read at one moment. Unknown ids are left out, and
        so are withdrawn passages, unless ``withdrawn`` is True."""
        distinct = dict.fromkeys(checks.strings(ids, "ids"))
        with self._opened.reader(withdrawn=checks.flag(withdrawn, "withdrawn")) as reader:
            found = {passage.id: passage for passage in reader.passages(ids=distinct)}
        return {id: found[id] for id in distinct if id in found}

    def passages(
        self,
        *,
        limit: int | None = None,
        as_of: Moment | None = None,
        withdrawn: bool = False,
        **filters: Unpack[FilterArguments],
    ) -> tuple[Passage, ...]:
        """The passages that meet the filters (as in ``recall``), in the order of their t_index:
        the latest ``limit`` of them; with ``withdrawn`` those that were withdrawn too."""
        at_most = checks.count(limit, "limit")
        where = checks.statement_filter(filters)
        with self._opened.reader(as_of, withdrawn=checks.flag(withdrawn, "withdrawn")) as reader:
            return tuple(reversed(reader.passages(where, limit=at_most)))

    def history(
        self,
        concept: str,
        *,
        limit: int | None = None,
        skip: int = 0,
        as_of: Moment | None = None,
    ) -> tuple[RecalledStatement, ...]:
        """Every statement that mentions ``concept`` (its label, or its name), in order; with a
        ``limit`` those that arrived last, after the last ``skip`` were left out."""
        label = checks.string(concept, "concept")
        at_most = checks.count(limit, "limit")
        skipped = min(checks.whole(skip, "skip", least=0), LARGEST_NUMBER)
        with self._opened.reader(as_of) as reader:
            name = known_name(reader, label, self._opened.concept_name)
            newest = None if at_most is None else min(skipped + at_most, LARGEST_NUMBER)
            found = reader.mentions([name], limit=newest, where=Filter()).get(name)
            rows = reader.statements(found.keys[skipped:].tolist()) if found else []
        return tuple(chronological(RecalledStatement.of(row) for row in rows))

    def concepts(
        self,
        labels: Iterable[str] | None = None,
        *,
        limit: int | None = None,
        as_of: Moment | None = None,
    ) -> tuple[ConceptRow, ...]:
        """The known concepts with these labels or names (all if None), latest t_index first."""
        spellings = None if labels is None else checks.strings(labels, "labels")
        at_most = checks.count(limit, "limit")
        with self._opened.reader(as_of) as reader:
            names = spellings and {
                known_name(reader, label, self._opened.concept_name) for label in spellings
            }
            return tuple(reader.concepts(names, limit=at_most))

    def relations(
        self, concept: str, *, limit: int | None = None, as_of: Moment | None = None
    ) -> tuple[RelatedConcept, ...]:
        """The concepts that are related to ``concept`` (its label, or its name), at most ``limit``:
        latest t_index first, then the strongest, then by name."""
        label = checks.string(concept, "concept")
        at_most = checks.count(limit, "limit")
        with self._opened.reader(as_of) as reader:
            name = known_name(reader, label, self._opened.concept_name)
            relations = {
                relation.b if relation.a == name else relation.a: relation
                for relation in reader.relations([name], limit=at_most)
            }
            labels = {row.name: row.label for row in reader.concepts(relations)}
        related = (
            RelatedConcept(
                name=other,
                label=labels.get(other, other),
                strength=found.strength,
                t_index=found.t_index,
            )
            for other, found in relations.items()
        )
        return tuple(sorted(related, key=lambda row: (-row.t_index, -row.strength, row.name)))

    def sessions(
        self, *, limit: int | None = None, as_of: Moment | None = None
    ) -> tuple[Session, ...]:
        """The conversations and documents of this namespace, the latest first, at most ``limit``.

        ``recall(session=name)`` and ``passages(session=name)`` read one; ``forget(session=name)``
        forgets what was given this session, or this source and no session.

        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> update = memory.update("Ann met Bob.", session="monday")
        >>> [(session.name, session.passages) for session in memory.sessions()]
        [('monday', 1)]
        """
        at_most = checks.count(limit, "limit")
        with self._opened.reader(as_of) as reader:
            return tuple(reader.sessions()[:at_most])

    def stats(self) -> Stats:
        """The size of this namespace. Expired passages count until a sweep forgets them."""
        with self._opened.reader() as reader:
            return reader.stats()


def _request(opened: OpenMemory, question: str, given: Mapping[str, Any]) -> RecallRequest:
    opened.check_open()
    return checked_request(
        question,
        given,
        now=opened.clock(),
        config=opened.config,
        count_tokens=opened.count_tokens,
    )
