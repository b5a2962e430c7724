"""Several reads in one round trip: their queries are joined into one.

``reader.together(a, b)`` calls the functions with a recorder of queries. A function that asks a
query without a known answer ends there (``UnansweredError``), and the next function begins. Then
one joined query answers all recorded ones, and the functions are called again, which now come
further.

**Torn reads.** Neo4j reads what is committed at the moment of reading. A node that a query matched
may be deleted before the query reads its properties, which are null then. Where a row that is a
list has a null, all rows are read again: what may be null stands in a list or a map within the row.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, LiteralString, NamedTuple

from recallm.stores.base import GraphReader
from recallm.stores.semantics.reader import literal

_READS = 8
_PAUSE = 0.0005
"""Half of the seconds before the second read, twice as long before each later one: a commit ends
meanwhile."""


class UnansweredError(Exception):
    """The answer of a query is not known yet: it is asked with the next round."""


class Ask(NamedTuple):
    """A query with its own parameters, and what a reader needs of a row."""

    query: LiteralString
    parameters: Mapping[str, Any]
    convert: Callable[[Any], Any]


class Answers:
    """The answers of one view. ``run`` runs a query in its namespace with the parameters of its
    horizon."""

    def __init__(self, run: Callable[[LiteralString, Mapping[str, Any]], list[Any]]) -> None:
        self._run = run
        self._known: dict[tuple[str, str], list[Any]] = {}
        self._wanted: dict[tuple[str, str], Ask] = {}

    def of(self, ask: Ask) -> list[Any]:
        """The answer of ``ask``.

        Raises:
            UnansweredError: the rows are read with the next round.
        """
        key = ask.query, repr(ask.parameters)
        if key not in self._known:
            self._wanted[key] = ask
            raise UnansweredError
        return list(self._known[key])

    def of_all(
        self, reads: Sequence[Callable[[GraphReader], Any]], reader: GraphReader
    ) -> list[Any]:
        """The results of all ``reads``, which ask ``reader``.

        Raises:
            UnansweredError: some wait for an answer.
        """
        results: list[Any] = []
        for read in reads:
            with suppress(UnansweredError):
                results.append(read(reader))
        if len(results) < len(reads):
            raise UnansweredError
        return results

    def read(self) -> None:
        """Read the answers of the asks that have none, in one round trip."""
        wanted, self._wanted = self._wanted, {}
        self._known.update(zip(wanted, self.read_now([*wanted.values()]), strict=True))

    def read_now(self, asks: Sequence[Ask]) -> list[list[Any]]:
        """What the complete rows of each query say, in one round trip.

        If a row is incomplete, all rows are read again, at most ``_READS`` times: other rows may
        have values that were computed from the deleted node. The rows that are still incomplete
        after the last read are left out.
        """
        found: list[list[Any]] = []
        for turn in range(_READS):
            if turn:
                time.sleep(_PAUSE * 2**turn)
            found = self._rows(asks)
            if all(_is_complete(row) for rows in found for row in rows):
                break
        return [
            [ask.convert(row) for row in rows if _is_complete(row)]
            for ask, rows in zip(asks, found, strict=True)
        ]

    def _rows(self, asks: Sequence[Ask]) -> list[list[Any]]:
        if len(asks) == 1:
            return [self._run(asks[0].query, asks[0].parameters)]
        query = _joined(tuple((ask.query, tuple(ask.parameters)) for ask in asks))
        parameters = {
            f"{name}_{place}": value
            for place, ask in enumerate(asks)
            for name, value in ask.parameters.items()
        }
        rows: list[list[Any]] = self._run(query, parameters)[0]
        return rows


def _is_complete(row: Any) -> bool:
    return None not in row if isinstance(row, list) else row is not None


@cache
def _joined(asks: tuple[tuple[LiteralString, tuple[LiteralString, ...]], ...]) -> LiteralString:
    """One query that answers all ``asks`` (query, names of its own parameters): its row has the
    list of the rows of each."""
    parts: list[str] = []
    columns: list[str] = []
    for place, (query, names) in enumerate(asks):
        own = re.sub(rf"\$({'|'.join(names)})\b", rf"$\1_{place}", query) if names else query
        parts.append(f"CALL () {{\nCALL () {{{own}}}\nRETURN collect(row) AS rows_{place}\n}}\n")
        columns.append(f"rows_{place}")
    return literal("".join(parts) + "RETURN [" + ", ".join(columns) + "] AS row")
