"""Blocks: the parts of a text that no sentence may span, found before spaCy sees it.

* A list item, a heading, a quoted line (">") is a block; its marker belongs to no block.
* A blank line or a rule ("---") ends a block.
* Any other line is a block, unless it carries on the line before. It does where that line is
  at least 40 characters long and ends no sentence, and either this one begins in lower case or
  the whole paragraph is hard-wrapped: no line would have had room for the next one's first word.
  An indented line after a list item carries the item on.
* A block ends after a full stop of a script without spaces, and at 3,000 characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Span", "blocks", "readable"]

Span = tuple[int, int]

_LONGEST_BLOCK = 3_000
_SHORTEST_WRAPPED_LINE = 40

_MARKER = re.compile(
    r"""\s*(?:
        (?:[-*+–—·]|(?:>\s*)+|\#{1,6}|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})\)|\d{1,3}\.)
        (?:\s+\[[ xX]\])?\s+
      | [•‣◦▪▸►●○]\s*
    )(?=\S)""",
    re.VERBOSE,
)
_RULE = re.compile(r"[\s\-=_*~#`•>]+")
_ENDS_SENTENCE = re.compile(r"""[.!?…。！？]["'”’»)\]]*$""")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|Mrs?|Ms|Dr|Prof|St|Mt|Lt|Col|Gen|Sgt|Capt|Rev|Hon|Gov|Sen|Rep|vs|cf|"
    r"e\.g|i\.e|approx|No|Vol|pp?|Fig|Eq|Ave|Blvd)\.$"
)
_WIDE_STOP = re.compile("[。！？]+[」』”’）]*")
_SENTENCE_END = re.compile(r"[.!?…][\"')\]”’]*\s")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>|<!--.{0,500}?-->", re.DOTALL)
_SYMBOLS = re.compile(r"([^\w\s]{3})[^\w\s]{5,}")
_LONG_RUN = re.compile(r"\S{101,}")
_NOT_LETTERS = re.compile(r"[\W_]")
_INVISIBLE = "[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+"
_INVISIBLE_BESIDE_WORDS = re.compile(rf"(?<!\w){_INVISIBLE}|{_INVISIBLE}(?!\w)")
_TO_PLAIN = str.maketrans(
    {
        **dict.fromkeys(map(chr, (*range(0x20), *range(0x7F, 0xA0))), " "),
        **dict.fromkeys("\u2028\u2029\u00a0\u202f\u3000", " "),
        **dict(zip("，、；：。！？（）", ",,;:.!?()", strict=True)),
    }
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line without its marker and the white space around it."""

    start: int
    end: int
    indent: int
    is_item: bool


def blocks(text: str) -> list[Span]:
    """The blocks of a text, in order, none of them empty.

    What lies outside of them is white space and the markers of lines. A text that is nothing but
    markers ("---") is one block.
    """
    found: list[Span] = []
    paragraph: list[_Line] = []
    offset = 0
    for raw in text.splitlines(keepends=True):
        line = _line(raw, offset)
        offset += len(raw)
        if line is None:
            found.extend(_joined(text, paragraph))
            paragraph = []
        else:
            paragraph.append(line)
    found.extend(_joined(text, paragraph))
    if not found and (stripped := text.strip()):
        start = text.index(stripped)
        found = [(start, start + len(stripped))]
    return [piece for start, end in found for piece in _pieces(text, start, end)]


def readable(text: str) -> str:
    """The text as the pipeline should see it; every character stays in its place.

    Line breaks and HTML tags are blanked, wide punctuation is made plain. So that tokenizing is
    done in bounded time, a row of eight symbols or more is cut to three, and what is longer than
    100 characters without white space is parted at its symbols.
    """
    if "<" in text:
        text = _TAG.sub(_blank, text)
    if not (text.isascii() and text.isprintable()):
        text = _INVISIBLE_BESIDE_WORDS.sub(_blank, text.translate(_TO_PLAIN))
    text = _SYMBOLS.sub(_first_three, text)
    return _LONG_RUN.sub(lambda run: _NOT_LETTERS.sub(" ", run[0]), text)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _first_three(match: re.Match[str]) -> str:
    return match[1].ljust(len(match[0]))


def _line(raw: str, offset: int) -> _Line | None:
    """The line at ``offset``; None if it is blank or a rule."""
    if _RULE.fullmatch(raw):
        return None
    marker = _MARKER.match(raw)
    start = marker.end() if marker else len(raw) - len(raw.lstrip())
    end = len(raw.rstrip())
    return _Line(offset + start, offset + end, start, marker is not None)


def _joined(text: str, paragraph: Sequence[_Line]) -> Iterator[Span]:
    """The blocks of a run of lines."""
    if not paragraph:
        return
    wrapped = _is_wrapped(text, paragraph)
    first = before = paragraph[0]
    for line in paragraph[1:]:
        if not _carries_on(text, first, before, line, wrapped):
            yield first.start, before.end
            first = line
        before = line
    yield first.start, before.end


def _carries_on(text: str, first: _Line, before: _Line, line: _Line, wrapped: bool) -> bool:
    if line.is_item:
        return False
    end = text[max(before.start, before.end - 20) : before.end]
    if _ENDS_SENTENCE.search(end) and not _ABBREVIATION.search(end):
        return False
    if first.is_item and line.indent >= 2:
        return True
    if before.end - before.start < _SHORTEST_WRAPPED_LINE:
        return False
    return wrapped or text[line.start].islower()


def _is_wrapped(text: str, paragraph: Sequence[_Line]) -> bool:
    """Whether three lines or more were broken where the next word had no room."""
    if len(paragraph) < 3:
        return False
    width = max(line.end - line.start for line in paragraph)
    for before, line in pairwise(paragraph):
        word = text[line.start : line.end].split(maxsplit=1)[0]
        if before.end - before.start + 1 + len(word) <= width:
            return False
    return True


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    """Cut a block after wide full stops and where it is too long; pieces are stripped."""
    cuts: list[int] = []
    if not text.isascii():
        cuts = [stop.end() for stop in _WIDE_STOP.finditer(text, start, end)]
    for cut in [*cuts, end]:
        while cut - start > _LONGEST_BLOCK:
            middle = _cut_of_long(text, start)
            yield from _stripped(text, start, middle)
            start = middle
        yield from _stripped(text, start, cut)
        start = cut


def _cut_of_long(text: str, start: int) -> int:
    """Where to cut a piece that is too long: after its last sentence end in reach, else at its
    last white space, else anywhere."""
    limit = start + _LONGEST_BLOCK
    window = text[start:limit]
    ends = [match.end() for match in _SENTENCE_END.finditer(window)]
    if ends:
        return start + ends[-1]
    words = window.rsplit(maxsplit=1)
    return start + window.rindex(words[-1]) if len(words) == 2 else limit


def _stripped(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        start += len(piece) - len(piece.lstrip())
        yield start, start + len(stripped)
