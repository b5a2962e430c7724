"""Filling a namespace from an archive, and deleting rows that no namespace points at any more
(``recallm.stores.cypher.generations``): any amount, in transactions of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from recallm.errors import InvalidInputError, StoreError, UnknownEntityError
from recallm.model import PreparedUpdate, Summary
from recallm.stores.cypher import generations as cypher
from recallm.stores.cypher.writing import IS_EMPTY
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.sizes import Sizes
from recallm.stores.neo4j.transaction import Tx, chunks, rows
from recallm.stores.neo4j.values import fresh_rows
from recallm.stores.neo4j.writing import (
    lock,
    lock_key,
    new_batch,
    write_batch,
    write_summaries,
)

__all__ = ["purge", "restore"]

_AT_ONCE = 500
_PATIENCE = 86_400_000
"""Milliseconds after which a restore that never ended is taken for dead: a day."""


def restore(
    connection: Connection,
    namespace: str,
    t_index: int,
    records: Iterable[PreparedUpdate | Summary],
) -> int:
    """See ``GraphStore.restore``: everything is written beside the namespace, which is then
    pointed at it."""
    stage = fresh_rows()

    def begin(tx: Tx) -> None:
        _lock_empty(tx, namespace)
        rows(tx, cypher.STAGE, {"stage": stage, "patience": _PATIENCE})

    def publish(tx: Tx) -> None:
        key = _lock_empty(tx, namespace)
        if not rows(tx, cypher.PUBLISH, {"namespace": key, "stage": stage, "t": t_index}):
            raise StoreError(
                "what was written of the archive was deleted meanwhile, for it took longer than a "
                "day; restore it again"
            )

    connection.write(begin)
    try:
        written = _fill(connection, stage, records)
        connection.write(publish)
    except BaseException:
        with suppress(StoreError):
            connection.write(lambda tx: rows(tx, cypher.CLEAR, {"stage": stage}))
        purge(connection)
        raise
    return written


def purge(connection: Connection) -> None:
    """Delete the rows that no namespace points at. What fails is left for the next time: nobody
    sees these rows."""
    with suppress(StoreError):
        for garbage in connection.read(lambda tx: rows(tx, cypher.GARBAGE, {})):
            some = partial(_purge_some, key=garbage["key"], namespace=garbage["rows"])
            while connection.write(some):
                pass


def _purge_some(tx: Tx, key: str, namespace: str) -> bool:
    """Delete some rows; whether there is more to do."""
    if not rows(tx, cypher.LOCK_GARBAGE, {"key": key}):
        return False
    for query in cypher.PURGE:
        found = rows(tx, query, {"namespace": namespace, "limit": _AT_ONCE})
        if found[0]["deleted"]:
            return True
    rows(tx, cypher.DISCARD, {"key": key})
    return False


def _lock_empty(tx: Tx, namespace: str) -> str:
    """Lock a namespace that must be empty; the namespace of its rows."""
    state = lock(tx, namespace)
    key: str = state["rows"]
    if state["t"] > 0 or not rows(tx, IS_EMPTY, {"namespace": key})[0]["empty"]:
        raise InvalidInputError(
            f"namespace {namespace!r} was written before; restore into a new one",
            argument="namespace",
        )
    return key


def _fill(connection: Connection, stage: str, records: Iterable[PreparedUpdate | Summary]) -> int:
    summaries: list[Summary] = []
    # Triplets may come before their entities, and are not many: they are written last.
    with_triplets: list[PreparedUpdate] = []
    written = 0
    for chunk in chunks(records, _AT_ONCE):
        updates = [_alone(record) for record in chunk if isinstance(record, PreparedUpdate)]
        summaries += [record for record in chunk if isinstance(record, Summary)]
        with_triplets += [replace(it, entities=()) for it in updates if it.triplets]
        connection.write(partial(_write_updates, stage=stage, updates=updates))
        written += len(updates)
    for naming in chunks(with_triplets, _AT_ONCE):
        connection.write(partial(_write_triplets, stage=stage, updates=naming))
    for revised in chunks(summaries, _AT_ONCE):
        connection.write(partial(write_summaries, key=stage, summaries=revised), locks=False)
    return written


def _write_updates(tx: Tx, stage: str, updates: Sequence[PreparedUpdate]) -> None:
    state = lock_key(tx, stage, None)
    sizes = Sizes.of(state)
    batch = new_batch(tx, state, [(_t_of(update), update) for update in updates])
    for update in updates:
        refusal = sizes.refusal(update)
        if refusal is not None:
            raise refusal
        batch.add_all_but_triplets(update, _t_of(update))
    write_batch(tx, batch, 0)
    sizes.write(tx, stage)


def _write_triplets(tx: Tx, stage: str, updates: Sequence[PreparedUpdate]) -> None:
    told = [(_t_of(update), update) for update in updates]
    batch = new_batch(tx, lock_key(tx, stage, None), told)
    for update in updates:
        for triplet in update.triplets:
            for id in (triplet.subject, triplet.object):
                if not batch.knows_entity(id):
                    raise UnknownEntityError(id)
        batch.add_triplets(update, _t_of(update))
    write_batch(tx, batch, 0)


def _alone(update: PreparedUpdate) -> PreparedUpdate:
    """The update; without a passage it is one of its own, whatever its id."""
    return replace(update, id="") if update.text is None else update


def _t_of(update: PreparedUpdate) -> int:
    if update.t_index is None:
        raise InvalidInputError(
            f"the update {update.id!r} has no t_index; restore what a dump gave",
            argument="records",
        )
    return update.t_index
