"""What the package knows of English relations and names."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

from recallm.predicates.holding import Side

__all__ = [
    "ShippedWords",
    "phrasings_in_sentences",
    "shipped_events",
    "shipped_relations",
    "shipped_words",
]

_DATA = Path(__file__).parent / "data" / "english.toml"
_EVENTS = Path(__file__).parent / "data" / "events.toml"


class ShippedWords(NamedTuple):
    """Words that tell nothing apart: in predicates (``function``), behind the names of companies,
    before names (``titles``), and within them (``glue``). All with their stems."""

    function: frozenset[str]
    company_forms: frozenset[str]
    titles: frozenset[str]
    glue: frozenset[str]


@cache
def shipped_relations() -> list[tuple[tuple[str, ...], Side | None]]:
    """Each relation's phrasings, and the end of which it has one (None: of neither)."""
    tables: list[dict[str, Any]] = _data()["relations"]
    for table in tables:
        if table.get("single") not in (None, *get_args(Side)):
            raise ValueError(f"{_DATA}: single = {table['single']!r}")
    return [(tuple(table["phrasings"]), table.get("single")) for table in tables]


@cache
def phrasings_in_sentences() -> list[tuple[str, ...]]:
    """The phrasings of each relation that is also read in sentences."""
    tables: list[dict[str, Any]] = _data()["relations"]
    return [tuple(table["phrasings"]) for table in tables if table.get("in_sentences")]


@cache
def shipped_events() -> list[tuple[str, tuple[str, ...]]]:
    """Relations, each with the events that end it."""
    tables: list[dict[str, Any]] = tomllib.loads(_EVENTS.read_text(encoding="utf-8"))["events"]
    return [(table["ends"], tuple(table["phrasings"])) for table in tables]


@cache
def shipped_words() -> ShippedWords:
    """The words that tell nothing apart."""
    words: dict[str, str] = _data()["words"]
    return ShippedWords(**{kind: frozenset(listed.split()) for kind, listed in words.items()})


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(_DATA.read_text(encoding="utf-8"))
