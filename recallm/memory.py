"""``RecallM``: a long-term memory. Wiring only: every part does its own work.

text ─ extraction ─▶ prepared updates ─ store.apply ─▶ temporal graph (─ revision, with an LLM)
question ─ extraction ─▶ essential concepts ─ store.reader ─▶ retrieval ─▶ recalled context
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np
from tqdm import tqdm

from recallm import checks
from recallm.archive import open_for_reading, open_for_writing, read_archive, write_archive
from recallm.config import RecallConfig
from recallm.errors import ClosedError, InvalidInputError, LLMError, LLMRequiredError
from recallm.graph import MemoryGraph, NewEntity, NewTriplet
from recallm.ingestion import (
    NewPassage,
    batches,
    checked_item,
    overlapped,
    prepared,
    written,
)
from recallm.items import MemoryItems
from recallm.model import (
    ConceptRow,
    Extraction,
    Filter,
    Forgotten,
    Horizon,
    Passage,
    PreparedUpdate,
    Selection,
    Stats,
)
from recallm.prompts import ement_prompt, question_prompt
from recallm.results import (
    Answer,
    KnowledgeUpdate,
    RecalledContext,
    RecalledStatement,
    chronological,
)
from recallm.retrieval import (
    rank_passages,
    recall_ement,
    recall_nearest,
    recall_paper,
    recall_statements,
)
from recallm.retrieval.similarity import AskedVector
from recallm.revision import Reviser
from recallm.stores.base import GraphReader, GraphStore
from recallm.stores.opening import open_store
from recallm.vectors.embedding import embedding_of
from recallm.vectors.opening import checked_index, open_index
from recallm.vectors.statements import Asked, StatementVectors

if TYPE_CHECKING:
    from neo4j import Driver

__all__ = ["RecallM"]

_KEPT_CHARACTERS = 1_000_000
"""Of texts whose extraction is kept for their update: some 50 MB."""

_NOTHING_NEAR = AskedVector(model="", vector=np.zeros(0), nearest=lambda _: ())
"""Of a namespace that has no vectors."""


def _system_clock() -> datetime:
    return datetime.now(UTC)


def _quarter_of_characters(text: str) -> int:
    """Tokens of ``text`` at four characters each, rounded up."""
    return -(-len(text) // 4)


class RecallM:
    """A long-term memory over a temporal graph of concepts.

    ``store``: None (embedded, in memory), the path of an SQLite file (made if there is none), a
    ``neo4j://`` or ``bolt://`` URI (``auth`` is its user and password, ``database`` its database),
    a ``neo4j.Driver``, or a ``GraphStore``; the last two stay open when the memory is closed.
    ``namespace`` says who owns the memory: nothing ever crosses it. ``llm`` is a callable
    prompt → text: with one, contexts are revised as in the paper, and ``ask`` uses it.
    ``count_tokens`` measures ``max_tokens`` (characters / 4, rounded up, where none is given);
    ``clock`` gives the present as an aware datetime. ``timeout``: seconds that a write waits for
    other writers of a file (30), or is tried again on a server (15), before it fails.

    ``embeddings``: None (words and the graph alone); "default" (all-MiniLM-L6-v2 by Chroma's ONNX
    file, on this machine); an embedding model of LangChain, LlamaIndex or Chroma; any callable list
    of texts → vectors; or a ``recallm.vectors.Embedding``, which names its model. With one, the
    vector of each statement is written in the transaction of its update, and the ranking knows how
    near statements are to the question. The first vector of a namespace says which model, and how
    many dimensions, all of them have: another one is refused, in writing and in recalling, until
    everything is forgotten. Statements that were written without (by a memory that was opened
    without embeddings, or from an archive without vectors) are found by their words, as with any
    memory (but not with ``ranking="vectors"``); ``embed`` gives them vectors.

    ``vector_index`` says how the nearest vectors are found: None or "exact" compares all of them,
    in memory (8 ms and 150 MB for 100,000 of 384 dimensions); "chroma" keeps a Chroma index in a
    folder beside the SQLite file, a ``Path`` in that folder, a chromadb client wherever it leads.
    The store's vectors are the truth in any case: an index is caught up from them, and made anew
    where it is broken or gone.

    Safe to use from several threads. A context manager: leaving it closes it.

    >>> memory = RecallM()
    >>> memory.update("Brandon loves coffee").concepts
    ('brandon', 'coffe')
    >>> [statement.text for statement in memory.recall("Who loves coffee?").statements]
    ['Brandon loves coffee']

    Raises:
        InvalidInputError: an argument cannot be used.
        StoreError: the store cannot be opened.
        MissingDependencyError: ``neo4j`` or ``chromadb`` is needed and not installed.
        PipelineError: the spaCy pipeline named in ``config`` is not installed.

    """

    def __init__(
        self,
        store: str | os.PathLike[str] | Driver | GraphStore | None = None,
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
        vector_index: object = None,
    ) -> None:
        self._namespace = checks.name(namespace, "namespace")
        if config is not None and not isinstance(config, RecallConfig):
            raise InvalidInputError("config must be a RecallConfig", argument="config")
        self._config = config or RecallConfig()
        self._llm = checks.optional_callable(llm, "llm")
        self._count_tokens = checks.token_counter(
            checks.optional_callable(count_tokens, "count_tokens") or _quarter_of_characters
        )
        self._clock = checks.optional_callable(clock, "clock") or _system_clock
        embedding = embedding_of(embeddings)
        if embedding is None and self._config.ranking in ("ement", "vectors"):
            raise InvalidInputError(
                f"ranking={self._config.ranking!r} needs embeddings: give RecallM(embeddings=…), "
                "'default' or an embedding model",
                argument="embeddings",
            )
        if embedding is None and vector_index is not None:
            raise InvalidInputError(
                "vector_index needs embeddings: give RecallM(embeddings=…)",
                argument="vector_index",
            )
        chroma = checked_index(vector_index, store)
        # spaCy takes half a second to import: `import recallm` does without.
        from recallm.extraction import Extractor, KeptExtractions

        self._extractor = Extractor(self._config)
        self._kept = KeptExtractions(_KEPT_CHARACTERS)
        if self._config.spacy_model is not None:
            self._extractor.load()  # a missing one is told now, not at the first update
        self._store, self._owns_store = open_store(
            store, auth=auth, database=database, timeout=checks.seconds(timeout, "timeout")
        )
        self._vectors = (
            None
            if embedding is None
            else StatementVectors(self._store, embedding, open_index(chroma, self._store))
        )
        self._closed = False
        self._root: RecallM | None = None

    # -- writing ---------------------------------------------------------------------------

    def update(
        self,
        text: str,
        *,
        speaker: str | None = None,
        timestamp: datetime | None = None,
        source: str | None = None,
        session: str | None = None,
        id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_at: datetime | None = None,
        entities: Iterable[NewEntity] = (),
        triplets: Iterable[NewTriplet] = (),
        replace: bool = False,
    ) -> KnowledgeUpdate:
        """Add ``text``: one knowledge update, one transaction (paper, Knowledge Update).

        ``timestamp`` (aware) says when it was said, ``speaker`` by whom, ``session`` in which
        conversation or document, ``source`` where it comes from. The same ``id`` with the same
        text changes nothing. ``metadata`` holds JSON values. After ``expires_at`` (aware) it is
        recalled no more, and all is as if it had never been said; ``forget(expired=True)`` frees
        its room and its id. ``entities`` and ``triplets`` are what it says in an exact form, as in
        ``graph.upsert``: they go with it, and with some the text may be blank. With ``replace`` a
        passage with this ``id`` and another text is forgotten for it.

        Raises:
            InvalidInputError: an argument cannot be used.
            ConflictError: ``id`` belongs to a passage with another text, without ``replace``.
            UnknownEntityError: a triplet names an entity that is neither stored nor among them.
            StoreError: the store failed; nothing was written.

        """
        new = checked_item(
            {
                "text": text,
                "speaker": speaker,
                "timestamp": timestamp,
                "source": source,
                "session": session,
                "id": id,
                "metadata": metadata,
                "expires_at": expires_at,
                "entities": entities,
                "triplets": triplets,
                "replace": replace,
            }
        )
        return self._write([new], first=None)[0]

    def update_many(
        self,
        items: Iterable[str | Mapping[str, Any]],
        *,
        batch_size: int = 1000,
        progress: bool = False,
    ) -> list[KnowledgeUpdate]:
        """Add many texts, each its own knowledge update, one transaction a batch.

        An item is a text, or a mapping of ``update``'s arguments. ``progress`` shows a bar on
        standard error.

        Raises:
            InvalidInputError, ConflictError: item ``index`` is bad; its batch was rolled back, the
                batches before it are written (give ids, and the whole call can be repeated).
            StoreError: the store failed; the batch was rolled back.

        """
        size = checks.count(batch_size, "batch_size") or 1
        if isinstance(items, str | bytes | Mapping):
            raise InvalidInputError(
                "items must be a list (or another iterable) of texts or mappings; for one text "
                "use update",
                argument="items",
            )
        self._check_open()
        done: list[KnowledgeUpdate] = []
        total = len(items) if isinstance(items, Sized) else None
        chunks = batches(items, size)
        with tqdm(total=total, disable=not progress, unit="update") as bar:
            for results in self._written(chunks):
                done += results
                bar.update(len(results))
        return done

    def _written(
        self, chunks: Iterable[tuple[int, list[NewPassage]]]
    ) -> Iterator[list[KnowledgeUpdate]]:
        """What became of each batch. With embeddings one is extracted while the one before it is
        embedded, which is done in the caller's thread."""
        if self._vectors is None:
            return (self._write(batch, first=first) for first, batch in chunks)
        self._vectors.check(self._namespace)
        return overlapped(
            chunks,
            lambda first, batch: prepared(batch, self._extractor, self._kept, first=first),
            lambda first, updates: self._apply(updates, first=first),
        )

    def _write(self, batch: list[NewPassage], *, first: int | None) -> list[KnowledgeUpdate]:
        """Write one batch; ``first`` is the index of its first item, None for a single update."""
        self._check_open()
        return self._apply(prepared(batch, self._extractor, self._kept, first=first), first=first)

    def _apply(self, updates: list[PreparedUpdate], *, first: int | None) -> list[KnowledgeUpdate]:
        if self._vectors is not None:
            updates = self._vectors.embedded(self._namespace, updates)
        results = written(self._store, self._namespace, updates, first=first)
        if self._vectors is not None:
            ts = [None if it.duplicate else it.t_index for it in results]
            self._vectors.mend(self._namespace, updates, ts)
        if self._llm is None:
            return results
        reviser = Reviser(
            self._store,
            self._llm,
            self._extractor.describe,
            every=self._config.revise_every,
            max_characters=self._config.revision_characters,
        )
        return reviser.after(self._namespace, results)

    def embed(self, *, batch_size: int = 1000, progress: bool = False) -> int:
        """Give a vector to every statement that has none (those that were written without
        embeddings, by others or from an archive), ``batch_size`` in a transaction; their number.
        Called again after it was cut short, it goes on where it stopped. ``progress`` shows a bar
        on standard error.

        Raises:
            InvalidInputError: the memory was opened without embeddings.
            EmbeddingModelError: the namespace's vectors are of another model.
            EmbeddingError: the model failed; the batches before are written.
            StoreError: the store failed; the batches before are written.

        """
        size = checks.count(batch_size, "batch_size") or 1
        self._check_open()
        if self._vectors is None:
            raise InvalidInputError(
                "embed needs an embedding model: open the memory with RecallM(…, embeddings=…)",
                argument="embeddings",
            )
        self._vectors.check(self._namespace)
        given = 0
        latest = -1
        with tqdm(disable=not progress, unit="statement") as bar:
            while True:
                with self._store.reader(self._namespace, Horizon()) as reader:
                    keys = reader.unembedded(after=latest, limit=size)
                if not keys:
                    return given
                done = self._vectors.fill(self._namespace, keys)
                given += done
                latest = keys[-1]
                bar.update(done)

    def expire(self, moments: Mapping[str, datetime | None]) -> int:
        """Let passages, by id, expire at other (aware) moments than before, or never (None); the
        number of those that there are.

        Raises:
            InvalidInputError: a moment cannot be used; nothing was changed.
            StoreError: the store failed; nothing was changed.

        """
        self._check_open()
        checked = {
            checks.string(id, "moments"): checks.timestamp(moment, "moments")
            for id, moment in moments.items()
        }
        return self._store.expire(self._namespace, checked)

    def forget(
        self,
        *,
        id: str | None = None,
        statement: str | None = None,
        source: str | None = None,
        session: str | None = None,
        concept: str | None = None,
        before: int | datetime | None = None,
        expired: bool = False,
        everything: bool = False,
    ) -> Forgotten:
        """Forget, for good, what exactly one argument selects; say how much that was.

        ``id``: a passage; ``statement``: one statement, by its id; ``source``; ``session``: by its
        name (or the source, where no session was given); ``concept``: every statement that mentions
        it, by its label or name; ``before``: what came before a t_index, or was said before an
        aware datetime; ``expired``: what has expired by now. Afterwards all is as if it had never
        been said; only t goes on.

        Raises:
            InvalidInputError: not exactly one argument, or one that cannot be used.
            StoreError: the store failed; nothing was forgotten.

        """
        self._check_open()
        kind, value = checks.selection(
            id=id,
            statement=statement,
            source=source,
            session=session,
            concept=concept,
            before=before,
            expired=expired,
            everything=everything,
        )
        if kind == "expired":
            value = self._clock()
        if kind == "concept":
            with self._reader() as reader:
                value = self._name(reader, str(value))
        held = self._vectors.state(self._namespace) if self._vectors is not None else None
        forgotten = self._store.forget(self._namespace, Selection(kind=kind, value=value))
        if self._vectors is not None and held is not None:
            self._vectors.forgotten(self._namespace, held)
        return forgotten

    # -- recalling -------------------------------------------------------------------------

    def recall(
        self,
        question: str,
        *,
        limit: int | None = None,
        max_tokens: int | None = None,
        as_of: int | datetime | None = None,
        since: int | datetime | None = None,
        until: int | datetime | None = None,
        speaker: str | None = None,
        session: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        path: Sequence[str] | None = None,
        min_score: float | None = None,
        known: Collection[str] = (),
    ) -> RecalledContext:
        """What helps to answer ``question``, in the order in which it became true.

        ``limit`` counts statements (concepts' contexts with ``ranking="paper"``), ``max_tokens``
        the whole text. ``as_of`` recalls as the memory stood at a t_index, or knowing only what was
        said up to an aware datetime. ``since``, ``until`` (inclusive), ``speaker``, ``session``,
        ``metadata``, ``path`` (items at and below it) say which statements may be recalled;
        ``min_score`` is the least probability. ``known`` are the ids of passages that whoever reads
        the answer has before them anyway: nothing of these is recalled.
        Where nothing is known of it, the context is empty.

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        self._check_open()
        asked = checks.string(question, "question")
        limit = checks.count(limit, "limit")
        max_tokens = checks.count(max_tokens, "max_tokens")
        horizon = self._horizon(as_of)
        where = checks.statement_filter(
            since=since,
            until=until,
            speaker=speaker,
            session=session,
            metadata=metadata,
            path=path,
        )
        least = checks.probability(min_score, "min_score")
        if least is not None and self._config.ranking != "statements":
            raise InvalidInputError(
                "min_score needs ranking='statements': the scores of other rankings are no "
                "probabilities",
                argument="min_score",
            )
        if isinstance(known, str):
            raise InvalidInputError("known must be a list of ids", argument="known")
        shown = frozenset(checks.string(id, "known") for id in known)
        analysed = self._extractor.question(asked)
        under_model = None
        if self._vectors is not None and self._config.ranking != "paper":
            under_model = self._vectors.ask(self._namespace, asked)
        with self._store.reader(self._namespace, horizon) as reader:
            asked_vector = self._asked_vector(under_model, reader, where, past=as_of is not None)
            ranking = self._config.ranking
            if ranking == "statements":
                return recall_statements(
                    reader,
                    analysed,
                    config=self._config,
                    where=where,
                    limit=limit,
                    max_tokens=max_tokens,
                    count_tokens=self._count_tokens,
                    min_score=least,
                    known=shown,
                    asked=asked_vector,
                    now=horizon.now,
                )
            if ranking == "paper":
                return recall_paper(
                    reader,
                    analysed,
                    config=self._config,
                    where=where,
                    limit=limit,
                    max_tokens=max_tokens,
                    count_tokens=self._count_tokens,
                    known=shown,
                )
            nearest = recall_ement if ranking == "ement" else recall_nearest
            return nearest(
                reader,
                analysed,
                config=self._config,
                where=where,
                limit=limit,
                max_tokens=max_tokens,
                count_tokens=self._count_tokens,
                known=shown,
                asked=asked_vector or _NOTHING_NEAR,
                now=horizon.now,
            )

    def ask(
        self, question: str, *, llm: Callable[[str], str] | None = None, **recall: Any
    ) -> Answer:
        """Answer ``question`` with ``llm`` (or the memory's) from what is recalled.

        ``recall`` are the arguments of ``recall``. The answer is a ``str``; its ``context`` is
        what the model was given, with the paper's prompt (``ranking="ement"``: EMENT's).

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
        prompt = ement_prompt if self._config.ranking == "ement" else question_prompt
        try:
            answer: object = model(prompt(question, context.text))
        except Exception as error:
            raise LLMError(f"the language model failed: {type(error).__name__}: {error}") from error
        if not isinstance(answer, str):
            raise LLMError(
                f"the language model answered with {type(answer).__name__}, not with a str; wrap "
                "it in a function that returns the text"
            )
        return Answer(answer.strip(), context)

    # -- looking ---------------------------------------------------------------------------

    def get(self, id: str) -> Passage | None:
        """The passage with this id, verbatim; None if there is none (any more)."""
        wanted = checks.string(id, "id")
        with self._reader() as reader:
            return reader.passage(wanted)

    def get_many(self, ids: Collection[str]) -> dict[str, Passage]:
        """The passages with these ids, by id, as they stood at one moment; without those that there
        are not (any more)."""
        if isinstance(ids, str):
            raise InvalidInputError("ids must be a list of str", argument="ids")
        wanted = dict.fromkeys(checks.string(id, "ids") for id in ids)
        with self._reader() as reader:
            found = {id: reader.passage(id) for id in wanted}
        return {id: passage for id, passage in found.items() if passage is not None}

    def passages(
        self,
        *,
        limit: int | None = None,
        as_of: int | datetime | None = None,
        since: int | datetime | None = None,
        until: int | datetime | None = None,
        speaker: str | None = None,
        session: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        path: Sequence[str] | None = None,
    ) -> tuple[Passage, ...]:
        """The passages that meet the filters (as in ``recall``), in the order of their t_index:
        the latest ``limit`` of them.

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed.

        """
        at_most = checks.count(limit, "limit")
        where = checks.statement_filter(
            since=since,
            until=until,
            speaker=speaker,
            session=session,
            metadata=metadata,
            path=path,
        )
        with self._reader(as_of) as reader:
            return tuple(reversed(reader.passages(where, limit=at_most)))

    def history(
        self, concept: str, *, as_of: int | datetime | None = None
    ) -> tuple[RecalledStatement, ...]:
        """Every statement that mentions ``concept`` (its label, or its name), in order."""
        label = checks.string(concept, "concept")
        with self._reader(as_of) as reader:
            name = self._name(reader, label)
            found = reader.mentions([name], limit=None, where=Filter()).get(name)
            rows = reader.statements(found.keys) if found else []
        return tuple(chronological(RecalledStatement.of(row) for row in rows))

    def concepts(
        self,
        labels: Iterable[str] | None = None,
        *,
        limit: int | None = None,
        as_of: int | datetime | None = None,
    ) -> tuple[ConceptRow, ...]:
        """The concepts with these labels or names (all if None) that are known, latest touched
        first."""
        if isinstance(labels, str | bytes):
            raise InvalidInputError("labels must be a list of str", argument="labels")
        wanted = None if labels is None else [checks.string(label, "labels") for label in labels]
        at_most = checks.count(limit, "limit")
        with self._reader(as_of) as reader:
            names = None if wanted is None else {self._name(reader, label) for label in wanted}
            return tuple(reader.concepts(names, limit=at_most))

    def extract(self, texts: Iterable[str]) -> list[Extraction]:
        """The statements of each text, their concepts, and which of these are neighbours: what
        ``update`` would write. Nothing is written; a text that is added next (without a speaker) is
        not read a second time.

        Raises:
            InvalidInputError: a text cannot be used.

        """
        if isinstance(texts, str | bytes):
            raise InvalidInputError("texts must be a list of str", argument="texts")
        self._check_open()
        checked = [checks.string(text, "texts") for text in texts]
        known = [self._kept.get(text, None) for text in checked]
        fresh = self._extractor.extract_many(
            (text, None) for text, it in zip(checked, known, strict=True) if it is None
        )
        found = [next(fresh) if it is None else it for it in known]
        for text, extraction in zip(checked, found, strict=True):
            self._kept.keep(text, None, extraction)
        return found

    def stats(self) -> Stats:
        """How much this namespace holds."""
        with self._reader() as reader:
            return reader.stats()

    @property
    def graph(self) -> MemoryGraph:
        """Entities and triplets by exact id."""
        self._check_open()
        return MemoryGraph(self._store, self._namespace, self._extractor.concept_name, self._clock)

    @property
    def items(self) -> MemoryItems:
        """What is kept under keys at paths."""
        self._check_open()
        return MemoryItems(
            self._store,
            self._namespace,
            lambda new: self._write(new, first=0),
            self._rank_passages,
            self._clock,
        )

    # -- archives --------------------------------------------------------------------------

    def export(self, target: str | os.PathLike[str] | IO[str]) -> int:
        """Write the namespace as JSON Lines to a file or a text stream; return its number of
        knowledge updates. What expired and was not forgotten is in it.

        Raises:
            ArchiveError: the file cannot be written; one that was there stays.

        """
        with self._reader() as reader, open_for_writing(target) as stream:
            return write_archive(stream, self._namespace, reader.t_index, reader.dump())

    def load(self, source: str | os.PathLike[str] | IO[str]) -> int:
        """Fill this namespace, which must be empty, with an archive; return its number of
        knowledge updates. All of it or nothing.

        Raises:
            ArchiveError: the archive is damaged, cut short, or of a newer version.
            InvalidInputError: the namespace is not empty.

        """
        self._check_open()
        with open_for_reading(source) as stream:
            t_index, records = read_archive(stream)
            return self._store.restore(self._namespace, t_index, records)

    # -- life ------------------------------------------------------------------------------

    @property
    def namespace(self) -> str:
        """Whose memory this is."""
        return self._namespace

    @property
    def config(self) -> RecallConfig:
        """The settings."""
        return self._config

    def now(self) -> datetime:
        """The present, aware, by this memory's clock."""
        return self._clock()

    def count_tokens(self, text: str) -> int:
        """The tokens of ``text`` by this memory's counter: what ``max_tokens`` is measured with."""
        return self._count_tokens(text)

    def in_namespace(self, namespace: str) -> RecallM:
        """The same store, pipeline and settings, for another owner: it costs nothing, and it is
        closed with the memory that it comes from."""
        self._check_open()
        other = copy.copy(self)
        other._namespace = checks.name(namespace, "namespace")
        other._closed = False
        other._root = self._root or self
        return other

    def close(self) -> None:
        """Close the memory and the store that it opened; a second call does nothing."""
        if not self._closed:
            self._closed = True
            if self._vectors is not None and self._root is None:
                self._vectors.close()
            if self._owns_store and self._root is None:
                self._store.close()

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = " closed" if self._closed else ""
        return f"<RecallM{state} namespace={self._namespace!r} store={self._store!r}>"

    def _rank_passages(
        self, reader: GraphReader, question: str, where: Filter
    ) -> Mapping[str, float]:
        analysed = self._extractor.question(question)
        asked = self._vectors.ask(self._namespace, question) if self._vectors is not None else None
        return rank_passages(
            reader,
            analysed,
            config=self._config,
            where=where,
            asked=self._asked_vector(asked, reader, where, past=False),
            now=self._clock(),
        )

    def _asked_vector(
        self, asked: Asked | None, reader: GraphReader, where: Filter, *, past: bool
    ) -> AskedVector | None:
        if self._vectors is None or asked is None:
            return None
        return AskedVector(
            model=self._vectors.model,
            vector=asked.vector.astype(np.float64),
            nearest=self._vectors.finder(self._namespace, asked, reader, where, past=past),
        )

    def _name(self, reader: GraphReader, label: str) -> str:
        """The name of the concept that ``label`` means: what the label spells, else the concept
        that is named so, else what it spells without its capitals."""
        spelled = self._extractor.concept_name(label)
        names = (spelled, label, self._extractor.concept_name(label.lower()))
        known = {concept.name for concept in reader.concepts(names)}
        return next((name for name in names if name in known), spelled)

    def _reader(self, as_of: int | datetime | None = None) -> AbstractContextManager[GraphReader]:
        self._check_open()
        return self._store.reader(self._namespace, self._horizon(as_of))

    def _horizon(self, as_of: int | datetime | None) -> Horizon:
        return Horizon(as_of=checks.moment(as_of, "as_of"), now=self._clock())

    def _check_open(self) -> None:
        if self._closed or (self._root is not None and self._root._closed):
            raise ClosedError
