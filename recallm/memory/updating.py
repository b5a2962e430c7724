"""The road of a text into the memory, from top to bottom.

1. ``UpdateRequest``: the arguments of one knowledge update, checked once when it is made.
2. Extraction turns the text into statements, concepts and neighbours: a ``PreparedUpdate``.
3. If the memory has embeddings, each statement gets its vector.
4. ``store.apply`` writes a batch in one transaction.
5. Where a passage has expired, it does so after a sweep that forgets a bounded number of them.
6. If the memory has a language model, it revises the contexts that are due.
7. The caller gets a ``KnowledgeUpdate``.

``Discourses`` gives extraction the passages that stand before a text in its session.
``Updater`` does all this. It also forgets, and embeds statements that have no vector.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tqdm import tqdm

from recallm.config import RecallConfig
from recallm.errors import ConflictError, InvalidInputError, RecallMError, StoreBusyError
from recallm.ground import checks
from recallm.memory.discourses import Discourses
from recallm.memory.revision import Reviser
from recallm.memory.update_request import UpdateRequest
from recallm.model import (
    Discourse,
    Extraction,
    Forgotten,
    Horizon,
    PreparedUpdate,
    Selection,
    statement_id,
)
from recallm.recall.results import KnowledgeUpdate
from recallm.stores.base import Applied, ExpiredError, GraphStore
from recallm.vectors.statements import StatementVectors

if TYPE_CHECKING:
    from recallm.english.extractor import Extractor

_SWEPT_PASSAGES = 256
"""Expired passages that one write forgets at most: a sweep of them takes tens of milliseconds."""

_log = logging.getLogger(__name__)


Batch: TypeAlias = tuple[Sequence[int] | None, Sequence[UpdateRequest]]
"""Updates for one transaction, behind their places among the caller's items (None where the caller
has no items)."""


class _PreparedBatch(NamedTuple):
    """The updates of a batch, and which of them are new, as far as is known before the write."""

    updates: list[PreparedUpdate]
    are_new: list[bool]


def batches(requests: Iterable[tuple[int, UpdateRequest]], size: int) -> Iterator[Batch]:
    """``requests``, ``size`` in a batch."""
    iterator = iter(requests)
    while batch := list(islice(iterator, size)):
        yield [place for place, _ in batch], [request for _, request in batch]


class Updater:
    """Writes to the namespaces of a store. ``vectors`` is None if the memory has no embeddings,
    ``llm`` if it revises no contexts. ``clock`` gives the present. ``triplets``: updates
    write the triplets that their texts state."""

    def __init__(
        self,
        store: GraphStore,
        extractor: Extractor,
        vectors: StatementVectors | None,
        *,
        llm: Callable[[str], str] | None,
        config: RecallConfig,
        clock: Callable[[], datetime],
        triplets: bool = False,
    ) -> None:
        self._store = store
        self._triplets = triplets
        self._extractor = extractor
        self._vectors = vectors
        self._reviser: Reviser | None = None
        if llm is not None and config.revision == "llm":
            self._reviser = Reviser(
                store,
                llm,
                extractor.describe,
                every=config.revise_every,
                max_characters=config.revision_characters,
            )
        self._clock = clock

    def update(self, namespace: str, batch: Batch) -> list[KnowledgeUpdate]:
        """Write one batch in one transaction.

        Raises:
            ConflictError: an id belongs to another text; ``index`` counts the caller's items.

        """
        places, requests = batch
        prepare = self._preparation(namespace)
        return self._write(namespace, places, prepare(requests, is_only=len(requests) == 1))

    def update_many(
        self, namespace: str, batches: Iterable[Batch]
    ) -> Iterator[list[KnowledgeUpdate]]:
        """Write each batch in a transaction of its own. One batch is extracted in another thread
        while the batch before it is embedded and written. An error is raised when the turn of its
        batch comes: the batches before it are written.

        Raises:
            EmbeddingModelError: the namespace's vectors are of another model.

        """
        batches = iter(batches)
        prepare = self._preparation(namespace)
        if (batch := next(batches, None)) is None:
            return
        ready: Future[_PreparedBatch] = Future()
        ready.set_result(prepare(batch[1]))  # here: a program that is ending can start no thread
        with ThreadPoolExecutor(1, thread_name_prefix="recallm-extraction") as thread:
            while batch is not None:
                following, failure, written = None, None, ready
                try:
                    if (following := next(batches, None)) is not None:
                        ready = thread.submit(prepare, following[1])
                except Exception as error:  # noqa: BLE001 - raised below, after the batch before
                    failure = error
                yield self._write(namespace, batch[0], written.result())
                if failure is not None:
                    raise failure
                batch = following

    def _preparation(self, namespace: str) -> Callable[..., _PreparedBatch]:
        """``_prepare`` for the batches of one call."""
        return partial(self._prepare, namespace, Discourses(self._store, namespace, self._clock))

    def _prepare(
        self,
        namespace: str,
        discourses: Discourses,
        requests: Sequence[UpdateRequest],
        *,
        is_only: bool = False,
    ) -> _PreparedBatch:
        """Read what the batch continues, and extract its texts. Without embeddings, nothing is read
        beforehand for a single update (``is_only``) or for items.

        Raises:
            EmbeddingModelError: the namespace's vectors are of another model than the embeddings.

        """
        if self._vectors is None and (is_only or all(each.key is not None for each in requests)):
            continued = [discourses.of_only(request) for request in requests]
            return _PreparedBatch(self._extract(requests, continued), [True] * len(requests))
        horizon = Horizon(now=self._clock(), withdrawn=True)
        with self._store.reader(namespace, horizon) as reader:
            if self._vectors is not None:
                self._vectors.warned_state(namespace, reader)
            continued, are_new = discourses.of_batch(requests, reader)
        return _PreparedBatch(self._extract(requests, continued), are_new)

    def _extract(
        self, requests: Sequence[UpdateRequest], discourses: Sequence[Discourse | None]
    ) -> list[PreparedUpdate]:
        """Extract the texts, several at once. If one states its facts, all are parsed."""
        tell_facts = [request.tells_facts(always=self._triplets) for request in requests]
        extracted = self._extractor.extract_many(
            (
                request.turn(discourse)
                for request, discourse in zip(requests, discourses, strict=True)
                if request.is_recalled
            ),
            triplets=any(tell_facts),
        )
        return [
            request.prepared(
                next(extracted) if request.is_recalled else Extraction(),
                self._extractor.concept_name,
                states_facts=tells_facts,
            )
            for request, tells_facts in zip(requests, tell_facts, strict=True)
        ]

    def _write(
        self, namespace: str, places: Sequence[int] | None, prepared: _PreparedBatch
    ) -> list[KnowledgeUpdate]:
        updates, are_new = prepared
        if self._vectors is not None:
            updates = self._vectors.with_vectors(updates, are_new)
        try:
            applied = self._apply(namespace, updates)
        except ConflictError as error:
            index = None if places is None else places[error.index or 0]
            raise ConflictError(error.id, index=index) from None
        if self._vectors is not None:
            ts = [None if each.duplicate else each.t_index for each in applied]
            self._vectors.embed_skipped(namespace, updates, ts)
        results = [
            KnowledgeUpdate(id=update.id, t_index=each.t_index, duplicate=True)
            if each.duplicate
            else _result(update, each.t_index)
            for update, each in zip(updates, applied, strict=True)
        ]
        return results if self._reviser is None else self._reviser.after(namespace, results)

    def _apply(self, namespace: str, updates: Sequence[PreparedUpdate]) -> list[Applied]:
        """``GraphStore.apply``, after a sweep if a passage has expired."""
        now = self._clock()
        try:
            return self._store.apply(namespace, updates, now=now)
        except ExpiredError:
            self._sweep(namespace, updates, now)
        # What the sweep left has other ids.
        return self._store.apply(namespace, updates)

    def _sweep(self, namespace: str, updates: Sequence[PreparedUpdate], now: datetime) -> None:
        """Forget some expired passages before a write, so that recall has few to hide. If the
        sweep fails or leaves some, the expired passages with the ids of ``updates`` are forgotten
        one by one: these ids must be free for the write."""
        try:
            selection = Selection(kind="expired", value=now, limit=_SWEPT_PASSAGES)
            swept = self._store.forget(namespace, selection)
            if self._vectors is not None and swept:
                self._vectors.after_forget(namespace, None)
            if swept.passages < _SWEPT_PASSAGES:
                return
        except StoreBusyError:
            pass
        except RecallMError:
            _log.warning("the sweep of expired passages failed", exc_info=True)
        ids = {update.id for update in updates if update.id}
        with self._store.reader(namespace, Horizon(withdrawn=True)) as reader:
            stored = reader.passages(ids=ids)
        for passage in stored:
            if passage.expires_at is not None and passage.expires_at <= now:
                self.forget(namespace, Selection(kind="id", value=passage.id))

    def extract(self, texts: Iterable[object], *, triplets: bool) -> list[Extraction]:
        """The extraction of each text. An update that follows does not read the text again.

        Raises:
            InvalidInputError: a text cannot be used.

        """
        checked = checks.strings(texts, "texts")
        turns = ((text, None) for text in checked)
        return list(self._extractor.extract_many(turns, triplets=triplets))

    def forget(self, namespace: str, selection: Selection) -> Forgotten:
        """Forget what is selected, in the store and in the index of the vectors."""
        if self._vectors is None or selection.dry_run:
            return self._store.forget(namespace, selection)
        before = self._vectors.state(namespace)
        forgotten = self._store.forget(namespace, selection)
        if before is not None:
            self._vectors.after_forget(namespace, before)
        return forgotten

    def embed(self, namespace: str, size: int, *, progress: bool) -> int:
        """Give a vector to every statement that has none, ``size`` in a transaction; return how
        many got one.

        Raises:
            InvalidInputError: there are no embeddings.
            EmbeddingModelError: the namespace's vectors are of another model.

        """
        if self._vectors is None:
            raise InvalidInputError(
                "embed needs an embedding model: open the memory with RecallM(…, embeddings=…), or "
                "give the command --embeddings default",
                argument="embeddings",
            )
        total = 0
        latest = -1
        with tqdm(disable=not progress, unit="statement") as bar:
            while True:
                with self._store.reader(namespace, Horizon(withdrawn=True)) as reader:
                    self._vectors.checked_state(reader)
                    keys = reader.statement_keys(embedded=False, after=latest, limit=size)
                if not keys:
                    return total
                embedded = self._vectors.embed_statements(namespace, keys)
                total += embedded
                latest = keys[-1]
                bar.update(embedded)


def _result(update: PreparedUpdate, t_index: int) -> KnowledgeUpdate:
    concepts = dict.fromkeys(
        mention.name for statement in update.statements for mention in statement.concepts
    )
    relations = dict.fromkeys((pair.a, pair.b) for pair in update.neighbours)
    return KnowledgeUpdate(
        id=update.id,
        t_index=t_index,
        statements=tuple(statement_id(update.id, each.position) for each in update.statements),
        concepts=tuple(concepts),
        relations=tuple(relations),
    )
