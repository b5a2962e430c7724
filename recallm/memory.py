"""``RecallM``: the memory that users open. It only connects the parts.

What writes stands in ``recallm.writable_memory``, what reads without a question in
``recallm.stored_memory``; ``recall`` goes through ``recallm.recalling``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

from recallm import checks
from recallm.config import RankingName, RecallConfig
from recallm.errors import InvalidInputError, LLMRequiredError
from recallm.items import MemoryItems
from recallm.methods import in_thread, knows_its_arguments
from recallm.model import MAX_POSITION, Extraction, Filter, Moment, statement_key
from recallm.prompts import answer_of
from recallm.ranking.signals import load_tables
from recallm.recall_request import RecallRequest, quarter_of_characters
from recallm.recalling import RANKINGS, Recaller, check_ranking, checked_request
from recallm.results import Answer, RecalledContext, RecalledStatement
from recallm.retrieval.relations import RelationIndexes
from recallm.retrieval.superseded import superseded_statements
from recallm.stored_memory import StoredMemory
from recallm.stores.base import GraphReader
from recallm.stores.opening import StoreTarget, open_store
from recallm.updating import Updater
from recallm.vectors import Embedding
from recallm.vectors.arguments import checked_embedding, checked_index, open_index
from recallm.vectors.statements import StatementVectors
from recallm.writable_memory import WritableMemory

__all__ = ["RecallM"]


@knows_its_arguments
class RecallM(WritableMemory):
    """A long-term memory over a temporal graph of concepts.

    ``store``: None (embedded, in memory); the path of an SQLite file, made if it is missing; a
    ``neo4j://`` or ``bolt://`` URI (user name and password in ``auth``, never in the URI; the
    server's database in ``database``); a ``neo4j.Driver``; or a ``GraphStore``. The memory closes
    neither of the last two. A function from namespaces to any of these spreads the namespaces over
    several stores (``docs/namespaces.md``); ``auth``, ``database`` and ``timeout`` go to each that
    is named by a URI. ``namespace`` is the owner of the memory: no data ever cross it.
    ``bookmark``: that of a memory in another process on the same server, whose writes this memory
    waits for.

    ``llm`` is a callable prompt → text: it revises contexts as in the paper, and answers ``ask``.
    ``count_tokens`` measures ``max_tokens``; the default is a quarter of the characters, rounded
    up. ``clock`` gives the present as an aware datetime. ``timeout``: for how many seconds a write
    waits for other writers (30 for a file, 15 on a server), and how long an unreachable server is
    tried again.

    ``embeddings``: None (words and the graph alone); "default" (all-MiniLM-L6-v2, on this machine);
    an embedding model of LangChain, LlamaIndex or Chroma; any callable list of texts → vectors; or
    a ``recallm.vectors.Embedding``, which names its model. With embeddings, an update writes the
    vector of each statement in its own transaction, and the ranking compares statements with the
    question. The first vector of a namespace fixes its model and dimension; updates and questions
    with another model are refused until everything is forgotten. Statements without a vector (from
    a memory without embeddings, or an archive without vectors) are found by their words, but not
    with ``ranking="vectors"``; ``embed`` gives them vectors.

    ``vector_index``: how the nearest vectors are found. None or "exact" compares all of them in
    memory (8 ms and 150 MB for 100,000 of 384 dimensions). "chroma" is a Chroma index in a folder
    beside the SQLite file, a ``Path`` one in that folder, a chromadb client one where the client
    stores it. The store's vectors are authoritative: an index that is behind, broken or missing is
    filled from them. Forgotten vectors leave Chroma's collection at once; their numbers (never a
    text) may stay in Chroma's files until the folder is deleted while no memory has it open.
    "neo4j" is the server's own index, also over the vectors of entities, so that no process reads
    all vectors of a large namespace (``docs/neo4j.md``).

    ``triplets``: an update also writes the triplets that its text states, such as ⟨Ingrid, live in,
    Malaga⟩, to ``graph``, as evidence of its statements. What the text denies or does not assert is
    stored under a predicate that says so ("not live in", "may move to"). It takes a parse of each
    text.

    ``propositions``: a language model (prompt → text) that lists what the statements of a text are,
    in place of its sentences; a sentence that gives none is a statement itself. The passage stays
    verbatim, and a statement has its span in it.

    Each method raises ``InvalidInputError`` for an argument that cannot be used, and ``StoreError``
    where the store fails. Safe to use from several threads. As a context manager it closes itself.
    In an event loop, use ``await RecallM.aopen(…)``, ``aupdate``, ``arecall`` and the other methods
    with an ``a``.

    >>> memory = RecallM()
    >>> memory.update("Brandon loves coffee").concepts
    ('brandon', 'coffe')
    >>> [statement.text for statement in memory.recall("Who loves coffee?").statements]
    ['Brandon loves coffee']

    Raises:
        InvalidInputError: an argument cannot be used.
        StoreError: the store cannot be opened.
        MissingDependencyError: an optional package is needed and not installed.
        PipelineError: the spaCy pipeline named in ``config`` is not installed, or it is not English
            and texts are parsed for ``triplets``.

    """

    def __init__(
        self,
        store: StoreTarget | Callable[[str], StoreTarget] = None,
        *,
        auth: tuple[str, str] | None = None,
        database: str | None = None,
        bookmark: str | None = None,
        namespace: str = "default",
        config: RecallConfig | None = None,
        llm: Callable[[str], str] | None = None,
        count_tokens: Callable[[str], int] | None = None,
        clock: Callable[[], datetime] | None = None,
        timeout: float | None = None,
        embeddings: object = None,
        vector_index: object = None,
        triplets: bool = False,
        propositions: Callable[[str], str] | None = None,
    ) -> None:
        namespace = checks.name(namespace, "namespace")
        if config is not None and not isinstance(config, RecallConfig):
            raise InvalidInputError("config must be a RecallConfig", argument="config")
        self._config = config or RecallConfig()
        self._llm = checks.optional_callable(llm, "llm")
        self._count_tokens = checks.token_counter(
            checks.optional_callable(count_tokens, "count_tokens") or quarter_of_characters
        )
        present = checks.clock(clock)
        triplets = checks.flag(triplets, "triplets")
        embedding = checked_embedding(embeddings)
        check_ranking(self._config.ranking, embedded=embedding is not None)
        load_tables(self._config.weights)  # a bad file fails here, not at the first question
        searches_itself = vector_index == "neo4j" and isinstance(vector_index, str)
        if embedding is None and vector_index is not None and not searches_itself:
            raise InvalidInputError(
                "vector_index needs embeddings: give RecallM(embeddings=…)",
                argument="vector_index",
            )
        chroma = checked_index(vector_index, store)
        # spaCy takes half a second to import; `import recallm` must not wait for it.
        from recallm.extraction import Extractor

        self._extractor = Extractor(self._config, propositions)
        if self._config.spacy_model is not None:
            # A missing pipeline fails here, not at the first update.
            self._extractor.load(parser=triplets)
        opened, is_own = open_store(
            store,
            namespace=namespace,
            auth=auth,
            database=database,
            timeout=checks.seconds(timeout, "timeout"),
            bookmark=checks.optional(checks.string, bookmark, "bookmark"),
            vector_index=searches_itself,
        )
        self._vectors: StatementVectors | None = None
        closing = [opened.close] if is_own else []
        if embedding is not None:
            index = open_index(chroma, opened)
            self._vectors = StatementVectors(
                opened, embedding, index, store_searches=searches_itself
            )
            closing.insert(0, self._vectors.close)
        self._relation_indexes = RelationIndexes(self._extractor.concept_name)
        super().__init__(
            opened,
            namespace,
            updater=Updater(
                opened,
                self._extractor,
                self._vectors,
                llm=self._llm,
                config=self._config,
                clock=present,
                triplets=triplets,
            ),
            concept_name=self._extractor.concept_name,
            clock=present,
            closing=closing,
        )

    # -- recalling -------------------------------------------------------------------------

    def recall(
        self,
        question: str,
        *,
        limit: int | None = None,
        max_tokens: int | None = None,
        as_of: Moment | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        speaker: str | None = None,
        session: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        path: Sequence[str] | None = None,
        min_score: float | None = None,
        known: Collection[str] = (),
        asker: str | None = None,
    ) -> RecalledContext:
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
        question stand for this speaker.

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        self._check_open()
        return self._recaller.recall(
            checked_request(
                question,
                limit=limit,
                max_tokens=max_tokens,
                as_of=as_of,
                since=since,
                until=until,
                speaker=speaker,
                session=session,
                metadata=metadata,
                path=path,
                min_score=min_score,
                known=known,
                asker=asker,
                now=self._clock(),
                config=self._config,
                count_tokens=self._count_tokens,
            )
        )

    def ask(
        self, question: str, *, llm: Callable[[str], str] | None = None, **recall: Any
    ) -> Answer:
        """Answer ``question`` with ``llm`` (or the memory's) from what is recalled.

        ``recall`` are the arguments of ``recall``. The answer is a ``str``; its ``context`` is the
        recalled context. The prompt is the RecallM paper's (with ``ranking="ement"``, EMENT's).

        Raises:
            LLMRequiredError: no language model was given.
            LLMError: the language model failed.
            InvalidInputError: an argument cannot be used.

        """
        model = checks.optional_callable(llm, "llm") or self._llm
        if model is None:
            raise LLMRequiredError(
                "ask needs a language model: give any callable prompt → text, as "
                "ask(question, llm=…) or RecallM(…, llm=…); recall needs none"
            )
        context = self.recall(question, **recall)
        return Answer(answer_of(model, self._prompt(question, context)), context)

    def fetch_thoughts(self, question: str, **recall: Any) -> str:
        """What is known about ``question``, and the question, as one prompt for any language model:
        the prompt that ``ask`` gives to its own.

        ``recall`` are the arguments of ``recall``. Where nothing is known the prompt says so.

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

        >>> memory = RecallM()
        >>> for place in ("Malaga", "Porto"):
        ...     update = memory.update(f"Ingrid lives in {place}.", id=place)
        >>> sorted(memory.superseded(memory.history("Ingrid")))
        ['Malaga#0']
        """
        given = checks.instances(RecalledStatement, statements, "statements")
        stored = {
            statement_key(it.t_index, it.position): it.id
            for it in given
            if it.position < MAX_POSITION
        }
        horizon = checks.moment(as_of, "as_of")
        with self._reader(horizon) as reader:
            rows = reader.statements(stored)
            index = self._relation_indexes.of(self._namespace, reader)
            keys = superseded_statements(reader, rows, index, horizon)
        return frozenset(stored[key] for key in keys)

    def extract(self, texts: Iterable[str], *, triplets: bool = True) -> list[Extraction]:
        """The statements of each text, their concepts, the pairs of neighbours, and (with
        ``triplets``, which takes a parse) the triplets that the text states: what ``update`` would
        write for a text without a speaker and a session. Nothing is written. An ``update``
        with one of these texts does not run the pipeline again.

        Raises:
            InvalidInputError: a text cannot be used.

        """
        self._check_open()
        return self._updater.extract(texts, triplets=checks.flag(triplets, "triplets"))

    @property
    def items(self) -> MemoryItems:
        """Texts stored under keys at paths."""
        self._check_open()
        return MemoryItems(
            self._store,
            self._namespace,
            self._put,
            self._rank,
            self._clock,
        )

    # -- settings --------------------------------------------------------------------------

    @property
    def config(self) -> RecallConfig:
        """The settings."""
        return self._config

    @property
    def llm(self) -> Callable[[str], str] | None:
        """The language model, prompt → text; None if the memory has none."""
        return self._llm

    @property
    def embedding(self) -> Embedding | None:
        """The embedding model; None if the memory has none."""
        return None if self._vectors is None else self._vectors.embedding

    def count_tokens(self, text: str) -> int:
        """The tokens of ``text`` by the counter that measures ``max_tokens``."""
        return self._count_tokens(text)

    def with_ranking(self, ranking: RankingName) -> Self:
        """The same memory (store, pipeline, namespace) with another ranking. It costs nothing, and
        is closed together with this memory.

        Raises:
            InvalidInputError: there is no such ranking, or it needs embeddings and the memory has
                none.

        """
        config = replace(self._config, ranking=ranking)
        check_ranking(config.ranking, embedded=self._vectors is not None)
        other = self._derived()
        other._config = config
        return other

    # -- in an event loop: each method runs in a worker thread ----------------------------------

    @classmethod
    async def aopen(cls, *arguments: Any, **options: Any) -> Self:
        """``RecallM(…)`` in a worker thread: opening loads a pipeline and reads a file.

        >>> import asyncio
        >>> async def remember():
        ...     async with await RecallM.aopen() as memory:
        ...         await memory.aupdate("Brandon loves coffee")
        ...         return (await memory.arecall("Who loves coffee?")).text
        >>> print(asyncio.run(remember()))
        Brandon loves coffee
        """
        return await asyncio.to_thread(cls, *arguments, **options)

    aupdate = in_thread(WritableMemory.update)
    aupdate_many = in_thread(WritableMemory.update_many)
    aupdate_from_file = in_thread(WritableMemory.update_from_file)
    aupdate_from_url = in_thread(WritableMemory.update_from_url)
    aforget = in_thread(WritableMemory.forget)
    arecall = in_thread(recall)
    aask = in_thread(ask)
    afetch_thoughts = in_thread(fetch_thoughts)
    ahistory = in_thread(StoredMemory.history)
    aget = in_thread(StoredMemory.get)
    apassages = in_thread(StoredMemory.passages)
    aconcepts = in_thread(StoredMemory.concepts)
    arelations = in_thread(StoredMemory.relations)
    asessions = in_thread(StoredMemory.sessions)
    astats = in_thread(StoredMemory.stats)
    aclose = in_thread(StoredMemory.close)

    async def __aenter__(self) -> Self:
        self._check_open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _prompt(self, question: str, context: RecalledContext) -> str:
        return RANKINGS[self._config.ranking].prompt(question, context.text)

    @property
    def _recaller(self) -> Recaller:
        return Recaller(
            self._store, self._namespace, self._extractor, self._vectors, self._relation_indexes
        )

    def _rank(self, reader: GraphReader, question: str, where: Filter) -> Mapping[str, float]:
        request = RecallRequest(
            question=question,
            where=where,
            now=self._clock(),
            config=self._config,
            count_tokens=self._count_tokens,
        )
        return self._recaller.passages(reader, request)
