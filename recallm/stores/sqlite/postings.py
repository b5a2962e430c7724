"""Posting lists: which statements hold a stem, and which mention a concept.

A list has one record for each such statement: the statement's key, the number of its session (0
where it has none), and how often the statement holds the stem (1 for a mention). The records of a
list stand in the order of their keys. The newest are ``newest`` of the row of the term or the
concept itself, the others stand in blocks: rows of ``term_block`` and ``concept_block``, each of
which fills a page. ``last`` is the greatest key that a block had when it was cut: the block has
what lies after the ``last`` of the block before it, up to its own.

Records begin with their checksum, which counts the number of their term or concept: they are
valid with their own term or concept alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray

from recallm.model import LARGEST_NUMBER
from recallm.stores.sqlite.schema import RECORD, keys_of, sealed, unsealed
from recallm.stores.sqlite.view import Fetch, FilterSql, Queries, View

Records = NDArray[np.void]

_BLOCK = 136
"""Records of a block when it is cut: with its checksum and its key a block fills a page of 2,048
bytes, and no second page."""

_OLDER: LiteralString = (
    "SELECT last, blob FROM {table}_block WHERE ns = :ns AND owner = :of AND last < :before"
    " ORDER BY last DESC LIMIT :blocks"
)
_OF_FEW: LiteralString = (
    "SELECT b.last, b.blob FROM json_each(:few) f CROSS JOIN {table}_block b WHERE b.ns = :ns"
    " AND b.owner = :of AND b.last >= f.value << 20 AND b.last <= coalesce((SELECT min(last)"
    "  FROM {table}_block WHERE ns = :ns AND owner = :of AND last >= (f.value + 1) << 20), :before)"
)
"""The blocks, some of them twice, that may have records of the passages ``:few``."""
_AT: LiteralString = (
    "SELECT last, blob FROM {table}_block WHERE ns = :ns AND owner = :of AND last >= :key"
    " ORDER BY last LIMIT 1"
)
_BEFORE: LiteralString = (
    "SELECT coalesce(sum(length(blob) - 4), 0) FROM {table}_block"
    " WHERE ns = :ns AND owner = :of AND last < :end"
)


# Reading.


def newest_records(
    view: View,
    table: LiteralString,
    owner: int,
    newest: bytes,
    total: int,
    limit: int | None,
    where: FilterSql,
) -> Records:
    """The newest ``limit`` visible records (all if None) that meet a filter, of a list of
    ``total``: newest first.

    Raises:
        ValueError: records are damaged.
    """
    missing = total if limit is None else min(limit, total)
    page = unsealed(owner, newest)
    records = np.frombuffer(page, RECORD)[::-1]
    if where.is_plain and missing <= len(records):
        return records[:missing]
    has_few = not where.is_plain and where.is_met_by_few
    sql = (_OF_FEW if has_few else _OLDER).replace("{table}", table)
    found, left, before = [], total, LARGEST_NUMBER
    while True:
        left -= len(records)
        if not where.is_plain:
            records = records[where.met(records["key"])]
        found.append(records[:missing])
        missing -= len(found[-1])
        if not missing or left <= 0:
            break
        blocks = -(-min(missing, left) // _BLOCK)
        values: dict[str, Any] = {**where.values, "of": owner, "before": before, "blocks": blocks}
        rows = view.rows(sql, **values)
        if not rows:
            if has_few:
                break
            raise ValueError("a list of postings has lost a block")
        before = min(rows)[0]
        page = b"".join(unsealed(owner, blob) for _, blob in sorted(set(rows)))
        records = np.frombuffer(page, RECORD)[::-1]
        if has_few:  # all that may meet it have been read
            left = 0
    return found[0] if len(found) == 1 else np.concatenate(found)


def count_before(
    queries: Queries, table: LiteralString, owner: int, newest: bytes, end: int
) -> int:
    """How many records of a list have a key less than ``end``.

    Raises:
        ValueError: records are damaged.
    """
    ((whole,),) = queries.rows(_BEFORE.replace("{table}", table), of=owner, end=end)
    parts = [blob for _, blob in queries.rows(_AT.replace("{table}", table), of=owner, key=end)]
    keys = [keys_of(unsealed(owner, blob)) for blob in (*parts, newest)]
    return int(whole) // RECORD.itemsize + sum(int((each < end).sum()) for each in keys)


def faults(fetch: Fetch) -> Iterator[str]:
    """What is wrong with the lists of a database."""
    tables: tuple[LiteralString, ...] = ("term", "concept")
    for table in tables:
        blocks: defaultdict[int, list[bytes]] = defaultdict(list)
        for owner, blob in fetch("SELECT owner, blob FROM " + table + "_block ORDER BY last", {}):
            blocks[owner].append(blob)
        for owner, total, newest in fetch("SELECT id, statements, newest FROM " + table, {}):
            try:
                lists = [keys_of(unsealed(owner, blob)) for blob in (*blocks[owner], newest)]
            except ValueError as error:
                yield f"{table} {owner}: {error}"
                continue
            keys = np.concatenate(lists)
            if len(keys) != total or (np.diff(keys) <= 0).any():
                yield f"{table} {owner}: the list of its statements is incomplete or out of order"


# Writing.


def edit(
    queries: Queries,
    table: LiteralString,
    owner: int,
    newest: bytes,
    edits: Mapping[int, bytes],
    blocks: dict[tuple[Any, ...], tuple[Any, ...] | None],
) -> bytes:
    """The newest records of a list after edits: the record by key, empty for one that goes. Into
    ``blocks`` go those that change, by number and ``last``; None for a block that goes.

    Raises:
        ValueError: records are damaged.
    """
    keys = sorted(edits)
    sql = _AT.replace("{table}", table)
    while keys and (found := queries.rows(sql, of=owner, key=keys[0])):
        ((last, blob),) = found
        here = [key for key in keys if key <= last]
        left = _edited(unsealed(owner, blob), edits, here)
        blocks[owner, last] = (sealed(owner, left),) if left else None
        keys = keys[len(here) :]
    return _edited(newest, edits, keys)


def cut_blocks(
    owner: int, records: bytes, blocks: dict[tuple[Any, ...], tuple[Any, ...] | None]
) -> bytes:
    """What is left of the newest records when whole blocks have gone into ``blocks``."""
    size = _BLOCK * RECORD.itemsize
    while len(records) >= size:
        block, records = records[:size], records[size:]
        blocks[owner, int(keys_of(block)[-1])] = (sealed(owner, block),)
    return records


def _edited(records: bytes, edits: Mapping[int, bytes], keys: Collection[int]) -> bytes:
    """Records with the edits of ``keys``, in order."""
    size = RECORD.itemsize
    held = {
        key: records[place * size : (place + 1) * size]
        for place, key in enumerate(keys_of(records).tolist())
    }
    held.update((key, edits[key]) for key in keys)
    return b"".join(held[key] for key in sorted(held))
