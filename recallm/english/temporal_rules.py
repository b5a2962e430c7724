"""What a question asks of time: one table of rules (paper, Future Work: a dynamic temporal window).

``RULES`` are tried from the top. A rule that fires consumes the words on which it fired, so that no
later rule sees them ("last week" is a date, not "last"). It sets the fields that no earlier rule
has set. A rule without an effect only keeps words from later rules: "first name" is not "first".
"""

from __future__ import annotations

import re
from typing import TypedDict

from recallm.english.word_lists import ENGLISH
from recallm.model import TemporalIntent, TemporalOrder, TemporalWindow, Trait

_TAKEN = "|"
_TENSES = Trait.PAST | Trait.PRESENT | Trait.FUTURE
_DID = re.compile(r"\bdid\b")


class Effect(TypedDict, total=False):
    """The fields of a ``TemporalReading`` that a rule sets."""

    intent: TemporalIntent
    recency: float
    order: TemporalOrder
    window: TemporalWindow
    previous: bool
    spread: bool


class Rule:
    """A rule of the table.

    It fires on a question that holds the phrases ``fires`` and ``given`` and does not hold
    ``unless``; or, if ``tense`` is set, on a question whose verbs have that tense alone. The three
    are regular expressions over the question in lower case, its words one space apart,
    contractions and hyphens split.
    """

    def __init__(
        self,
        name: str,
        fires: str,
        effect: Effect,
        *,
        given: str = "",
        unless: str = "",
        tense: Trait | None = None,
    ) -> None:
        self.name = name
        self.effect = effect
        self.tense = tense
        self._fires = _phrase(fires)
        self._given = _phrase(given) if given else None
        self._unless = _phrase(unless) if unless else None

    def apply(self, remaining: str, question: str, tenses: Trait) -> str | None:
        """``remaining`` without the phrases that it fired on; None if it does not fire."""
        if self.tense is not None:
            past = Trait.PAST if _DID.search(question) else Trait(0)
            return remaining if (tenses | past) & _TENSES == self.tense else None
        rest, count = self._fires.subn(_TAKEN, remaining)
        if not count or (self._given and not self._given.search(question)):
            return None
        return None if self._unless and self._unless.search(question) else rest


