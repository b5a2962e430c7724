"""``RecallM``: the memory that users open. It has the methods of its parts.

``memory.writing`` has what writes, ``memory.forgetting`` what forgets, ``memory.reading`` what
answers questions, through ``recall.recalling``, and looks up; ``memory.administration`` has
archives and checks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any, Self

from recallm.errors import InvalidInputError
from recallm.graph import MemoryGraph
from recallm.ground import checks
from recallm.ground.config import RankingName, RecallConfig
from recallm.ground.methods import in_thread, knows_its_arguments, warns_in_event_loops
from recallm.memory.administration import Administration
from recallm.memory.forgetting import Forgetting
from recallm.memory.items import MemoryItems
from recallm.memory.open_memory import Life, OpenMemory
from recallm.memory.reading import Reading
from recallm.memory.writing import Writing
from recallm.recall.ranking.signals import load_tables
from recallm.recall.recalling import check_ranking
from recallm.recall.request import quarter_of_characters
from recallm.recall.retrieval.relations import RelationIndexes
from recallm.stores import StoreTarget, open_store
from recallm.vectors import Embedding
from recallm.vectors.statements import StatementVectors, checked_embedding


@warns_in_event_loops
@knows_its_arguments
class RecallM(Writing, Forgetting, Reading, Administration):
    """A long-term memory over a temporal graph of concepts.

    ``store``: None (embedded, in memory); the path of an SQLite file, made if it is missing; a
    ``neo4j://`` or ``bolt://`` URI (user name and password in ``auth``, never in the URI; the
    server's database in ``database``); a ``neo4j.Driver``; or a ``GraphStore``. The memory closes
    neither of the last two. ``namespace`` is the owner of the memory: no data ever cross it.

    ``llm`` is a callable prompt → text: it revises contexts as in the paper, and answers ``ask``.
    ``count_tokens`` measures ``max_tokens``; the default is a quarter of the characters, rounded
    up. ``clock`` gives the present as an aware datetime. ``timeout``: for how many seconds a write
    waits for other writers (30 for a file, 15 on a server), and how long an unreachable server is
    tried again.

    ``embeddings``: None (words and the graph alone); "default" (all-MiniLM-L6-v2, on this machine);
    an embedding model of LangChain, LlamaIndex or Chroma; any callable list of texts → vectors; or
    a ``recallm.vectors.Embedding``, which names its model. With embeddings, each statement gets a
    vector, with which the ranking compares it with the question. The first vector of a namespace
    fixes the model; another one is refused until everything is forgotten. Statements without a
    vector (``embed`` gives them one) are found by their words alone.

    ``triplets``: an update also writes the triplets that its text states, such as ⟨Ingrid, live in,
    Malaga⟩, to ``graph``, as evidence of its statements. What the text denies or does not assert is
    stored under a predicate that says so ("not live in", "may move to"). It takes a parse of each
    text.

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

    _root: Self | None = None

    def __init__(
        self,
        store: StoreTarget = None,
        *,
        auth: tuple[str, str] | None = None,
        database: str | None = None,
        namespace: str = "default",
        config: RecallConfig | None = None,
        llm: Callable[[str], str] | None = None,
        count_tokens: Callable[[str], int] | None = None,
        clock: Callable[[], datetime] | None = None,
        timeout: float | None = None,
        embeddings: object = None,
        triplets: bool = False,
    ) -> None:
        namespace = checks.namespace(namespace)
        if config is not None and not isinstance(config, RecallConfig):
            raise InvalidInputError(
                "config must be a RecallConfig, as in config=RecallConfig(limit=5)",
                argument="config",
            )
        config = config or RecallConfig()
        llm = checks.optional_callable(llm, "llm")
        counter = checks.optional_callable(count_tokens, "count_tokens") or quarter_of_characters
        counted = checks.checked_results(counter, "count_tokens", partial(checks.whole, least=0))
        present = checks.clock(clock)
        triplets = checks.flag(triplets, "triplets")
        embedding = checked_embedding(embeddings)
        check_ranking(config.ranking, embedded=embedding is not None)
        load_tables(config.weights)  # a bad file fails here, not at the first question
        # spaCy takes half a second to import; `import recallm` must not wait for it.
        from recallm.english.extractor import Extractor

        extractor = Extractor(config)
        if config.spacy_model is not None:
            # A missing pipeline fails here, not at the first update.
            extractor.load(parser=triplets)
        opened, is_own = open_store(
            store,
            auth=auth,
            database=database,
            timeout=checks.seconds(timeout, "timeout"),
        )
        self._opened = OpenMemory(
            store=opened,
            name=namespace,
            extractor=extractor,
            vectors=None if embedding is None else StatementVectors(opened, embedding),
            relation_indexes=RelationIndexes(extractor.concept_name),
            config=config,
            llm=llm,
            count_tokens=counted,
            clock=present,
            triplets=triplets,
            life=Life(opened.close if is_own else None),
        )

    def _derived(self, opened: OpenMemory) -> Self:
        """A memory that is closed together with this one."""
        self._opened.check_open()
        other = object.__new__(type(self))
        other._opened = replace(opened, life=Life(root=self.root._opened.life))
        other._root = self.root
        return other

    @property
    def graph(self) -> MemoryGraph:
        """Entities and triplets by exact id."""
        self._opened.check_open()
        opened = self._opened
        return MemoryGraph(opened.store, opened.name, opened.concept_name, opened.clock)

    @property
    def items(self) -> MemoryItems:
        """Texts stored under keys at paths."""
        self._opened.check_open()
        return MemoryItems(self._opened)

    @property
    def config(self) -> RecallConfig:
        """The settings."""
        return self._opened.config

    @property
    def llm(self) -> Callable[[str], str] | None:
        """The language model, prompt → text; None if the memory has none."""
        return self._opened.llm

    @property
    def embedding(self) -> Embedding | None:
        """The embedding model; None if the memory has none."""
        return None if self._opened.vectors is None else self._opened.vectors.embedding

    def count_tokens(self, text: str) -> int:
        """The tokens of ``text`` by the counter that measures ``max_tokens``."""
        return self._opened.count_tokens(text)

    def with_ranking(self, ranking: RankingName) -> Self:
        """The same memory (store, pipeline, namespace) with another ranking. It costs nothing, and
        is closed together with this memory."""
        config = replace(self._opened.config, ranking=ranking)
        check_ranking(config.ranking, embedded=self._opened.vectors is not None)
        return self._derived(replace(self._opened, config=config))

    @property
    def namespace(self) -> str:
        """The owner of this memory."""
        return self._opened.name

    def now(self) -> datetime:
        """The present, aware, by this memory's clock."""
        return self._opened.clock()

    def in_namespace(self, namespace: str) -> Self:
        """The same store, pipeline and settings for another owner. It costs nothing, and is closed
        together with this memory."""
        return self._derived(self._opened.named(checks.namespace(namespace)))

    def close(self) -> None:
        """Close the memory and the store that it opened; a second call does nothing."""
        self._opened.life.close()

    @property
    def root(self) -> Self:
        """The memory that this one was derived from, by ``in_namespace`` or ``with_ranking``, and
        with which it is closed; itself where it was opened."""
        return self._root or self

    def before_closing(self, finish: Callable[[], object]) -> None:
        """Call ``finish`` whenever this memory, its root or another that is derived from it is
        closed, while all of them can still be written to. ``close`` raises what ``finish`` raises,
        after it has closed."""
        self._opened.check_open()
        if not callable(finish):
            raise InvalidInputError("finish must be callable", argument="finish")
        self._opened.life.before_closing.append(finish)

    def __enter__(self) -> Self:
        self._opened.check_open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = " closed" if self._opened.life.is_closed else ""
        kind = type(self).__name__
        return f"<{kind}{state} namespace={self.namespace!r} store={self._opened.store!r}>"

    def __copy__(self) -> Self:
        """This memory: a copied retriever or chain shares its store."""
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __reduce__(self) -> str:
        """Refuse to be pickled.

        Raises:
            InvalidInputError: always.
        """
        raise InvalidInputError(
            "a memory stays in its process; pickle its path or address and its namespace, and open "
            "RecallM(path, namespace=…) from them",
            argument="memory",
        )

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

    aupdate = in_thread(Writing.update)
    aupdate_many = in_thread(Writing.update_many)
    aforget = in_thread(Forgetting.forget)
    arecall = in_thread(Reading.recall)
    aask = in_thread(Reading.ask)
    ahistory = in_thread(Reading.history)
    aget = in_thread(Reading.get)
    apassages = in_thread(Reading.passages)
    aconcepts = in_thread(Reading.concepts)
    arelations = in_thread(Reading.relations)
    asessions = in_thread(Reading.sessions)
    astats = in_thread(Reading.stats)
    aclose = in_thread(close)

    async def __aenter__(self) -> Self:
        self._opened.check_open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def checked_memory(memory: object, example: str = "memory=RecallM('memory.db')") -> RecallM:
    """``memory``, refused where it is none; the error shows the ``example``."""
    if isinstance(memory, RecallM):
        return memory
    raise InvalidInputError(
        f"memory must be a RecallM, as in {example}, not {type(memory).__name__}", argument="memory"
    )
