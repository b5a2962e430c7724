"""The phrasings of the corpus: ``phrasings.toml``, and which split has which."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from training.facts.population import Split

__all__ = ["Phrasings", "read_phrasings"]

_FILE = Path(__file__).with_suffix(".toml")

_T = TypeVar("_T")


class Phrasings:
    """The phrasings of one language for one split. Those of the test split stand in no other,
    where there are several."""

    def __init__(self, content: Mapping[str, Any], split: Split, chance: random.Random) -> None:
        self._content = content
        self._is_test = split == "test"
        self._chance = chance

    @property
    def relations(self) -> Sequence[str]:
        """The relations, as calls name them."""
        return list(self._content["relations"])

    def question(self, form: str, relation: str | None = None, **names: str) -> str:
        """A question of a form, with the names in it."""
        content = self._content if relation is None else self._content["relations"][relation]
        return str(self._one(content[form])).format(**names)

    def statement(
        self, form: str, people: Sequence[str], relation: str | None, **names: str
    ) -> str:
        """A sentence about one or several people, with the names in it."""
        content = self._content if relation is None else self._content["relations"][relation]
        single, several = self._one(content[form])
        template: str = single if len(people) == 1 else several
        return template.format(people=self.row(people), **names)

    def unknown(self) -> str:
        """The answer where the memory knows none."""
        return str(self._one(self._content["unknown"]))

    def row(self, names: Sequence[str]) -> str:
        """Names as the language lists them: "Ann, Bo, and Cy"."""
        if len(names) < 3:
            return str(self._content["two"]).join(names)
        return f"{', '.join(names[:-1])}{self._content['last']}{names[-1]}"

    def _one(self, phrasings: Sequence[_T]) -> _T:
        if len(phrasings) == 1:
            return phrasings[0]
        return phrasings[-1] if self._is_test else self._chance.choice(phrasings[:-1])


def read_phrasings() -> Mapping[str, Mapping[str, Any]]:
    """The content of the file: language → its phrasings."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))
