"""What a question asks of time: one table of rules (paper, Future Work: a dynamic temporal window).

``RULES`` are tried from the top. A rule that fires takes the words it fired on, so that no later
one sees them ("last week" is a date, not "last"), and sets what no earlier one has set. So a rule
that sets nothing keeps words from those below: "first name" is not "first".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from recallm.dating import named_dates
from recallm.extraction.phrases import (
    ASKING,
    BE,
    BECOMING,
    CHANGED,
    FILLING,
    HABITS,
    OUTGROWN,
    PLURAL,
    PRONOUNS,
    ROLES,
    SITUATED,
    SPELLS,
    STATES,
)
from recallm.extraction.rules import Rule, Sets, effect
from recallm.extraction.words import Word
from recallm.model import TemporalReading, Trait

__all__ = ["HYPHENS", "RULES", "temporal_reading"]

HYPHENS = ("-", "–")
"""The punctuation that is read, between the numbers of a date."""


# Gaps in patterns are bounded: a question may be as long as a pasted text.
DATE = r"@\w+"
_WH = "what|where|who|whom|which|whose|how"

NOTHING = Sets()
NOW = Sets(intent="current", recency=1.0, order="latest")
LATELY = Sets(intent="current", recency=0.8, order="latest")
LAST = Sets(intent="neutral", recency=0.9, order="latest")
PREVIOUS = Sets(intent="historical", recency=0.5, order="latest", previous=True)
FIRST = Sets(intent="historical", recency=0.0, order="earliest")
PAST = Sets(intent="historical", recency=0.0)
ALL = Sets(recency=0.0, order="any", spread=True)

RULES: tuple[Rule, ...] = (
    # Words that name no time.
    Rule(
        "no time",
        r"first (?:names?|aid|class|lady|grade|graders?|cousins?|language|floor|person|hand|"
        r"responders?|degree|amendment|impressions?|prize)|"
        r"(?:win|wins|won|take|took|get|got|in|finish|finished) first place|"
        r"last (?:names?|resort|straw|supper)|"
        r"last but not least|at (?:long )?last(?! (?:week|month|year|summer|winter))|"
        r"at the latest|second hand|former or latter|"
        r"now and (?:then|again)|every now|moment (?:when|that|of)|still (?:life|lifes|lives)|"
        r"(?:stand|stood|sit|sat|hold|held|keep|kept|lie|lay) still|and yet|"
        r"yet (?:another|again)|(?:no|any) longer than|current (?:affairs|events)|"
        r"(?:electric|electrical|ocean|alternating|direct|river|sea) currents?|"
        r"all (?:the )?(?:time|day|night|way|along)|first of all|"
        r"(?:happily )?ever after|for ?ever|if ever|"
        r"the (?:next|following|previous) (?:day|morning|evening|night)|"
        r"(?:oldest|original) (?:son|daughter|child|brother|sister|sibling|friend|kid)s?",
        NOTHING,
    ),
    Rule(
        "last (verb)",
        r"(?<!the )last(?= (?:for|until|till|long|longer|an?|about|only|more|less)\b| \||$)",
        NOTHING,
        unless=r"(?:where|who|whom|what|which|when)\b.{0,60}\bdid\b.{0,60} last",
    ),
    Rule(
        "used to (accustomed, serves)",
        rf"(?:{BE}|get|gets|got|getting)(?: (?:{PRONOUNS}|not|n't|so|still|being))* used to|"
        rf"(?:{BE})(?: (?!who|that|which|where|when)\w+){{1,3}}"
        r"(?<! he)(?<! she)(?<! they)(?<! we)(?<! you)(?<! i) used to",
        NOTHING,
    ),
    # Dates, marked by ``_with_dates``; recallm.dating.reading says from when to when.
    Rule(
        "between <dates>",
        rf"(?:between|from) {DATE} (?:and|to|until|till|through)(?: the)? {DATE}|"
        r"(?:between |from )?@range",
        Sets(intent="historical", recency=0.0, window="within"),
    ),
    Rule(
        "since <date>",
        rf"(?:ever )?(?:since|after|from(?! @ago))(?: the)? {DATE}(?: on| onwards?)?",
        Sets(recency=0.5, window="since"),
    ),
    Rule(
        "until <date>",
        rf"(?:until|till|before|by|up to|prior to|as of)(?: the)? {DATE}",
        Sets(intent="historical", recency=0.5, order="latest", window="until"),
    ),
    Rule(
        "this <period>",
        "@this",
        Sets(intent="current", recency=0.8, order="latest", window="within"),
    ),
    Rule("next <period>", "@next", Sets(recency=0.8, order="latest", window="within")),
    Rule("last <period>", "@last", Sets(intent="historical", recency=0.5, window="within")),
    Rule("ago", "@ago", Sets(intent="historical", recency=0.0, window="within")),
    Rule("on <weekday>", "(?:on )?@weekday", Sets(recency=0.5, window="within")),
    Rule(
        "in <date>",
        "(?:(?:in|on|during|at|of|around|for)(?: the)? )?@date",
        Sets(intent="historical", recency=0.0, window="within"),
    ),
    Rule(
        "before (at the end)",
        r"(?:before|earlier|beforehand)(?: that| this)?$",
        PREVIOUS,
        given=rf"^(?:\S+ ){{0,2}}(?:{_WH})",
        unless=rf"{SPELLS} (?:before|earlier)",
    ),
    Rule(
        "before (another state)",
        r"(?:before|prior to)(?= (?!and after|\||(?:i|you|he|she|it|we|they|the|"
        rf"an?|her|his|their|my|your|our)\b)\w| \w+ (?:{CHANGED})\b)|"
        r"before \w+ (?:current|new|present|latest)",
        PREVIOUS,
        given=rf"(?:{_WH})\b.{{0,80}}\b(?:{STATES})\b.{{0,80}} (?:before|prior)",
        unless=rf"{SPELLS} before",
    ),
    # How things are.
    Rule(
        "so far",
        r"so far|(?:until|till) now|up to now|to date|over the (?:years|months|weeks)|over time",
        Sets(intent="neutral", recency=0.0, order="any", spread=True),
    ),
    Rule(
        "now",
        r"(?:right |as of |by |from |just )?now(?: that| on)?|at the (?:present )?moment|"
        r"currently|at present|presently|(?:as of |by )?today|nowadays|these days|"
        r"at (?:this|the (?:current|present)) time|present day|current(?= \w)|"
        r"present(?= (?:job|address|home|state|situation|position|role|employer|occupation)\b)|"
        r"up to date|for the time being",
        NOW,
    ),
    Rule("no longer", r"no longer|(?:any ?more|any longer)(?=$| \|)", NOW),
    Rule("still", r"still", NOW),
    Rule("yet", r"(?:as )?yet", NOW),
    Rule("new", r"(?:my|your|her|his|their|our|its|'s) new(?= \w)", NOW),
    Rule("latest", r"latest|newest|most recent(?:ly)?|most up to date", NOW),
    Rule("recently", r"recent|recently|lately", LATELY),
    Rule(
        "in the end",
        r"in the end|eventually|finally|ultimately|ends? up|ended up",
        Sets(recency=0.7, order="latest"),
    ),
    # How things were.
    Rule("previously", r"previously|previous|formerly|prior(?! to)", PREVIOUS),
    Rule(
        "former",
        rf"former(?= \w+(?: \w+)?$)|ex(?= (?:{ROLES})$)|"
        rf"(?:her|his|their|your|my|our|'s) old(?= (?:{OUTGROWN})\b)",
        PREVIOUS,
    ),
    Rule(
        "former (of somebody named so)",
        rf"former|ex(?= (?:{ROLES})\b)",
        Sets(intent="historical", recency=0.0),
    ),
    Rule(
        "used to",
        rf"used to|use to(?= (?:{HABITS})\b)",
        Sets(intent="historical", recency=0.3, order="latest", previous=True),
        given="did|used",
    ),
    Rule("before", r"(?:before|prior to)(?: and after)?|beforehand|earlier", PAST),
    Rule(
        "originally",
        r"originally|original|initially|initial|at first|in the beginning|to begin with|"
        r"earliest|oldest|at the (?:start|beginning|outset)",
        FIRST,
    ),
    Rule("first", r"(?:very )?first", FIRST),
    Rule("last", r"last", LAST),
    Rule("next", r"next(?! to| door)|upcoming", Sets(recency=0.8, order="latest")),
    Rule("since when", r"since when", FIRST),
    Rule(
        "started",
        r"start|started|begin|began",
        FIRST,
        given=r"(?:when|at what age|how old) (?:did|was|were|had|has|have)",
    ),
    Rule("since", r"(?:ever )?since", Sets(recency=0.5)),
    Rule("until when", r"(?:until|till) when", Sets(recency=0.5, order="latest")),
    Rule("until", r"until|till", Sets(intent="historical", recency=0.0)),
    # All that was told of it, not one answer.
    Rule(
        "how many times",
        r"how many (?:\w+ )?times|(?:number of|all the) times",
        Sets(intent="historical", recency=0.0, order="any", spread=True),
    ),
    Rule("how often", r"how (?:often|frequently|regularly)", Sets(recency=0.5, spread=True)),
    Rule(
        "how many <plural>",
        r"how many(?= (?:\w+ ){1,5}(?:has|have|had|did|were|was)\b)",
        ALL,
        unless=r"(?:does|do|did)\b.{0,60} have$|how many (?:days|weeks|months|years|hours|people)",
    ),
    Rule(
        "list",
        r"(?:list|enumerate)(?= \w)|(?:what|which|who)(?: (?:are|were|is))? all|"
        r"all (?:of )?(?:the|her|his|their)|"
        r"every(?= (?:\w+ )?(?:that|who|which|has|have|he|she|they)\b)|each of|"
        r"what else|who else|where else|"
        rf"name(?= (?:some|several|two|three|the) {FILLING}?{PLURAL})|"
        rf"(?:what|which|who) (?:are|were)(?= (?:{FILLING}|'s ){{0,4}}{PLURAL}"
        r"(?:$| (?:of|in|with|for|that|from|at|on|about|and|to)\b))|"
        r"how(?= (?:has|have|did|do|does)\b.{1,80} (?:change|evolve|develop|improve|progress))",
        ALL,
    ),
    Rule(
        "which <plural>",
        rf"(?:what|which)(?= (?!of){FILLING}{{0,3}}{PLURAL}"
        rf"(?: (?:of|in|by|from|for|with|at|about|on|that|to)(?: \w+){{1,5}})? (?:{ASKING})\b)",
        ALL,
    ),
    Rule(
        "tell me about",
        r"(?:tell me|talk|know)(?: \w+)? about|summari[sz]e|an? (?:summary|overview) of",
        Sets(spread=True),
    ),
    Rule(
        "what has … done",
        rf"(?:what|whom|where|which)(?= {FILLING}{{0,2}}(?:has|have|'ve)(?! to)\b)",
        Sets(recency=0.0, spread=True),
        unless=rf"(?:has|have|'ve)\b.{{0,60}} (?:{BECOMING})|(?:has|have) (?:a|an|the|no)\b",
    ),
    # When.
    Rule("ever", r"ever|never|(?<!at )once(?! (?:more|again|upon|\w+ \w+ed)\b)", PAST),
    Rule(
        "when did",
        r"(?:when|(?:what|which) (?:time|day|date|month|year|week|season)) "
        r"(?:did|was|were|had|has|have)|how long ago|ago|once upon a time|historically|"
        r"in (?:the past|history)|back (?:then|when)|at (?:that|the) time|in those days|"
        r"when (?:i|you|he|she|it|we|they) (?:was|were)|"
        r"growing up|"
        r"as a (?:child|kid|teenager|boy|girl|baby)",
        PAST,
    ),
    Rule("when will", r"when (?:is|are|will|does|do|can|should|'s)", Sets(recency=0.5)),
    Rule("how long", r"how long (?:has|have|'s)", Sets(recency=0.5)),
    # The tense alone.
    Rule(
        "present state",
        r"^(?:what|who|where|how) 's(?! (?:\w+ed|been|gone|done|become)\b)|"
        rf"(?:is|are|'s|'re|am)(?= (?:\w+ |'s ){{0,5}}(?:{SITUATED})"
        r"(?:$| (?:to|in|at|for|by|as|with|about|on)\b))",
        Sets(intent="current", recency=0.7, order="latest"),
        unless=r"did|was|were|has|have|had|will",
    ),
    Rule(
        "plain present",
        "",
        Sets(intent="current", recency=0.7, order="latest"),
        tense=Trait.PRESENT,
    ),
    Rule("future", "", Sets(recency=0.5), tense=Trait.FUTURE),
    Rule("past tense", "", Sets(recency=0.0), tense=Trait.PAST),
)
"""Every rule, in the order in which they are tried."""

_SOME_DAY = date(2000, 1, 1)
"""Which dates a question names does not hang on the day on which it is asked."""
_APART = re.compile(r"(?<=\w) (?='s\b)")
_DIGITS_APART = re.compile(r"(?<=\d) ([-–]) (?=\d)")
_HYPHEN_APART = re.compile(r"(?:^|(?<= ))[-–](?: |$)")
_BY_TODAY = re.compile(r"\b(?:as of|by)$")
_KINDS = (
    ("ago", re.compile(r"\b(?:ago|back)$")),
    ("date", re.compile(r"\b(?:before|prior to|after|following)\b(?!.*tomorrow)")),
    ("range", re.compile(r"\d.* (?:and|to|until|through) ")),
    ("last", re.compile(r"\b(?:last|past|previous|yester\w+|the other|the weekend)\b")),
    (
        "next",
        re.compile(r"\b(?:next|upcoming|(?<!this )coming|tomorrow|from now|from today)\b|^in "),
    ),
    ("this", re.compile(r"\b(?:this|tonight|today)\b")),
    ("weekday", re.compile(r"^\w+day\b")),
)
"""What a date's own words say of it; none of them: "date"."""
_CONTRACTION = re.compile(r"(?<=\w)(?='(?:s|re|ve|ll|d|m)\b)|(?<=\w)(?=n't\b)")
_WHATS = re.compile(r"\b(what|who|where|when|how) ?s\b")
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")


