"""The named signals of a candidate, and their weights.

Each signal stands on an absolute scale: an overlap is a share of the best that a statement could
reach for this question, never a rank among the candidates. So a score means the same for every
question and every memory. The modules ``overlap``, ``meaning``, ``concepts`` and ``time`` measure
a family each. ``data/weights.toml`` ships with the package; ``training/ranking`` writes it.
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
from recallm.model import Trait
from recallm.ranking.candidates import Candidates
from recallm.ranking.concepts import concept_signals, has_trait, trait_signals
from recallm.ranking.meaning import embedding_signals, meaning_signals
from recallm.ranking.overlap import overlap_signals
from recallm.ranking.stem_counts import Floats
from recallm.ranking.time import date_signals, newest, recency_signals

__all__ = ["DATA", "SIGNALS", "WeightTables", "Weights", "load_tables", "measure"]

SIGNALS: Mapping[str, str] = MappingProxyType(
    {
        "passage": "rarity-weighted share of the stems near it and just before its passage",
        "session": "BM25 of the whole session that it belongs to",
        "answer": "it follows a question, times that question's own overlap",
        "meaning": "rarity-weighted share of the stems, words that mean alike counting in part",
        "meaning window": "the same of the statement together with the one before it",
        "gist": "cosine of the means of their words' vectors, rare words weighing more",
        "similar": "cosine of its embedding with the question's",
        "similar window": "the same of the mean of it and the one before it",
        "concepts": "rarity-weighted share of the essential concepts that it mentions",
        "named": "share of the names asked for that it or the statement before mentions, by rarity",
        "graph": "activation of its other concepts from the essential ones",
        "time": "a time is asked for, and it holds one",
        "number": "a number is asked for, and it holds one",
        "name": "a name is asked for, and it holds one",
        "entity": "a person, a place or an organisation is asked for, and it names such a one",
        "date": "it was said at, or soon after, a date that the question names",
        "told date": "it tells of a day at such a date",
        "speaker": "it was said by a speaker whom the question names",
        "first person": "and speaks of its speaker",
        "question": "it is a question itself",
        "after question": "the statement before it is a question",
        "length": "logarithm of its content words",
        "recency": "few later ones answer as well, as far as the question asks for the present",
        "newest": "few later ones tell of the same names, and the present is asked for",
        "superseded": "a later one that is like it answers as well, and the present is asked for",
        "succeeds": "it is like an earlier one that answers best, or tied to it by rare stems",
        "earliest": "few earlier ones answer as well, and the question asks for the first",
        "previous": "one later one answers as well, and the question asks for the state before",
        "alone gist": "gist, of a statement that stands alone: nothing is said around it",
        "alone similar": "similar, of such a one",
        "alone named": "named, of such a one",
        "alone recency": "recency, of such a one",
        "alone superseded": "superseded, of such a one",
    }
)
"""What each signal means, in the order of the columns."""


def measure(candidates: Candidates, weights: Mapping[str, float]) -> Floats:
    """The signals of the candidates: a row for each candidate, a column for each of ``SIGNALS``.

    By ``weights``, those of recency know how well newer and older candidates answer.
    """
    statements = candidates.statements
    traits = candidates.traits
    meanings, word_means = meaning_signals(candidates)
    nearness, embeddings = embedding_signals(candidates)
    columns = (
        meanings
        | nearness
        | overlap_signals(candidates)
        | concept_signals(candidates)
        | trait_signals(candidates, traits)
        | date_signals(candidates, traits)
    )
    columns["first person"] = columns["speaker"] * has_trait(traits, Trait.FIRST_PERSON)
    alone = np.array([float(one.previous is None and one.next is None) for one in statements])
    columns |= {f"alone {name}": alone * columns[name] for name in ("gist", "similar", "named")}
    match = sum(weights.get(name, 0.0) * column for name, column in columns.items())
    columns["newest"] = newest(candidates, columns["named"])
    vectors = word_means if embeddings is None else embeddings
    columns |= recency_signals(candidates, np.asarray(match), vectors)
    columns |= {f"alone {name}": alone * columns[name] for name in ("recency", "superseded")}
    return np.column_stack([columns[name] for name in SIGNALS])


# Weights.

DATA = Path(__file__).parent / "data" / "weights.toml"
_GREATEST = 1e6
"""Greater weights would leave no room for sums of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """``intercept``, and one weight for each signal that counts; others count nothing."""

    intercept: float
    signals: Mapping[str, float]


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
            f"the weights in {where} need a table [{table}] with an intercept",
            argument="weights",
        )
    for name, value in values.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not abs(value) <= _GREATEST or name not in (*SIGNALS, "intercept"):
            raise InvalidInputError(
                f"[{table}] {name} = {value!r} in {where} is no weight of a signal; the signals "
                f"are {', '.join(SIGNALS)}",
                argument="weights",
            )
    signals = {name: float(value) for name, value in values.items() if name != "intercept"}
    return Weights(intercept=float(values["intercept"]), signals=MappingProxyType(signals))
