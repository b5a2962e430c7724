"""The phrasings of the corpus: ``phrasings.toml``, and which split has which."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from training.facts.population import Split

_T = TypeVar("_T")


class Phrasings:
    """The phrasings of one split. Those of the test split stand in no other, where there are
    several."""

    def __init__(self, split: Split, chance: random.Random) -> None:
        self._is_test = split == "test"
        self._chance = chance

    @property
    def relations(self) -> Sequence[str]:
        """The relations, as calls name them."""
        return list(_content()["relations"])

    def question(self, form: str, relation: str | None = None, **names: str) -> str:
        """A question of a form, with the names in it."""
        return str(self._one(_of(relation)[form])).format(**names)

    def statement(
        self, form: str, people: Sequence[str], relation: str | None, **names: str
    ) -> str:
        """A sentence about one or several people, with the names in it."""
        single, several = self._one(_of(relation)[form])
        template: str = single if len(people) == 1 else several
        return template.format(people=_row(people), **names)

    def unknown(self) -> str:
        """The answer where the memory knows none."""
        return str(self._one(_content()["unknown"]))

    def _one(self, phrasings: Sequence[_T]) -> _T:
        if len(phrasings) == 1:
            return phrasings[0]
        return phrasings[-1] if self._is_test else self._chance.choice(phrasings[:-1])


@cache
def _content() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _of(relation: str | None) -> dict[str, Any]:
    content = _content()
    return content if relation is None else content["relations"][relation]


def _row(names: Sequence[str]) -> str:
    """Names as English lists them: "Ann, Bo, and Cy"."""
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"
