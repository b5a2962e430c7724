"""The weights of the default ranking: one table for memories without vectors, one for those with.

Log-odds that a statement helps to answer, for signals as ``recallm.retrieval.signals`` measures
them. ``data/weights.toml`` ships with the package; ``training/ranking`` fits and writes it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recallm.errors import InvalidInputError
from recallm.retrieval.signals import SIGNALS

__all__ = ["DATA", "WeightTables", "Weights", "load_tables"]

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
        read = tomllib.loads(where.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"the weights in {where} cannot be read: {error}", argument="weights"
        ) from error
    return WeightTables(
        words=_checked(read, "words", where), vectors=_checked(read, "vectors", where)
    )


def _checked(read: Mapping[str, Any], table: str, where: Path) -> Weights:
    values = read.get(table)
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
