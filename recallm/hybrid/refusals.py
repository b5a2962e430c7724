"""Whether an answer says that it does not know, whoever says it.

Not the phrases of one model: a **refusal** is a denial near a word of information ("does not
mention", "no record of", "isn't something my notes cover"), a word that says so by itself
("unclear", "unspecified"), an inability to tell, an apology, a request for more, or talk of
being an assistant. Denials in what is told ("Bob did not leave") are none.
"""

from __future__ import annotations

import re

from recallm.extraction import word_set

__all__ = [
    "GENERIC",
    "HEDGES",
    "LONGEST",
    "NEGATIONS",
    "OF_ITSELF",
    "OF_KNOWING",
    "SOURCES",
    "VAGUE",
    "refusals",
]


LONGEST = 2000
"""Characters of a text that are looked at: what an answer is shows at its start."""

NEGATIONS = word_set(
    "no not n't never none nothing nobody nowhere neither nor cannot without cant dont doesnt "
    "didnt isnt wasnt arent werent wont unable"
)
SOURCES = word_set(
    "statement statements context contexts passage passages text texts document documents source "
    "sources content contents excerpt excerpts extract extracts information info conversation "
    "conversations memory memories record records notes snippet snippets material materials data "
    "database knowledge prompt input question questions article story plot transcript messages"
)
"""What an answer calls that which it was given."""

OF_KNOWING = word_set(
    "mention mentions mentioned mentioning specify specifies specified specific specifically "
    "provide provides provided providing state states stated detail details detailed clear clearly "
    "know known determine determined answer answers answered indicate indicates indicated "
    "indication describe describes described explain explains explained explicit explicitly reveal "
    "reveals revealed given available access identify identified disclose disclosed evident enough "
    "sufficient insufficient evidence reference references include includes included contain "
    "contains contained discuss discussed confirm confirmed certain sure unclear unknown "
    "unspecified unsure uncertain incomplete lack lacks lacking missing n/a relevant additional "
    "further accurate accurately regarding about based according"
)
"""Words of knowing and of not knowing: no part of what an answer tells."""

HEDGES = word_set(
    "may might possibly perhaps maybe likely probably presumably apparently seems seem appears "
    "appear suggest suggests suggesting implied implies imply inferred assume assumed assuming "
    "however although though could unsure uncertain think believe guess"
)
GENERIC = word_set(
    "typically usually generally often commonly various vary varies depends depending individuals "
    "people person many several common certain factors such important general different individual "
    "multiple numerous type types kind kinds"
)
"""Words of an answer that speaks of such things in general."""

VAGUE = word_set("someone somebody something unnamed unknown unidentified unspecified somewhere")
OF_ITSELF = word_set("i i'm i'd i've i'll my me ai assistant model")

_GAP = r"(?:[^\w']+[\w']+){0,4}?[^\w']+"
"""At most four words between two that belong together. What ends one part cannot begin the next, so
that there is one way to read it: else the time grows with the square of the length, or worse."""

_LOOSE = re.compile(r"'(?!\w)|(?<!\w)'")
"""Apostrophes that are no part of a word."""

_GIVEN = (
    "statements?|context|passages?|texts?|documents?|sources?|content|excerpts?|conversations?"
    "|memory|memories|records?|notes|snippets?|articles?|summary|transcript|messages|plot"
)
_TELL = (
    "know|tell|say|find|answer|recall|remember|determine|identify|locate|confirm|help|assist"
    "|provide|see|have (?:any|enough|the|access|information|that|a record)|be (?:sure|certain"
    "|determined|answered|inferred|identified|found|known)|speculate|infer|verify"
)
_UNTOLD = "unclear|unknown|unspecified|uncertain|undisclosed|unstated|unmentioned|undetermined"

