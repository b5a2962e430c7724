"""Where a sentence begins and ends. Each sentence of a passage is a statement.

**Blocks** are the parts of a text that no sentence may span. They are found before spaCy sees it:

* A list item, a heading and a quoted line (">") are blocks; the marker belongs to no block.
* A blank line or a rule ("---") ends a block.
* Any other line is a block unless it continues the line before. It does so if that line has at
  least 40 characters and ends no sentence, and either this line begins in lower case or the whole
  paragraph is hard-wrapped: no line had room for the first word of the next one. An indented line
  behind a list item continues the item.
* A block ends after a full stop of a script without spaces, and at 3,000 characters.

**Sentences** are found in the tagged text of a block. The pipeline proposes where one begins; by
rule it begins only where the one before has ended:

* with a mark that ends sentences, and behind it nothing but closing quotes and brackets; or with a
  symbol such as an emoji; or with a bare word, if the next word does not begin in lower case;
* not after an abbreviation or an initial ("Dr. Who", "J. Doe"), nor in lower case after a quote
  ('"Stop!" she said');
* not inside quoted speech or brackets of up to 300 characters, unless the whole block is quoted;
* and only if it holds a letter or a digit: "!!!", ":)" and "👍" belong to the sentence before.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from recallm.english.pipeline import TaggedText

Span = tuple[int, int]
"""A range: its first place and the one behind its last."""

_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘])(?:[A-Z]|Mrs?|Ms|Mx|Drs?|Profs?|St|Mt|Ft|Lt|Col|Gen|Sgt|Capt|Rev|Hon|Gov|Sen|"
    r"Rep|Pres|Supt|vs|cf|e\.g|i\.e|approx|No|Nos|Vol|pp?|Fig|Eq|Ave|Blvd|ca|esp|incl)\.$"
)

# Blocks.

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
    """The span of a line without its marker and surrounding white space."""

    start: int
    end: int
    indent: int
    is_item: bool


def blocks(text: str) -> list[Span]:
    """The blocks of a text, in order, none of them empty.

    Only white space and the markers of lines lie outside them. A text of nothing but markers
    ("---") is one block.
    """
    found: list[Span] = []
    paragraph: list[_Line] = []
    offset = 0
    for raw in text.splitlines(keepends=True):
        line = _line(raw, offset)
        offset += len(raw)
        if line is None:
            found.extend(_blocks_of(text, paragraph))
            paragraph = []
        else:
            paragraph.append(line)
    found.extend(_blocks_of(text, paragraph))
    if not found and (stripped := text.strip()):
        start = text.index(stripped)
        found = [(start, start + len(stripped))]
    return [piece for start, end in found for piece in _pieces(text, start, end)]


def cleaned(text: str) -> str:
    """The text as the pipeline should see it; every character keeps its place.

    Line breaks and HTML tags become spaces, wide punctuation becomes ASCII. To bound the time of
    tokenizing, a row of eight symbols or more is cut to three, and a run of more than 100
    characters without white space is split at its symbols.
    """
    if "<" in text:
        text = _TAG.sub(_blank, text)
    if not (text.isascii() and text.isprintable()):
        text = _INVISIBLE_BESIDE_WORDS.sub(_blank, text.translate(_TO_PLAIN))
    text = _SYMBOLS.sub(lambda run: run[1].ljust(len(run[0])), text)
    return _LONG_RUN.sub(lambda run: _NOT_LETTERS.sub(" ", run[0]), text)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _line(raw: str, offset: int) -> _Line | None:
    """The line at ``offset``; None if it is blank or a rule."""
    if _RULE.fullmatch(raw):
        return None
    marker = _MARKER.match(raw)
    start = marker.end() if marker else len(raw) - len(raw.lstrip())
    end = len(raw.rstrip())
    return _Line(offset + start, offset + end, start, marker is not None)


def _blocks_of(text: str, paragraph: Sequence[_Line]) -> Iterator[Span]:
    """The blocks of a run of lines."""
    if not paragraph:
        return
    wrapped = _is_wrapped(text, paragraph)
    first = before = paragraph[0]
    for line in paragraph[1:]:
        if not _continues(text, first, before, line, wrapped):
            yield first.start, before.end
            first = line
        before = line
    yield first.start, before.end


def _continues(text: str, first: _Line, before: _Line, line: _Line, wrapped: bool) -> bool:
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
    """A block cut after wide full stops and where it is too long, each piece stripped."""
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
    """Where to cut a piece that is too long: after its last sentence end within the limit, else at
    the last white space, else at the limit."""
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


# Sentences.

_END_MARKS = frozenset(".!?…‼⁉⁈")
_CLOSERS = "\"'”’»)]}*_"
_QUOTES = frozenset("\"'”’»")
_EMOTICON = re.compile(r"[:;=8xX]['’-]?[)(\]\[DPpOo3*/|\\]+$|<3+$")
_QUOTED_OR_BRACKETED = re.compile(
    r'(?<!\w)"(?=\S)[^"]{1,300}(?<=\S)"(?!\w)|“[^“”]{1,300}”|«[^«»]{1,300}»|„[^„“”]{1,300}[“”]'
    r"|(?<![:;=8xX'’-])\((?=\S)[^()]{1,300}\)"
)


def sentences(tagged: TaggedText) -> list[Span]:
    """The sentences of a block as ranges of tokens, in order; they cover all tokens."""
    count = len(tagged.words)
    if not count:
        return []
    proposed = [i for i in range(1, count) if tagged.begins[i]]
    if not proposed:
        return [(0, count)]
    whole = (0, len(tagged.text.rstrip()))
    quoted = [match.span() for match in _QUOTED_OR_BRACKETED.finditer(tagged.text)]
    uncut = [span for span in quoted if span != whole]
    cuts = [0]
    checked = 0
    holds_word = False
    for i in proposed:
        holds_word = holds_word or _holds_word(tagged, checked, i)
        checked = i
        if holds_word and _may_begin(tagged.text, tagged.starts[i], uncut):
            cuts.append(i)
            holds_word = False
    if len(cuts) > 1 and not (holds_word or _holds_word(tagged, checked, count)):
        cuts.pop()
    return list(zip(cuts, [*cuts[1:], count], strict=True))


def _holds_word(tagged: TaggedText, start: int, end: int) -> bool:
    return any(c.isalnum() for word in tagged.words[start:end] for c in word.text)


def _may_begin(text: str, start: int, uncut: Sequence[Span]) -> bool:
    around = bisect_left(uncut, (start, 0)) - 1  # the last that begins before
    if around >= 0 and start < uncut[around][1]:
        return False
    before = text[max(0, start - 40) : start].rstrip()
    if _EMOTICON.search(before):
        return True
    core = before.rstrip(_CLOSERS)
    if not core:
        return False
    last = core[-1]
    if last.isalnum() or last == ">":
        return not text[start].islower() and text[start] not in "(["
    if last not in _END_MARKS:
        # A symbol such as an emoji, no common punctuation.
        return core == before and ord(last) >= 0x2190 and not last.isalnum()
    if text[start].islower() and before[-1] in _QUOTES:
        return False
    return not _ABBREVIATION.search(core)
