"""Documents of GUM with their coreference: CoNLL-U, whose column MISC holds ``Entity=``.

A mention opens with ``(ID-type-...`` at its first word and closes with ``ID)`` at its last.
Mentions of the same ID in a document mean the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from training.pipeline.treebank import blocks

_BRACKET = re.compile(r"\(([^()]+?)\)|\(([^()]+)|([^()]+)\)")
_MINIMAL_SPAN = 5
"""The part of an opening bracket that names the mention's head words, counted from 1."""


class Mention(NamedTuple):
    """A mention: its referent, its characters in the passage, and those of its head."""

    referent: str
    start: int
    end: int
    head_start: int
    head_end: int


@dataclass(slots=True)
class Passage:
    """A paragraph, or what one speaker says without a break."""

    text: str = ""
    speaker: str = ""
    mentions: list[Mention] = field(default_factory=list)
    sentence_starts: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Document:
    """A document's passages in order."""

    name: str
    passages: list[Passage]


def read_documents(folder: Path) -> list[Document]:
    """The documents of a folder, sorted by name.

    Raises:
        FileNotFoundError: the folder holds no CoNLL-U file.
    """
    paths = sorted(folder.glob("*.conllu"))
    if not paths:
        raise FileNotFoundError(f"no *.conllu in {folder}")
    return [Document(path.stem, list(_passages(path))) for path in paths]


class _Open(NamedTuple):
    word: int
    minimal: str


def _passages(path: Path) -> Iterator[Passage]:
    passage = Passage()
    for comments, rows in blocks(path.read_text(encoding="utf-8").splitlines()):
        told = {key.strip(): value for key, _, value in (line.partition("=") for line in comments)}
        speaker = told.get("speaker", "").strip()
        if passage.text and ("newpar" in told or speaker != passage.speaker):
            yield passage
            passage = Passage()
        passage.speaker = speaker
        _add_sentence(passage, rows)
    if passage.text:
        yield passage


def _add_sentence(passage: Passage, rows: Iterable[list[str]]) -> None:
    """Add a sentence's text and mentions to a passage. No mention crosses a sentence."""
    if passage.text:
        passage.text += " "
    passage.sentence_starts.append(len(passage.text))
    opened: defaultdict[str, list[_Open]] = defaultdict(list)
    spans: list[tuple[int, int]] = []
    within = 0  # words of a multiword token that are still to come
    for row in rows:
        numbers, form, misc = row[0], row[1], row[9]
        if "." in numbers:
            continue
        no_space = "SpaceAfter=No" in misc
        if "-" in numbers:
            first, last = map(int, numbers.split("-"))
            within, joined_end_has_space = last - first + 1, not no_space
            continue
        start = len(passage.text)
        passage.text += form
        spans.append((start, len(passage.text)))
        if within:
            within -= 1
            has_space = not within and joined_end_has_space
        else:
            has_space = not no_space
        annotated = re.search(r"Entity=([^|]*)", misc)
        for single, opening, closing in _BRACKET.findall(annotated[1] if annotated else ""):
            if single or opening:
                parts = (single or opening).split("-")
                minimal = parts[_MINIMAL_SPAN] if len(parts) > _MINIMAL_SPAN else "1"
                opened[parts[0]].append(_Open(len(spans) - 1, minimal))
            if (single or closing) and opened[(key := (single or closing).split("-")[0])]:
                passage.mentions.append(_mention(key, opened[key].pop(), spans))
        passage.text += " " if has_space else ""
    passage.text = passage.text.rstrip()


def _mention(referent: str, opened: _Open, spans: list[tuple[int, int]]) -> Mention:
    numbers = [int(number) for number in re.findall(r"\d+", opened.minimal)] or [1]
    words = spans[opened.word :]
    head_start = words[min(numbers[0], len(words)) - 1][0]
    head_end = words[min(numbers[-1], len(words)) - 1][1]
    return Mention(referent, words[0][0], words[-1][1], head_start, head_end)
