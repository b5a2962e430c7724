"""`GraphReader.dump` and `GraphStore.restore`: a namespace as a sequence of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from recallm.errors import InvalidInputError, UnknownEntityError
from recallm.model import OpenSession, PreparedUpdate, Summary, is_message
from recallm.stores.semantics.applying import pin_vectors_of, with_session_key
from recallm.stores.semantics.cutting import without_unknown
from recallm.stores.semantics.rows import Changes, Keys, NamespaceTotals, Rows, t_of
from recallm.stores.semantics.writing import UpdateWriter

_PAGE = 500
"""Updates that a dump reads at a time."""
_PORTION = 4000
"""Updates and their statements that a restore writes at a time, about."""


def dump_records(
    page: Callable[[int, int], Sequence[PreparedUpdate]], summaries: Callable[[], Iterable[Summary]]
) -> Iterator[PreparedUpdate | Summary]:
    """See `GraphReader.dump`. ``page(after, limit)`` gives the next updates after a t."""
    after = 0
    while updates := page(after, _PAGE):
        yield from updates
        after = updates[-1].t_index or 0
    yield from sorted(summaries(), key=lambda summary: (summary.t_index, summary.concept))


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
    writer = UpdateWriter(rows, totals, late_entities=True)
    pending: list[PreparedUpdate] = []
    size = 0
    summaries: list[Summary] = []
    written = 0
    passages: set[str] = set()
    for record in records:
        if isinstance(record, Summary):
            summaries.append(record)
        elif record.text is not None or record.elements:
            record = without_unknown(record, passages)
            pending.append(_numbered(totals, record))
            size += 1 + len(record.statements)
            passages.add(record.id)
            written += 1
        if size >= _PORTION:
            writer.write(pending)
            pending, size = [], 0
    totals.t = max(t_index, totals.t)
    if pending:
        writer.write(pending)
    if writer.missing:
        raise UnknownEntityError(min(writer.missing))
    known = rows.look_up(Keys(concepts={s.concept for s in summaries})).concepts
    for summary in summaries:
        if summary.concept not in known:
            raise InvalidInputError(
                f"a summary is of {summary.concept!r}, which no update mentions",
                argument="records",
            )
    rows.write(Changes(namespace=totals, summaries=summaries))
    return written


def _numbered(namespace: NamespaceTotals, update: PreparedUpdate) -> PreparedUpdate:
    """An update of an archive, checked, with its session key; it moves the counter on.

    Raises:
        InvalidInputError: the updates do not ascend by t.
        EmbeddingModelError, DimensionError: see `pin_vectors_of`.
    """
    if update.t_index is None or update.t_index <= namespace.t:
        raise InvalidInputError(
            f"update {update.id!r} has t_index {update.t_index!r} after {namespace.t}; an "
            "archive's updates ascend by it",
            argument="records",
        )
    pin_vectors_of(namespace, update)
    namespace.t = update.t_index
    if update.text is None:
        update = replace(update, id="")
    said, key = update.timestamp, update.session_key
    if key is not None and said is not None:  # the archive says the session of a message
        namespace.open_session = OpenSession(t_of(update), key, said, update.source)
    elif is_message(update):
        namespace.open_session = None
    else:
        return with_session_key(namespace, update, lambda _: False)
    return update
