"""What the parts of a memory share, and when it is closed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from recallm.errors import ClosedError
from recallm.ground import checks
from recallm.ground.config import RecallConfig
from recallm.model import Horizon, Moment
from recallm.recall.recalling import Recaller
from recallm.recall.retrieval.relations import RelationIndexes
from recallm.stores.base import GraphReader, GraphStore
from recallm.vectors.statements import StatementVectors

if TYPE_CHECKING:
    from recallm.english.extractor import Extractor


class Life:
    """Whether a memory is open. ``end``: closes its store. A memory that is derived from another
    memory has the life of the other as its ``root``, and ends with the other."""

    def __init__(self, end: Callable[[], None] | None = None, *, root: Life | None = None) -> None:
        self._end = end
        self._root = root
        self._is_closed = False
        self.before_closing: list[Callable[[], object]] = root.before_closing if root else []
        """What is called first, while memories of the same root can still be written to."""

    @property
    def is_closed(self) -> bool:
        """Whether the memory, or its root, is closed."""
        return self._is_closed or (self._root is not None and self._root.is_closed)

    def close(self) -> None:
        """End this life; a second call does nothing."""
        if self._is_closed:
            return
        try:
            for finish in self.before_closing:
                finish()
        finally:
            self._is_closed = True
            if self._end is not None:
                self._end()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMemory:
    """One namespace, ``name``, of an open store, and what a memory does with texts and questions:
    what all parts of the memory share. Memories that are derived from each other share most of it.

    ``vectors`` is None if the memory has no embeddings, ``llm`` if it has no language model.
    ``clock`` gives the present, aware. ``triplets``: updates write the triplets that their texts
    state. Ask the store which optional protocols of ``recallm.stores.base`` it has."""

    store: GraphStore
    name: str
    extractor: Extractor
    vectors: StatementVectors | None
    relation_indexes: RelationIndexes
    config: RecallConfig
    llm: Callable[[str], str] | None
    count_tokens: Callable[[str], int]
    clock: Callable[[], datetime]
    triplets: bool
    life: Life

    def check_open(self) -> None:
        """Raise ``ClosedError`` where the memory is closed."""
        if self.life.is_closed:
            raise ClosedError

    def concept_name(self, label: str) -> str:
        """The name of the concept that a label spells."""
        return self.extractor.concept_name(label)

    @property
    def recaller(self) -> Recaller:
        """Reads and ranks what is stored."""
        return Recaller(self.store, self.name, self.extractor, self.vectors, self.relation_indexes)

    def reader(
        self, as_of: Moment | None = None, *, withdrawn: bool = False
    ) -> AbstractContextManager[GraphReader]:
        """A reader of what was known at a moment, without what has expired."""
        self.check_open()
        moment = checks.moment(as_of, "as_of")
        horizon = Horizon(as_of=moment, now=self.clock(), withdrawn=withdrawn)
        return self.store.reader(self.name, horizon)

    def named(self, namespace: str) -> OpenMemory:
        """Another namespace of the same store."""
        self.check_open()
        return replace(self, name=checks.name(namespace, "namespace"))


class Part:
    """A part of ``RecallM``, which opens the memory and has the public methods of its parts."""

    _opened: OpenMemory
