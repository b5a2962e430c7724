"""Passages for tests: read by the shipped pipeline, with speakers."""

from __future__ import annotations

from recallm.english.coreference.passage import TextRead
from recallm.english.coreference.resolving import FoundReference, resolve
from recallm.english.words import stem
from recallm.model import ConceptMention
from training.coreference.reading import read_texts

Turn = str | tuple[str, str]
"""A passage, or a speaker with what is said."""


def read_turns(*turns: Turn) -> list[TextRead]:
    """The passages of a session as coreference sees them."""
    read = read_texts([turn if isinstance(turn, str) else turn[1] for turn in turns])
    for text, turn in zip(read, turns, strict=True):
        if not isinstance(turn, str):
            text.speaker = ConceptMention(name=stem(turn[0]), label=turn[0], kind="name")
    return read


def antecedents(*turns: Turn) -> list[tuple[str, str]]:
    """The anaphors of the last turn with the labels of their antecedents."""
    *earlier, text = read_turns(*turns)
    source = turns[-1] if isinstance(turns[-1], str) else turns[-1][1]
    return [
        (source[link.start : link.end], link.concepts[0].label) for link in resolve(text, earlier)
    ]


def resolved(*turns: Turn) -> list[FoundReference]:
    """What is resolved in the last turn."""
    *earlier, text = read_turns(*turns)
    return resolve(text, earlier)