_DENIES = (
    r"\b(?:not|\w*n't|never|no|cannot|nothing|none|nowhere|without|nor|neither)\b"
    rf"{_GAP}(?:inform|mention|specif(?:y|ie|ic)|provid|stated?\b|stating\b|detail|determin|indicat"
    r"|describ|explain|explicit|reveal|given\b|disclos|evident|enough\b|sufficient|clear\b|clearly"
    r"|access\b|context|identif|refer(?:s|red|ence)|includ|contain|discuss|evidence|elaborat"
    r"|address|confirm|known\b|knowledge|record(?:s|ed)?\b|memor(?:y|ies)\b|data\b|touch|available"
    r"|cover(?:s|ed)?\b|present in|found in|listed|relevant|ascertain|infer|deduce"
    r"|answer(?:ed|able)?\b (?:is|was|to|in|for))"
)
_SAYS_SO = (
    r"(?:^|\b(?:is|are|was|were|be|been|remains?|left|seems|appears|it's|that's)(?: \w+)? )"
    rf"(?:{_UNTOLD})\b|\b(?:{_UNTOLD})\W*$|\bunanswerable\b|\bn/a\b"
    r"|^not (?:sure|found|stated|given|certain)\b"
    r"|^(?:unsure|no (?:answer|idea|clue|data|info|result|match))"
)
_LACKS = (
    r"\b(?:lack(?:s|ing)?|missing|insufficient|incomplete|fails? to|silent on|beyond|outside)\b"
    rf"{_GAP}(?:inform|context|detail|data\b|mention|specif|provid|identif|describ|scope"
    r"|knowledge|say\b|state\b|this\b|what\b)"
)
_CANNOT_TELL = (
    r"\b(?:i|we|one|it)\b[^.?!]{0,24}?(?:\bnot|n't|\bcannot|\bunable to|\bimpossible to|\bhard to"
    rf"|\bdifficult to|\bno way to)(?: \w+)?? (?:{_TELL})\b"
    r"|\b(?:cannot|can't|unable to|impossible to|hard to|difficult to|couldn't|could not) (?:be )?"
    r"(?:determine|answer|identif|say|tell|locate|confirm|infer|ascertain|conclude|deduce)"
    r"|\bi(?:'m| am|'ve| have)? not (?:\w+ )?(?:sure|certain|aware|able)\b"
    rf"|(?:\bnot|n't) able to (?:{_TELL})\b|\bi have no\b|\byou (?:have not|haven't"
    r"|have never|never)\b"
    r"|\bwe (?:are|were|aren't|weren't)(?: not| never)? told\b"
    r"|\bnothing (?:is|was|has been) (?:said|told)\b"
)
_SOURCE_SILENT = (
    rf"(?:^it|\b(?:{_GIVEN}))\b[^.?!]{{0,24}}?(?:(?:\bnot|n't|\bnever)(?: \w+)? "
    r"(?:say|tell|go into|speak|talk)|\bnothing|\bno \w+)\b"
)
_ASKS_FOR_MORE = (
    r"\bi(?:'m| am) (?:sorry|afraid)\b|\bapologi[sz]e|^sorry\b"
    r"|\b(?:please|could you|can you|if you)\b.{0,40}\b(?:provide|clarify|specify|share|rephrase"
    r"|more)\b"
)
_ASSISTANT = (
    r"\bas an? (?:\w+ ){0,2}(?:ai|assistant|language model|llm)\b|\bmy (?:training|knowledge)\b"
)
_KINDS = tuple(
    re.compile(pattern)
    for pattern in (
        _DENIES,
        _SAYS_SO,
        _LACKS,
        _CANNOT_TELL,
        _SOURCE_SILENT,
        _ASKS_FOR_MORE,
        _ASSISTANT,
    )
)


def refusals(text: str) -> list[int | None]:
    """Where ``text`` (lower case, plain apostrophes) first refuses, by each kind of refusal;
    ``LONGEST`` characters of it are looked at."""
    text = _LOOSE.sub(" ", text[:LONGEST])
    found = (pattern.search(text) for pattern in _KINDS)
    return [match.start() if match is not None else None for match in found]