def _phrase(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'@])(?:{pattern})(?!\w)")


# Words that the rules look for, as patterns over a text in lower case.


def _one_of(key: str) -> str:
    return "|".join(ENGLISH["time_rules"][key].split())


_STATES = _one_of("states")
_ROLES = _one_of("roles")
_OUTGROWN = _one_of("outgrown")
_HABITS = _one_of("habits")
_CHANGED = _one_of("changed")
_BE = _one_of("be")
_ASKING = _one_of("asking")
_PRONOUNS = _one_of("pronouns")
_SITUATED = _one_of("situated")
_BECOMING = _one_of("becoming")
_SPELLS = r"(?:night|day|week|weekend|month|year|morning|evening|moment)s?"
"""Lengths of time."""
_FILLING = rf"(?:(?!(?:{_ASKING}|{_PRONOUNS})\b)\w+ )"
"""A word between "which" and its noun."""
_PLURAL = (
    rf"(?:(?!(?:{_ASKING}|{_PRONOUNS}|{_one_of('no_plurals')})\b)\w+[^\Wsui]s|"
    r"people|children|men|women)(?!\w)"
)
"""A noun in the plural, as far as its form tells."""

# Gaps in patterns are bounded: a question may be as long as a pasted text.
_NAME = r"(?:\S+ ){1,12}?"
"""What a question is about, in words: "the headquarters of smith and sons"."""
_DATE = r"@\w+"
_WH = "what|where|who|whom|which|whose|how"

_NOTHING = Effect()
_NOW = Effect(intent="current", recency=1.0, order="latest")
_PREVIOUS = Effect(intent="historical", recency=0.5, order="latest", previous=True)
_FIRST = Effect(intent="historical", recency=0.0, order="earliest")
_PAST = Effect(intent="historical", recency=0.0)
_STATE = Effect(intent="current", recency=0.7, order="latest")
_ALL = Effect(recency=0.0, order="any", spread=True)

RULES: tuple[Rule, ...] = (
    # Words that name no time.
    Rule(
        "no time",
        rf"first (?:{_one_of('behind_first')})|first of all|"
        r"(?:win|wins|won|take|took|get|got|in|finish|finished) first place|"
        r"last (?:names?|resort|straw|supper)|last but not least|"
        r"at (?:long )?last(?! (?:week|month|year|summer|winter))|at the latest|second hand|"
        r"former or latter|"
        r"now and (?:then|again)|every now|moment (?:when|that|of)|still (?:life|lifes|lives)|"
        r"(?:stands?|stood|sits?|sat|holds?|held|keeps?|kept|lies?|lay) still|and yet|"
        r"yet (?:another|again)|(?:no|any) longer than|all (?:the )?(?:time|day|night|way|along)|"
        r"current (?:affairs|events)|"
        r"(?:electric|electrical|ocean|alternating|direct|river|sea) currents?|"
        r"(?:happily )?ever after|for ?ever|if ever|"
        r"the (?:next|following|previous) (?:day|morning|evening|night)|"
        r"(?:oldest|original) (?:son|daughter|child|brother|sister|sibling|friend|kid)s?",
        _NOTHING,
    ),
    Rule(
        "last (verb)",
        r"(?<!the )last(?= (?:for|until|till|long|longer|an?|about|only|more|less)\b| \||$)",
        _NOTHING,
        unless=r"(?:where|who|whom|what|which|when)\b.{0,60}\bdid\b.{0,60} last",
    ),
    Rule(
        "used to (accustomed, serves)",
        rf"(?:{_BE}|get|gets|got|getting)(?: (?:{_PRONOUNS}|not|n't|so|still|being))* used to|"
        rf"(?:{_BE})(?: (?!who|that|which|where|when)\w+){{1,3}}"
        r"(?<! he)(?<! she)(?<! they)(?<! we)(?<! you)(?<! i) used to",
        _NOTHING,
    ),
    # Dates, which ``english.questions`` has marked by their kind; ``english.dating``
    # says from when to when.
    Rule(
        "between <dates>",
        rf"(?:between|from) {_DATE} (?:and|to|until|till|through)(?: the)? {_DATE}|"
        r"(?:between |from )?@range",
        Effect(intent="historical", recency=0.0, window="within"),
    ),
    Rule(
        "since <date>",
        rf"(?:ever )?(?:since|after|from(?! @ago))(?: the)? {_DATE}(?: on| onwards?)?",
        Effect(recency=0.5, window="since"),
    ),
    Rule(
        "until <date>",
        rf"(?:until|till|before|by|up to|prior to|as of)(?: the)? {_DATE}",
        Effect(intent="historical", recency=0.5, order="latest", window="until"),
    ),
    Rule(
        "this <period>",
        "@this",
        Effect(intent="current", recency=0.8, order="latest", window="within"),
    ),
    Rule("next <period>", "@next", Effect(recency=0.8, order="latest", window="within")),
    Rule("last <period>", "@last", Effect(intent="historical", recency=0.5, window="within")),
    Rule("on <weekday>", "(?:on )?@weekday", Effect(recency=0.5, window="within")),
    Rule(
        "in <date>",
        "(?:(?:in|on|during|at|of|around|for)(?: the)? )?@(?:date|ago)",
        Effect(intent="historical", recency=0.0, window="within"),
    ),
    Rule(
        "before (at the end)",
        r"(?:before|earlier|beforehand)(?: that| this)?$",
        _PREVIOUS,
        given=rf"^(?:\S+ ){{0,2}}(?:{_WH})",
        unless=rf"{_SPELLS} (?:before|earlier)",
    ),
    Rule(
        "before (another state)",
        r"(?:before|prior to)(?= (?!and after|\||(?:i|you|he|she|it|we|they|the|"
        rf"an?|her|his|their|my|your|our)\b)\w| \w+ (?:{_CHANGED})\b)|"
        r"before \w+ (?:current|new|present|latest)",
        _PREVIOUS,
        given=rf"(?:{_WH})\b.{{0,80}}\b(?:{_STATES})\b.{{0,80}} (?:before|prior)",
        unless=rf"{_SPELLS} before",
    ),
    # How things are.
    Rule(
        "so far",
        r"so far|(?:until|till) now|up to now|to date|over the (?:years|months|weeks)|over time",
        Effect(intent="neutral", recency=0.0, order="any", spread=True),
    ),
    Rule(
        "now",
        r"(?:right |as of |by |from |just )?now(?: that| on)?|at the (?:present )?moment|"
        r"currently|at present|presently|(?:as of |by )?today|nowadays|these days|"
        r"at (?:this|the (?:current|present)) time|present day|current(?= \w)|"
        r"present(?= (?:job|address|home|state|situation|position|role|employer|occupation)\b)|"
        r"up to date|for the time being|no longer|(?:any ?more|any longer)(?=$| \|)|still|"
        r"(?:as )?yet|(?:my|your|her|his|their|our|its|'s) new(?= \w)|"
        r"latest|newest|most recent(?:ly)?|most up to date",
        _NOW,
    ),
    Rule(
        "recently",
        r"recent|recently|lately",
        Effect(intent="current", recency=0.8, order="latest"),
    ),
    Rule(
        "in the end",
        r"in the end|eventually|finally|ultimately|ends? up|ended up",
        Effect(recency=0.7, order="latest"),
    ),
    # How things were.
    Rule(
        "previously",
        r"previously|previous|formerly|prior(?! to)|former(?= \w+(?: \w+)?$)|"
        rf"ex(?= (?:{_ROLES})$)|(?:her|his|their|your|my|our|'s) old(?= (?:{_OUTGROWN})\b)",
        _PREVIOUS,
    ),
    Rule(
        "used to",
        rf"used to|use to(?= (?:{_HABITS})\b)",
        Effect(intent="historical", recency=0.3, order="latest", previous=True),
        given="did|used",
    ),
    Rule(
        "before, former",
        rf"(?:before|prior to)(?: and after)?|beforehand|earlier|former|ex(?= (?:{_ROLES})\b)",
        _PAST,
    ),
    Rule(
        "first",
        r"originally|original|initially|initial|at first|in the beginning|to begin with|"
        r"earliest|oldest|at the (?:start|beginning|outset)|(?:very )?first|since when",
        _FIRST,
    ),
    Rule("last", r"last", Effect(intent="neutral", recency=0.9, order="latest")),
    Rule("next", r"next(?! to| door)|upcoming", Effect(recency=0.8, order="latest")),
    Rule(
        "started",
        r"start|started|begin|began",
        _FIRST,
        given=r"(?:when|at what age|how old) (?:did|was|were|had|has|have)",
    ),
    Rule("since", r"(?:ever )?since", Effect(recency=0.5)),
    Rule("until when", r"(?:until|till) when", Effect(recency=0.5, order="latest")),
    Rule("until", r"until|till", _PAST),
    # All statements on a subject, not one answer.
    Rule(
        "how many times",
        r"how many (?:\w+ )?times|(?:number of|all the) times",
        Effect(intent="historical", recency=0.0, order="any", spread=True),
    ),
    Rule("how often", r"how (?:often|frequently|regularly)", Effect(recency=0.5, spread=True)),
    Rule(
        "how many <plural>",
        r"how many(?= (?:\w+ ){1,5}(?:has|have|had|did|were|was)\b)",
        _ALL,
        unless=r"(?:does|do|did)\b.{0,60} have$|how many (?:days|weeks|months|years|hours|people)",
    ),
    Rule(
        "list",
        r"(?:list|enumerate)(?= \w)|(?:what|which|who)(?: (?:are|were|is))? all|"
        r"all (?:of )?(?:the|her|his|their)|"
        r"every(?= (?:\w+ )?(?:that|who|which|has|have|he|she|they)\b)|each of|"
        r"what else|who else|where else|"
        rf"name(?= (?:some|several|two|three|the) {_FILLING}?{_PLURAL})|"
        rf"(?:what|which|who) (?:are|were)(?= (?:{_FILLING}|'s ){{0,4}}{_PLURAL}"
        r"(?:$| (?:of|in|with|for|that|from|at|on|about|and|to)\b))|"
        r"how(?= (?:has|have|did|do|does)\b.{1,80} (?:change|evolve|develop|improve|progress))|"
        rf"(?:what|which)(?= (?!of){_FILLING}{{0,3}}{_PLURAL}"
        rf"(?: (?:of|in|by|from|for|with|at|about|on|that|to)(?: \w+){{1,5}})? (?:{_ASKING})\b)",
        _ALL,
    ),
    Rule(
        "tell me about",
        r"(?:tell me|talk|know)(?: \w+)? about|summari[sz]e|an? (?:summary|overview) of",
        Effect(spread=True),
    ),
    Rule(
        "what has … done",
        rf"(?:what|whom|where|which)(?= {_FILLING}{{0,2}}(?:has|have|'ve)(?! to)\b)",
        Effect(recency=0.0, spread=True),
        unless=rf"(?:has|have|'ve)\b.{{0,60}} (?:{_BECOMING})|(?:has|have) (?:a|an|the|no)\b",
    ),
    # When.
    Rule(
        "when did",
        r"(?:when|(?:what|which) (?:time|day|date|month|year|week|season)) "
        r"(?:did|was|were|had|has|have)|how long ago",
        _PAST,
    ),
    Rule(
        "in the past",
        r"ever|never|(?<!at )once(?! (?:more|again|upon|\w+ \w+ed)\b)|"
        r"ago|once upon a time|historically|"
        r"in (?:the past|history)|back (?:then|when)|at (?:that|the) time|in those days|"
        r"when (?:i|you|he|she|it|we|they) (?:was|were)|growing up|"
        r"as a (?:child|kid|teenager|boy|girl|baby)",
        _PAST,
    ),
    Rule(
        "when will, how long",
        r"when (?:is|are|will|does|do|can|should|'s)|how long (?:has|have|'s)",
        Effect(recency=0.5),
    ),
    # The tense alone.
    Rule(
        "present state",
        r"^(?:what|who|where|how) 's(?! (?:\w+ed|been|gone|done|become)\b)|"
        rf"(?:is|are|'s|'re|am)(?= (?:{_NAME})?(?:{_SITUATED})"
        r"(?:$| (?:to|in|at|for|by|as|with|about|on)\b))|"
        rf"^(?:which|what) (?:\w+ ){{1,3}}(?:is|are)(?= {_NAME}\w+ed "
        r"(?:to|in|at|for|by|as|with|about|on)$)",
        _STATE,
        unless=r"did|was|were|has|have|had|will",
    ),
    Rule("plain present", "", _STATE, tense=Trait.PRESENT),
    Rule("future", "", Effect(recency=0.5), tense=Trait.FUTURE),
    Rule("past tense", "", Effect(recency=0.0), tense=Trait.PAST),
)
"""Every rule, in the order in which they are tried."""
