"""From checked passages to the store: extracted, embedded, applied in one transaction, revised;
and from the store again: forgotten, or swept once it has expired."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from tqdm import tqdm

from recallm.config import RecallConfig
from recallm.errors import InvalidInputError, RecallMError, StoreBusyError
from recallm.ingestion import NewPassage, overlapped, prepared, written
from recallm.model import Forgotten, Horizon, PreparedUpdate, Selection
from recallm.results import KnowledgeUpdate
from recallm.revision import Reviser
from recallm.stores.base import GraphStore
from recallm.vectors.statements import StatementVectors

if TYPE_CHECKING:
    from recallm.extraction import Extractor, KeptExtractions

__all__ = ["Writer"]

SWEPT = 256
"""Expired passages that a write forgets at most: it takes tens of milliseconds."""

_log = logging.getLogger(__name__)


class Writer:
    """Writes to one namespace. ``vectors`` is None where the memory has no embeddings, ``llm``
    where contexts are not revised; ``kept`` has what was extracted before. ``clock`` gives the
    present; ``check_open`` raises where the memory is closed."""

    def __init__(
        self,
        store: GraphStore,
        namespace: str,
        extractor: Extractor,
        vectors: StatementVectors | None,
        *,
        config: RecallConfig,
        kept: KeptExtractions,
        llm: Callable[[str], str] | None,
        clock: Callable[[], datetime],
        check_open: Callable[[], None],
    ) -> None:
        self._store = store
        self._namespace = namespace
        self._extractor = extractor
        self._vectors = vectors
        self._config = config
        self._kept = kept
        self._llm = llm
        self._clock = clock
        self._check_open = check_open

    def write(self, batch: list[NewPassage], *, first: int | None) -> list[KnowledgeUpdate]:
        """Write one batch in one transaction; ``first`` is the index of its first item, None for
        a single update."""
        self._check_open()
        return self._apply(first, self._prepared(first, batch))

    def write_many(
        self, chunks: Iterable[tuple[int, list[NewPassage]]]
    ) -> Iterator[list[KnowledgeUpdate]]:
        """What became of each batch. With embeddings one is extracted while the one before it is
        embedded, which is done in the caller's thread.

        Raises:
            EmbeddingModelError: at once, the namespace's vectors are of another model.

        """
        if self._vectors is None:
            return (self.write(batch, first=first) for first, batch in chunks)
        self._vectors.check(self._namespace)
        return overlapped(chunks, self._prepared, self._apply)

    def embed(self, size: int, *, progress: bool) -> int:
        """Give a vector to every statement that has none, ``size`` in a transaction; their number.

        Raises:
            InvalidInputError: there are no embeddings.
            EmbeddingModelError: the namespace's vectors are of another model.

        """
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

    def forget(self, selection: Selection) -> Forgotten:
        """Forget what is selected, and what the index of the vectors keeps of it."""
        held = self._vectors.state(self._namespace) if self._vectors is not None else None
        forgotten = self._store.forget(self._namespace, selection)
        if self._vectors is not None and held is not None:
            self._vectors.forgotten(self._namespace, held)
        return forgotten

    def _sweep(self, updates: list[PreparedUpdate]) -> None:
        """Forget some of what has expired, before a write: recall then has little to hide. What
        fails here is left to the next write, but for the ids of ``updates``, which are free
        afterwards where they are those of expired passages."""
        now = self._clock()
        with self._store.reader(self._namespace, Horizon(now=now)) as reader:
            if not reader.has_expired:
                return
        try:
            swept = self.forget(Selection(kind="expired", value=now, limit=SWEPT))
            if swept.passages < SWEPT:
                return
        except StoreBusyError:
            pass
        except RecallMError:
            _log.warning("what has expired was not swept", exc_info=True)
        ids = dict.fromkeys(update.id for update in updates if update.id)
        with (
            self._store.reader(self._namespace, Horizon(now=now)) as shown,
            self._store.reader(self._namespace, Horizon()) as stored,
        ):
            expired = [id for id in ids if not shown.passage(id) and stored.passage(id)]
        for id in expired:
            self.forget(Selection(kind="id", value=id))

    def _prepared(self, first: int | None, batch: list[NewPassage]) -> list[PreparedUpdate]:
        return prepared(batch, self._extractor, self._kept, first=first)

    def _apply(self, first: int | None, updates: list[PreparedUpdate]) -> list[KnowledgeUpdate]:
        self._sweep(updates)
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
