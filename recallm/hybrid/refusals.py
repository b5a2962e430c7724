"""Whether an answer says that it does not know.

The rules are not the phrases of one model. A **refusal** is a negation near a word of information
("does not mention", "no record of", "isn't something my notes cover"), a word that says so by
itself ("unclear", "unspecified"), an inability to tell, an apology, a request for more, or talk of
being an assistant. A negation in a statement ("Bob did not leave") is none.
"""

from __future__ import annotations

import re

__all__ = ["MAX_LENGTH", "refusal_starts"]

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
    r"|\b(?:please|could you|can you|if you)\b.{0,40}\b(?:provide|clarify|specify|share|rephrase"
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


def refusal_starts(text: str) -> list[int]:
    """Where each kind of refusal first occurs in ``text`` (lower case, plain apostrophes), one
    place for each kind that does. Reads its first ``MAX_LENGTH`` characters."""
    text = _LONE_APOSTROPHE.sub(" ", text[:MAX_LENGTH])
    found = (re.search(pattern, text) for pattern in _KINDS_OF_REFUSAL)
    return [match.start() for match in found if match is not None]
