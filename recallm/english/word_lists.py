"""The tables of this package: how they are read, and the lists in ``data/english.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_PLACE_OF_PART = re.compile(r"\{([a-z_]+)\}")


def read_table(path: str) -> dict[str, Any]:
    """A TOML file of this package; comments in the file say what it holds."""
    return tomllib.loads(files("recallm.english").joinpath(path).read_text(encoding="utf-8"))


ENGLISH = read_table("data/english.toml")
"""The lists of words; comments in the file say what each holds."""


def word_set(words: str) -> frozenset[str]:
    """The words of a text that has spaces between them: a compact spelling of tables."""
    return frozenset(words.split())


def filled(pattern: str, parts: Mapping[str, str]) -> str:
    """A pattern with its parts in the place of their names: "in {year}"."""
    return _PLACE_OF_PART.sub(lambda found: filled(parts[found[1]], parts), pattern)
