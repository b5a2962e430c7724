"""The named signals of a candidate, and their weights.

Most signals stand on an absolute scale: an overlap is a share of the best that a statement could
reach for this question. Two compare it with the other candidates, ``session`` and ``meaning rank``:
where all match badly, the best of them may still answer. The modules ``overlap``, ``meaning``,
``concepts``, ``dates``, ``succession`` and ``anchors`` measure a family each. ``data/weights.toml``
ships with the package; ``training/ranking`` writes it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from recallm.errors import InvalidInputError
from recallm.recall.ranking.anchors import anchor_signals
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.concepts import about_others, named_share, trait_signals
from recallm.recall.ranking.dates import date_signal
from recallm.recall.ranking.meaning import meaning_signals, overlap_signals
from recallm.recall.ranking.stem_counts import Floats
from recallm.recall.ranking.succession import newest, succession_signals

SIGNALS: Mapping[str, str] = MappingProxyType(
    {
        "passage": "rarity-weighted share of the question's stems near it and before its passage",
        "session": "BM25 score of its session, as a share of the best session's",
        "answer": "share of the question's stems in the question that it follows",
        "meaning": "rarity-weighted share of the question's stems, related words counting in part",
        "meaning rank": "1 / its rank by meaning among the candidates",
        "similar": "cosine of its embedding, or else of its mean word vector, with the question's",
        "similar window": "similar, by the mean embedding of the statement and the one before it",
        "similar alone": "similar, for a statement that is alone in its session",
        "near similar": "the greatest similar in its passage and the 3 before and after it",
        "named alone": "share of the asked names in it, if it is alone in its session",
        "kind": "the asked kinds of answer in it: time, number, entity; new names, as a logarithm",
        "date": "its date, or a date that it mentions, meets a date in the question",
        "speaker": "the question names its speaker",
        "person": "the question names its speaker, who says I; or (negative) it says you, unasked",
        "question": "it is a question",
        "user": "question that says I: a user said it, or (negative) an assistant unasked",
        "elsewhere": "the question names somebody whom neither it nor its session mentions",
        "newest": "question about the present: new, and among facts about what is asked for",
        "superseded": "question about the present: a similar later statement answers as well",
        "earliest": "question about the earliest: few earlier statements answer as well",
        "like anchor": "question that names a value's time: like what tells the value, without it",
        "neighbour state": "question about a state before, after or then: next to it among answers",
    }
)
"""What each signal means, in the order of the columns."""


def measure(candidates: Candidates, weights: Mapping[str, float]) -> Floats:
    """The signals of the candidates: a row for each candidate, a column for each of ``SIGNALS``.

    ``weights`` say how well newer and older candidates answer: the signals of succession need it.
    """
    named = named_share(candidates)
    nearness, vectors = meaning_signals(candidates)
    columns = (
        nearness
        | overlap_signals(candidates)
        | trait_signals(candidates)
        | {"named alone": named * candidates.alone, "date": date_signal(candidates)}
        | {"elsewhere": about_others(candidates) * (1.0 - candidates.alone)}
    )
    match = sum(weights.get(name, 0.0) * column for name, column in columns.items())
    columns["newest"], replaced = newest(candidates, named, columns["similar"], vectors)
    match = np.asarray(match)
    columns |= succession_signals(candidates, match, vectors, replaced)
    columns["like anchor"] = np.zeros(len(match))
    columns |= anchor_signals(candidates, match, vectors, weights.get("like anchor", 0.0))
    return np.column_stack([columns[name] for name in SIGNALS])


# Weights.

DATA = Path(__file__).parent / "data" / "weights.toml"
_LEVEL_NUMBERS = 3
_GREATEST = 1e6
"""Greater weights would leave no room for sums of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """``intercept``, and one weight for each signal that counts; others count nothing.

    ``level`` makes scores probabilities among the best of a question: a constant, a factor on the
    log-odds of the best candidate, and a factor on the logarithm of the sum of all odds.
    """

    intercept: float
    signals: Mapping[str, float]
    level: tuple[float, ...] = (0.0,) * _LEVEL_NUMBERS


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightTables:
    """For memories without vectors (``words``) and for those with (``vectors``)."""

    words: Weights
    vectors: Weights


@cache
def load_tables(path: str | None = None) -> WeightTables:
    """The tables in a file, those that ship where ``path`` is None.

    Raises:
        InvalidInputError: the file cannot be read, or holds no such tables.

    """
    where = DATA if path is None else Path(path)
    try:
        tables = tomllib.loads(where.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"the weights in {where} cannot be read: {error}", argument="weights"
        ) from error
    return WeightTables(
        words=_checked(tables, "words", where), vectors=_checked(tables, "vectors", where)
    )


def _checked(tables: Mapping[str, Any], table: str, where: Path) -> Weights:
    values = tables.get(table)
    if not isinstance(values, dict) or "intercept" not in values:
        raise InvalidInputError(
            f"the weights in {where} need a table [{table}] with an intercept", argument="weights"
        )
    level = values.get("level", [0.0] * _LEVEL_NUMBERS)
    if (
        not isinstance(level, list)
        or len(level) != _LEVEL_NUMBERS
        or not all(map(_is_weight, level))
    ):
        raise InvalidInputError(
            f"[{table}] level = {level!r} in {where} is no list of three numbers",
            argument="weights",
        )
    numbers = {name: value for name, value in values.items() if name != "level"}
    for name, value in numbers.items():
        if not _is_weight(value) or name not in (*SIGNALS, "intercept"):
            raise InvalidInputError(
                f"[{table}] {name} = {value!r} in {where} is no weight of a signal; the signals "
                f"are {', '.join(SIGNALS)}",
                argument="weights",
            )
    signals = {name: float(value) for name, value in numbers.items() if name != "intercept"}
    return Weights(
        intercept=float(numbers["intercept"]),
        signals=MappingProxyType(signals),
        level=tuple(map(float, level)),
    )


def _is_weight(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _GREATEST
    )
