"""Statements: where the sentences of a block begin.

The pipeline proposes; by rule a sentence begins only where the one before has ended:

* with a mark that ends sentences, behind it nothing but closing quotes and brackets, or with a
  symbol such as an emoji; with a bare word only where the next does not begin in lower case;
* not after an abbreviation or an initial ("Dr. Who", "J. Doe"), nor in lower case after a quote
  ('"Stop!" she said');
* not inside of quoted speech or brackets (up to 300 characters), unless the whole block is
  quoted;
* and it holds a letter or a digit: "!!!", ":)" and "👍" belong to the sentence before them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from recallm.extraction.blocks import Span
from recallm.extraction.pipeline import TaggedText

__all__ = ["sentences"]

_ENDS = frozenset(".!?…‼⁉⁈")
_CLOSERS = "\"'”’»)]}*_"
_QUOTES = frozenset("\"'”’»")
_EMOTICON = re.compile(r"[:;=8xX]['’-]?[)(\]\[DPpOo3*/|\\]+$|<3+$")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘])(?:[A-Z]|Mrs?|Ms|Mx|Drs?|Profs?|St|Mt|Ft|Lt|Col|Gen|Sgt|Capt|Rev|Hon|Gov|Sen|"
    r"Rep|Pres|Supt|vs|cf|e\.g|i\.e|approx|No|Nos|Vol|pp?|Fig|Eq|ca|esp|incl)\.$"
)
_TOGETHER = re.compile(
    r'(?<!\w)"(?=\S)[^"]{1,300}(?<=\S)"(?!\w)|“[^“”]{1,300}”|«[^«»]{1,300}»|„[^„“”]{1,300}[“”]'
    r"|(?<![:;=8xX'’-])\((?=\S)[^()]{1,300}\)"
)


def sentences(tagged: TaggedText) -> list[Span]:
    """The sentences of a block as ranges of tokens, in order; together they are all tokens."""
    count = len(tagged.words)
    if not count:
        return []
    proposed = [i for i in range(1, count) if tagged.begins[i]]
    if not proposed:
        return [(0, count)]
    together = _together(tagged.text)
    cuts = [0]
    looked = 0
    holds_word = False
    for i in proposed:
        holds_word = holds_word or _holds_word(tagged, looked, i)
        looked = i
        if holds_word and _may_begin(tagged.text, tagged.starts[i], together):
            cuts.append(i)
            holds_word = False
    if len(cuts) > 1 and not (holds_word or _holds_word(tagged, looked, count)):
        cuts.pop()
    return list(zip(cuts, [*cuts[1:], count], strict=True))


def _holds_word(tagged: TaggedText, start: int, end: int) -> bool:
    return any(c.isalnum() for word in tagged.words[start:end] for c in word.text)


def _together(text: str) -> list[Span]:
    """The quotations and brackets that are not cut, in order and disjoint."""
    spans = [match.span() for match in _TOGETHER.finditer(text)]
    whole = (0, len(text.rstrip()))
    return [span for span in spans if span != whole]


def _may_begin(text: str, start: int, together: Sequence[Span]) -> bool:
    around = bisect_left(together, (start, 0)) - 1  # the last that begins before
    if around >= 0 and start < together[around][1]:
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
    if last not in _ENDS:
        return core == before and _is_symbol(last)
    if text[start].islower() and before[-1] in _QUOTES:
        return False
    return not _ABBREVIATION.search(core)


def _is_symbol(character: str) -> bool:
    """Whether a character is neither of a word nor common punctuation: an emoji, for one."""
    return ord(character) >= 0x2190 and not character.isalnum()