def temporal_reading(words: Sequence[Word], tenses: Trait) -> TemporalReading:
    """What a question asks of time; ``words`` stand without punctuation but hyphens, ``tenses`` are
    the traits PAST, PRESENT and FUTURE of its verbs. Neutral where no rule fires."""
    joined = " ".join(word.lowered for word in words).replace("’", "'").replace("@", "")
    joined = _HYPHEN_APART.sub("", _DIGITS_APART.sub(r"\1", _APART.sub("", joined))).strip()
    whole, left = _split(joined), _split(_with_dates(joined))
    found: dict[str, Any] = {}
    said: list[str] = []
    for rule in RULES:
        if rule.tense is not None and "recency" in found and "intent" in found:
            continue
        rest = rule.apply(left, whole, tenses)
        if rest is None:
            continue
        left = rest
        new = rule.sets.but(found)
        if new:
            found |= new
            said.append(f"{rule.name} → {effect(new)}")
    return TemporalReading(**found, rules=tuple(said))


def _split(text: str) -> str:
    """The text with its contractions and hyphens split."""
    apart = _HYPHEN.sub(" ", _CONTRACTION.sub(" ", text))
    return _WHATS.sub(r"\1 's", apart)


def _with_dates(text: str) -> str:
    """The text with a mark in the place of each date: "in june" → "in @date"."""
    pieces: list[str] = []
    end = 0
    for named in named_dates(text, _SOME_DAY):
        words = text[named.start : named.end]
        if words == "today" and _BY_TODAY.search(text, 0, max(0, named.start - 1)):
            continue
        kind = next((kind for kind, pattern in _KINDS if pattern.search(words)), "date")
        pieces += (text[end : named.start], f"@{kind}")
        end = named.end
    return "".join((*pieces, text[end:]))
