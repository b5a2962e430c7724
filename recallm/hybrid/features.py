"""Features of an answer beside its question, whoever gave it.

They come from plain words and rules: from no phrases of one model, and from no parsing, so that an
answer costs a fraction of a millisecond. The **new stems** of an answer are what it says: stems of
content words that are neither the question's nor words about knowing and hedging. Names count if
the question does not hold them already.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from recallm.english.word_lists import word_set
from recallm.english.words import Word, stem, word_of
from recallm.model import Mark

Floats = NDArray[np.float64]

_EARLY = 60
"""Characters. A refusal that begins later follows some sort of answer."""

_MAX_WORD_LENGTH = 60

_WORDS = {
    name: word_set(words)
    for name, words in tomllib.loads(
        files("recallm.hybrid").joinpath("data", "english.toml").read_text(encoding="utf-8")
    ).items()
}
"""The lists of words; comments in the file say what each holds."""

_STRAIGHT_QUOTES = str.maketrans("’‘‛´`“”„", "'''''\"\"\"")
_TOKEN = re.compile(r"(?<!\w)\w+n't\b|'(?:s|re|ve|ll|d|m)\b|[^\W_]+(?:[.,-][^\W_]+)*")


def plain_answer(text: str) -> str:
    """The beginning of an answer with straight quotation marks, and without white space and marks
    of emphasis around it."""
    plain = unicodedata.normalize("NFKC", text[:MAX_LENGTH].translate(_STRAIGHT_QUOTES))
    return plain[:MAX_LENGTH].replace("**", "").strip()


def _words(text: str) -> tuple[Word, ...]:
    return tuple(word_of(token) for token in _TOKEN.findall(text) if len(token) <= _MAX_WORD_LENGTH)


def _content_stems(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(
        word.stem
        for word in words
        if word.is_word
        and not word.is_stop_word
        and word.lowered not in _WORDS["fillers"]
        and not word.marks & (Mark.PRONOUN | Mark.ASKS | Mark.AUXILIARY)
    )


@lru_cache(maxsize=1)
def _stems_without_content() -> frozenset[str]:
    """Stems of words about knowing, hedging and the like: they are never new stems."""
    kinds = ("sources", "knowing", "hedges", "generic", "vague", "self", "negations")
    return frozenset(stem(word) for kind in kinds for word in _WORDS[kind])


def question_stems(text: str) -> set[str]:
    """The stems of the content words of a question."""
    return set(_content_stems(_words(plain_answer(text))))


class AnswerFeatures:
    """An answer beside the stems of its question, analysed for the rules of the features.

    ``values``: of ``FEATURES``, of shape (len(FEATURES),); ``new_stems``: what the answer says;
    ``refuses``: whether it says that it does not know.
    """

    def __init__(self, text: str, question: set[str]) -> None:
        self.text = plain_answer(text)
        words = _words(self.text)
        self.size = len(words)
        self.lowered = [word.lowered for word in words]
        self.stems = _content_stems(words)
        self.new_stems = set(self.stems) - question - _stems_without_content()
        self.refusal = refusal_start(" ".join(self.text.lower().split()))
        self.refuses = self.refusal is not None
        self.names = sum(
            word.is_capitalised
            and word.stem in self.new_stems
            and (place > 0 or not word.marks & Mark.PRONOUN)
            for place, word in enumerate(words)
        )
        self.values: Floats = np.array([float(rule(self, question)) for rule in _RULES.values()])


def _log(number: int) -> float:
    return float(np.log1p(number))


_RULES: Mapping[str, Callable[[AnswerFeatures, set[str]], float]] = {
    "refuses at once": lambda a, _: a.refusal is not None and a.refusal < _EARLY,
    "tells more beside a refusal": lambda a, _: a.refuses * _log(len(a.new_stems)),
    "length": lambda a, _: _log(a.size),
    "parts": lambda a, _: min(a.text.count(",") + a.lowered.count("and"), 4) / 4,
    "joins": lambda a, _: min(a.lowered.count("and") + a.lowered.count("or"), 3) / 3,
    "begins with the question": lambda a, q: len(q & set(a.stems[:3])) / 3,
    "tells": lambda a, _: _log(len(a.new_stems)),
    "tells nothing": lambda a, _: not a.new_stems and not a.refuses,
    "names": lambda a, _: _log(a.names),
}
"""The features of an answer ``a`` to a question with the stems ``q``, by name. "Tells" speaks of
new stems."""

FEATURES = tuple(_RULES)
"""The names of the features, in the order of the weights."""


# Refusals.


MAX_LENGTH = 2000
"""Characters of a text that are read: its beginning shows what kind of answer it is."""

_GAP = r"(?:[^\w']+[\w']+){0,4}?[^\w']+"
"""At most four words between two that belong together. No character can both end one part and begin
the next, so that a text matches in one way only: else the time would grow with the square of its
length, or worse."""

_LONE_APOSTROPHE = re.compile(r"'(?!\w)|(?<!\w)'")
_CONTEXT_NAMES = (
    "statements?|context|passages?|texts?|documents?|sources?|content|excerpts?|conversations?"
    "|memory|memories|records?|notes|snippets?|articles?|summary|transcript|messages|plot"
)
_TELLING = (
    "know|tell|say|find|answer|recall|remember|determine|identify|locate|confirm|help|assist"
    "|provide|see|have (?:any|enough|the|access|information|that|a record)|be (?:sure|certain"
    "|determined|answered|inferred|identified|found|known)|speculate|infer|verify"
)
_UNKNOWN = "unclear|unknown|unspecified|uncertain|undisclosed|unstated|unmentioned|undetermined"

_NEGATED_INFORMATION = (
    r"\b(?:not|\w*n't|never|no|cannot|nothing|none|nowhere|without|nor|neither)\b"
    rf"{_GAP}(?:inform|mention|specif(?:y|ie|ic)|provid|stated?\b|stating\b|detail|determin|indicat"
    r"|describ|explain|explicit|reveal|given\b|disclos|evident|enough\b|sufficient|clear\b|clearly"
    r"|access\b|context|identif|refer(?:s|red|ence)|includ|contain|discuss|evidence|elaborat"
    r"|address|confirm|known\b|knowledge|record(?:s|ed)?\b|memor(?:y|ies)\b|data\b|touch|available"
    r"|cover(?:s|ed)?\b|present in|found in|listed|relevant|ascertain|infer|deduce"
    r"|answer(?:ed|able)?\b (?:is|was|to|in|for))"
)
_UNKNOWN_BY_ITSELF = (
    r"(?:^|\b(?:is|are|was|were|be|been|remains?|left|seems|appears|it's|that's)(?: \w+)? )"
    rf"(?:{_UNKNOWN})\b|\b(?:{_UNKNOWN})\W*$|\bunanswerable\b|\bn/a\b"
    r"|^not (?:sure|found|stated|given|certain)\b"
    r"|^(?:unsure|no (?:answer|idea|clue|data|info|result|match))"
)
_LACK_OF_INFORMATION = (
    r"\b(?:lack(?:s|ing)?|missing|insufficient|incomplete|fails? to|silent on|beyond|outside)\b"
    rf"{_GAP}(?:inform|context|detail|data\b|mention|specif|provid|identif|describ|scope"
    r"|knowledge|say\b|state\b|this\b|what\b)"
)
_INABILITY = (
    r"\b(?:i|we|one|it)\b[^.?!]{0,24}?(?:\bnot|n't|\bcannot|\bunable to|\bimpossible to|\bhard to"
    rf"|\bdifficult to|\bno way to)(?: \w+)?? (?:{_TELLING})\b"
    r"|\b(?:cannot|can't|unable to|impossible to|hard to|difficult to|couldn't|could not) (?:be )?"
    r"(?:determine|answer|identif|say|tell|locate|confirm|infer|ascertain|conclude|deduce)"
    r"|\bi(?:'m| am|'ve| have)? not (?:\w+ )?(?:sure|certain|aware|able)\b"
    rf"|(?:\bnot|n't) able to (?:{_TELLING})\b|\bi have no\b|\byou (?:have not|haven't"
    r"|have never|never)\b"
    r"|\bwe (?:are|were|aren't|weren't)(?: not| never)? told\b"
    r"|\bnothing (?:is|was|has been) (?:said|told)\b"
)
_SILENT_CONTEXT = (
    rf"(?:^it|\b(?:{_CONTEXT_NAMES}))\b[^.?!]{{0,24}}?(?:(?:\bnot|n't|\bnever)(?: \w+)? "
    r"(?:say|tell|go into|speak|talk)|\bnothing|\bno \w+)\b"
)
_REQUEST_FOR_MORE = (
    r"\bi(?:'m| am) (?:sorry|afraid)\b|\bapologi[sz]e|^sorry\b"
    r"|\b(?:please|could you|can you)\b.{0,40}\b(?:provide|clarify|specify|share|rephrase"
    r"|more)\b"
)
_BEING_AN_ASSISTANT = (
    r"\bas an? (?:\w+ ){0,2}(?:ai|assistant|language model|llm)\b|\bmy (?:training|knowledge)\b"
)
_KINDS_OF_REFUSAL = (
    _NEGATED_INFORMATION,
    _UNKNOWN_BY_ITSELF,
    _LACK_OF_INFORMATION,
    _INABILITY,
    _SILENT_CONTEXT,
    _REQUEST_FOR_MORE,
    _BEING_AN_ASSISTANT,
)


def refusal_start(text: str) -> int | None:
    """Where the first refusal begins in ``text`` (lower case, plain apostrophes); None where it
    has none. Reads its first ``MAX_LENGTH`` characters."""
    found = re.search("|".join(_KINDS_OF_REFUSAL), _LONE_APOSTROPHE.sub(" ", text[:MAX_LENGTH]))
    return None if found is None else found.start()
