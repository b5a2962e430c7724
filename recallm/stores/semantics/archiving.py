"""`GraphReader.dump` and `GraphStore.restore`: a namespace as a sequence of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from recallm.errors import InvalidInputError, UnknownEntityError
from recallm.model import PreparedUpdate, Summary
from recallm.stores.semantics.applying import pin_vectors_of
from recallm.stores.semantics.rows import Changes, NamespaceTotals, Rows
from recallm.stores.semantics.sessions import with_session_key
from recallm.stores.semantics.writing import UpdateWriter

__all__ = ["dump_records", "in_dump_order", "restore_records"]

_CHUNK = 500
"""Updates held in memory at a time."""


def dump_records(
    page: Callable[[int, int], Sequence[PreparedUpdate]], summaries: Callable[[], Iterable[Summary]]
) -> Iterator[PreparedUpdate | Summary]:
    """See `GraphReader.dump`. ``page(after, limit)`` gives the next updates after a t."""
    after = 0
    while updates := page(after, _CHUNK):
        yield from updates
        after = updates[-1].t_index or 0
    yield from sorted(summaries(), key=lambda summary: (summary.t_index, summary.concept))


def in_dump_order(update: PreparedUpdate) -> PreparedUpdate:
    """A stored update with its parts in the order of `GraphReader.dump`."""
    return replace(
        update,
        statements=tuple(sorted(update.statements, key=lambda s: s.position)),
        neighbours=tuple(sorted(update.neighbours, key=lambda n: (n.a, n.b, n.earlier, n.later))),
        entities=tuple(sorted(update.entities, key=lambda e: (e.id, e.position))),
        triplets=tuple(
            sorted(update.triplets, key=lambda x: (x.subject, x.predicate, x.object, x.position))
        ),
        vectors=tuple(sorted(update.vectors, key=lambda v: (v.position, v.model))),
    )


def restore_records(
    rows: Rows, namespace: str, t_index: int, records: Iterable[PreparedUpdate | Summary]
) -> int:
    """See `GraphStore.restore`."""
    totals = rows.open().totals
    if totals.t > 0:
        raise InvalidInputError(
            f"namespace {namespace!r} was written before; restore into a new one",
            argument="namespace",
        )
    restoring = _Restoring(rows, totals)
    for record in records:
        restoring.take(record)
    restoring.finish(t_index)
    return restoring.written


class _Restoring:
    """Writes records in chunks; summaries come after all updates."""

    def __init__(self, rows: Rows, totals: NamespaceTotals) -> None:
        self.written = 0
        self._rows = rows
        self._totals = totals
        self._writer = UpdateWriter(rows, totals, late_entities=True)
        self._pending: list[PreparedUpdate] = []
        self._summaries: list[Summary] = []

    def take(self, record: PreparedUpdate | Summary) -> None:
        """Check a record and write it, now or with those that follow.

        Raises:
            InvalidInputError: the updates do not ascend by t.
            EmbeddingModelError, DimensionError: see `restore`.
        """
        if isinstance(record, Summary):
            self._summaries.append(record)
            return
        if record.text is None and not record.elements:
            return
        if record.t_index is None or record.t_index <= self._totals.t:
            raise InvalidInputError(
                f"update {record.id!r} has t_index {record.t_index!r} after {self._totals.t}; an "
                "archive's updates ascend by it",
                argument="records",
            )
        pin_vectors_of(self._totals, record)
        self._totals.t = record.t_index
        if record.text is None:
            record = replace(record, id="")
        self._pending.append(with_session_key(self._totals, record))
        self.written += 1
        if len(self._pending) == _CHUNK:
            self._write()

    def finish(self, t_index: int) -> None:
        """Write the rest, and set the counter.

        Raises:
            UnknownEntityError: a triplet names an entity that no record brings.
            InvalidInputError: a summary is of a concept that no update mentions.
        """
        self._totals.t = max(t_index, self._totals.t)
        self._write()
        if self._writer.missing:
            raise UnknownEntityError(min(self._writer.missing))
        known = self._rows.look_up(concepts={s.concept for s in self._summaries}).concepts
        for summary in self._summaries:
            if summary.concept not in known:
                raise InvalidInputError(
                    f"a summary is of {summary.concept!r}, which no update mentions",
                    argument="records",
                )
        self._rows.write(Changes(namespace=self._totals, summaries=self._summaries))

    def _write(self) -> None:
        if self._pending:
            self._writer.write(self._pending)
            self._pending = []
