"""Several reads in one round trip: their queries are joined into one.

``reader.together(a, b)`` calls the functions with a recorder of queries. A function that asks a
query without a known answer ends there (``UnansweredError``), and the next function begins. Then
one joined query answers all recorded ones, and the functions are called again, which now come
further.
Functions whose queries depend on each other's answers take as many rounds as the longest chain.

**Torn reads.** Neo4j reads what is committed at the moment of reading. A node that a query matched
may be deleted before the query reads its properties: single properties are null then, and a
returned node has none. ``complete_rows`` reads again where that happened.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, LiteralString

from recallm.stores.base import GraphReader
from recallm.stores.neo4j.transaction import Row, row_of

_PREFIXES: Final[tuple[LiteralString, ...]] = (
    "a_", "b_", "c_", "d_", "e_", "f_", "g_", "h_",
    "i_", "j_", "k_", "l_", "m_", "n_", "o_", "p_",
)  # fmt: skip
"""What the names of a query's own parameters begin with in a joined query."""

_READS = 6
_PAUSE = 0.001
"""Seconds before the second read, twice as long before each later one: a commit ends meanwhile."""
_MAY_BE_NULL: Final = frozenset(
    {"next", "passage", "previous", "properties", "source", "summary", "timestamp"}
)
_ALWAYS_THERE: Final[Mapping[str, tuple[str, ...]]] = {
    "passage": ("id", "t", "text", "metadata"),
    "update": ("t", "namespace"),
}
"""Column → the properties that a complete node in it always has."""
_FIRST_ALWAYS_THERE: Final[Mapping[str, int]] = {
    "origin": 2,
    "statement": 6,
    "summary": 5,
    "totals": 6,
}
"""Column with a list of properties → how many of the first ones a complete node always has."""


def results_of(reads: Sequence[Callable[[GraphReader], Any]], recorder: GraphReader) -> list[Any]:
    """The results of all ``reads``.

    Raises:
        UnansweredError: some wait for an answer; those queries of all ``reads`` are recorded that
            can be asked now.
    """
    results: list[Any] = []
    for read in reads:
        with suppress(UnansweredError):
            results.append(read(recorder))
    if len(results) < len(reads):
        raise UnansweredError
    return results


class UnansweredError(Exception):
    """The answer of a query is not known yet: it is asked with the next round."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A query with its own parameters; those of the horizon are the same for all.

    ``convert`` makes what a reader needs of a row, always the same for a query. A row is converted
    when it is read, not each time that a function runs which asked for it.
    """

    query: LiteralString
    parameters: Mapping[str, Any]
    convert: Callable[[Row], Any] = lambda row: row

    @property
    def key(self) -> tuple[str, str]:
        """Equal for asks with equal answers."""
        return self.query, repr(self.parameters)

    def answer(self, rows: Iterable[Row]) -> list[Any]:
        """What the rows say."""
        return [self.convert(row) for row in rows]


class Answers:
    """The answers of one view, and the asks that have none yet.

    Args:
        run: runs a query in the view's namespace, with the parameters of its horizon.
    """

    def __init__(self, run: Callable[[LiteralString, Mapping[str, Any]], list[Row]]) -> None:
        self._run = run
        self._known: dict[tuple[str, str], list[Any]] = {}
        self._wanted: dict[tuple[str, str], Ask] = {}

    def of(self, ask: Ask) -> list[Any]:
        """The answer of ``ask``.

        Raises:
            UnansweredError: the rows are read with the next round.
        """
        key = ask.key
        if key not in self._known:
            self._wanted[key] = ask
            raise UnansweredError
        return list(self._known[key])

    def read(self) -> None:
        """Read the answers of the asks that have none: a round trip for up to 16 of them."""
        wanted, self._wanted = list(self._wanted.items()), {}
        for first in range(0, len(wanted), len(_PREFIXES)):
            asked = wanted[first : first + len(_PREFIXES)]
            found = complete_rows(partial(self._rows, [ask for _, ask in asked]))
            for (key, ask), rows in zip(asked, found, strict=True):
                self._known[key] = ask.answer(rows)

    def _rows(self, asks: Sequence[Ask]) -> list[list[Row]]:
        if len(asks) == 1:
            return [self._run(asks[0].query, asks[0].parameters)]
        query = _joined(tuple((ask.query, tuple(ask.parameters)) for ask in asks))
        parameters = {
            prefix + name: value
            for prefix, ask in zip(_PREFIXES, asks, strict=False)
            for name, value in ask.parameters.items()
        }
        found = self._run(query, parameters)[0]
        return [
            [row_of(_columns(ask.query), row) for row in found[f"{prefix}rows"]]
            for prefix, ask in zip(_PREFIXES, asks, strict=False)
        ]


@cache
def _joined(asks: tuple[tuple[LiteralString, tuple[LiteralString, ...]], ...]) -> LiteralString:
    """One query that answers all ``asks`` (query, names of its own parameters): one row, whose
    columns ``…rows`` are lists of rows, each a list of its values."""
    parts: list[LiteralString] = []
    columns: list[LiteralString] = []
    for prefix, (query, names) in zip(_PREFIXES, asks, strict=False):
        pieces: list[LiteralString] = query.split("$")  # a name begins each but the first
        for place, piece in enumerate(pieces):
            if place and re.split(r"\W", piece, maxsplit=1)[0] in names:
                pieces[place] = prefix + piece
        own: LiteralString = "$".join(pieces)
        values: LiteralString = ", ".join(_columns(query))
        parts.append(
            "CALL () {\nCALL () {\n" + own + "}\nRETURN collect([" + values + "]) AS "
            + prefix + "rows\n}\n"
        )  # fmt: skip
        columns.append(prefix + "rows")
    return "".join(parts) + "RETURN " + ", ".join(columns)


@cache
def _columns(query: LiteralString) -> tuple[LiteralString, ...]:
    """The names of the columns of a query, whose last RETURN begins a line without indent."""
    returned = query.rpartition("\nRETURN ")[2].removeprefix("DISTINCT ")
    returned = returned.rpartition("ORDER BY")[0] if _is_ordered(returned) else returned
    parts: list[LiteralString] = [""]
    depth = 0
    for letter in returned:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple([part.rpartition(" AS ")[2].strip() for part in parts])


def _is_ordered(returned: str) -> bool:
    """Whether ORDER BY follows the columns; within brackets it orders a subquery."""
    before, _, after = returned.rpartition("ORDER BY")
    return bool(before) and after.count("}") <= after.count("{")


def complete_rows(read: Callable[[], Sequence[list[Row]]]) -> list[list[Row]]:
    """The rows of each query that ``read`` runs, without incomplete ones.

    If a row is incomplete, all rows are read again, at most ``_READS`` times: other rows may have
    values that were computed from the deleted node. The rows that are still incomplete after the
    last read are left out.
    """
    for turn in range(_READS - 1):
        found = read()
        if all(_is_complete(row) for rows in found for row in rows):
            return list(found)
        time.sleep(_PAUSE * 2**turn)
    return [[row for row in rows if _is_complete(row)] for rows in read()]


def _is_complete(row: Row) -> bool:
    for column, value in row.items():
        if value is None:
            if column not in _MAY_BE_NULL:
                return False
        elif (
            isinstance(value, dict)
            and not all(value.get(name) is not None for name in _ALWAYS_THERE[column])
        ) or (column in _FIRST_ALWAYS_THERE and None in value[: _FIRST_ALWAYS_THERE[column]]):
            return False
    return True
