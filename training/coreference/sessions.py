"""Short sessions with what their anaphors stand for: written by hand, or filled templates.

A session is a list of turns, "SPEAKER: text" or a text alone. ``[She=Ingrid]`` is an anaphor whose
antecedent is the name behind "="; ``[She=]`` has none that is named.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from recallm.english.coreference.passage import TextRead
from recallm.english.words import stem
from recallm.model import ConceptMention
from training.coreference.name_genders import common_names
from training.coreference.reading import read_texts

_ANNOTATED = re.compile(r"\[([^\[\]=]+)=([^\[\]]*)\]")
_SPEAKER = re.compile(r"(\w+): ")
_PLACEHOLDER = re.compile(r"\b([FMSOC])([12])\b")
_TEMPLATES = Path(__file__).with_name("sessions.toml")

Span = tuple[int, int]
"""The first character of an anaphor and the one behind its last."""


class Turn(NamedTuple):
    """A turn as read, and its anaphors with the names of their antecedents ("" for none)."""

    read: TextRead
    antecedents: Mapping[Span, str]


def read_sessions(sessions: Sequence[Sequence[str]]) -> list[list[Turn]]:
    """Annotated sessions as coreference reads them."""
    parsed = [[_parsed(turn) for turn in session] for session in sessions]
    reads = iter(read_texts([text for session in parsed for _, text, _ in session]))
    found: list[list[Turn]] = []
    for session in parsed:
        turns: list[Turn] = []
        for speaker, _, antecedents in session:
            read = next(reads)
            if speaker:
                read.speaker = ConceptMention(name=stem(speaker), label=speaker, kind="name")
            turns.append(Turn(read, antecedents))
        found.append(turns)
    return found


def is_meant(label: str, name: str) -> bool:
    """Whether a label is a name, or a part of the name."""
    return not set(label.split()).isdisjoint(name.split())


def filled_templates(copies: int, *, seed: int) -> list[list[str]]:
    """Sessions out of the templates in ``sessions.toml``, with names by chance: all templates in
    order, ``copies`` times."""
    chance = random.Random(seed)
    content = tomllib.loads(_TEMPLATES.read_text(encoding="utf-8"))
    women, men = common_names()
    lists: dict[str, Sequence[str]] = {
        "F": women,
        "M": men,
        "S": [*women, *men],
        "O": content["organisations"].split(),
        "C": content["cities"].split(),
    }
    templates: list[list[str]] = content["templates"]
    sessions: list[list[str]] = []
    for template in templates * copies:
        drawn = {kind: chance.sample(list(names), 2) for kind, names in lists.items()}
        sessions.append(
            [
                _PLACEHOLDER.sub(lambda place: drawn[place[1]][int(place[2]) - 1], turn)  # noqa: B023
                for turn in template
            ]
        )
    return sessions


def _parsed(turn: str) -> tuple[str, str, dict[Span, str]]:
    """The speaker ("" if none), the plain text and the anaphors of an annotated turn."""
    spoken = _SPEAKER.match(turn)
    annotated = turn[spoken.end() :] if spoken else turn
    antecedents: dict[Span, str] = {}
    plain, end = "", 0
    for match in _ANNOTATED.finditer(annotated):
        plain += annotated[end : match.start()]
        span = (len(plain), len(plain) + len(match[1]))
        antecedents[span] = match[2]
        plain += match[1]
        end = match.end()
    return spoken[1] if spoken else "", plain + annotated[end:], antecedents
