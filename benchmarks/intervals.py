"""Scores question by question, their means, and how sure the difference of two rows is.

The interval is a paired bootstrap's (percentiles, 95 %): both rows are resampled together. Where
there are many units (conversations, films, people) they are drawn with replacement, and of each
that is drawn its questions; three conversations are too few for that, so with less than 20 units
the questions of each are drawn and the units stay: the interval then speaks of other questions
about the same conversations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_MANY = 20
_DRAWS = 2_000
_SHARE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference of two means, and the interval in which it lies."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


class Scores:
    """The scores of all rows on all questions.

    Each question is one of a unit; a column may hold scores of some of the questions only, the same
    ones for each row.
    """

    def __init__(self) -> None:
        self.units: list[str] = []
        self.kinds: list[str | None] = []
        self._values: dict[str, dict[str, dict[int, float]]] = defaultdict(
            lambda: defaultdict(dict)
        )

    @property
    def rows(self) -> list[str]:
        """The names of the rows, in the order in which they were first scored."""
        return list(self._values)

    def question(self, unit: str, kind: str | None = None) -> int:
        """Begin a question of ``unit`` that is of a ``kind``; its number."""
        self.units.append(unit)
        self.kinds.append(kind)
        return len(self.units) - 1

    def add(self, row: str, column: str, question: int, value: float) -> None:
        """The score of ``row`` on a question."""
        self._values[row][column][question] = value

    def rename(self, row: str, column: str, name: str) -> None:
        """Let the scores of ``row`` in ``column`` stand in the column ``name``."""
        self._values[row][name] = self._values[row].pop(column, {})

    def has(self, row: str, column: str) -> bool:
        """Whether ``row`` was scored in a column."""
        return column in self._values[row]

    def columns(self, row: str) -> list[str]:
        """The columns of ``row``, in the order in which they were first scored."""
        return list(self._values[row])

    def mean(self, row: str, column: str, kind: str | None = None) -> float | None:
        """The mean over all questions, or over those of a ``kind``; None where there are none."""
        values = self._of(row, column, kind)
        return sum(values) / len(values) if values else None

    def median(self, row: str, column: str) -> float | None:
        """The median over all questions; None where there are none."""
        values = self._of(row, column, None)
        return median(values) if values else None

    def _of(self, row: str, column: str, kind: str | None) -> list[float]:
        return [
            value
            for question, value in self._values[row].get(column, {}).items()
            if kind is None or self.kinds[question] == kind
        ]

    def means(self, row: str, kind: str | None = None) -> dict[str, float | None]:
        """The mean of each column."""
        return {column: self.mean(row, column, kind) for column in self.columns(row)}

    def table(self, head: str, rows: Iterable[str], columns: Iterable[str]) -> list[dict[str, Any]]:
        """The means of ``columns``: a row for each of ``rows``, named under ``head``."""
        columns = list(columns)
        return [{head: row, **{each: self.mean(row, each) for each in columns}} for row in rows]

    def difference(self, row: str, other: str, column: str, *, seed: int = 0) -> Difference:
        """How much better ``row`` is than ``other``, on all questions."""
        mine, theirs = self._values[row][column], self._values[other][column]
        if mine.keys() != theirs.keys():
            raise ValueError(f"{row} and {other} were not asked the same questions of {column}")
        differences = np.array([mine[question] - theirs[question] for question in mine])
        means = np.array(
            [
                differences[places].mean()
                for places in resamples(tuple(self.units[each] for each in mine), seed=seed)
            ]
        )
        low, high = np.quantile(means, [(1 - _SHARE) / 2, (1 + _SHARE) / 2])
        return Difference(mean=float(differences.mean()), low=float(low), high=float(high))

    def differences(
        self, rows: Iterable[str], others: Sequence[str], columns: Sequence[str]
    ) -> list[dict[str, Any]]:
        """A row of a table for each of ``rows`` against each of ``others`` that were scored; None
        in a column in which one of the two was not."""
        return [
            {
                "difference": title,
                **{
                    column: self.difference(row, other, column)
                    if self.has(row, column) and self.has(other, column)
                    else None
                    for column in columns
                },
            }
            for title, row, other in self._pairs(rows, others)
        ]

    def _pairs(self, rows: Iterable[str], others: Sequence[str]) -> list[tuple[str, str, str]]:
        """Each of ``rows`` with each of ``others``, behind a title."""
        return [
            (f"{row.removeprefix('recallm, ')} − {other.partition(',')[0]}", row, other)
            for row in rows
            for other in others
            if row in self._values and other in self._values and row != other
        ]


@lru_cache(maxsize=8)
def resamples(
    units: tuple[str, ...], *, seed: int = 0, draws: int = _DRAWS, many: int = _MANY
) -> list[Places]:
    """Places of questions, drawn ``draws`` times: ``units`` says of which unit each question is."""
    of: dict[str, list[int]] = defaultdict(list)
    for place, unit in enumerate(units):
        of[unit].append(place)
    places = np.concatenate([np.array(each, dtype=np.int64) for each in of.values()])
    lengths = np.array([len(each) for each in of.values()])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    random = np.random.default_rng(seed)
    everyone = np.arange(len(lengths))
    drawn = []
    for _ in range(draws):
        picked = random.integers(len(lengths), size=len(lengths)) if len(of) >= many else everyone
        counts = lengths[picked]
        within = random.random(counts.sum()) * np.repeat(counts, counts)
        drawn.append(places[np.repeat(starts[picked], counts) + within.astype(np.int64)])
    return drawn
