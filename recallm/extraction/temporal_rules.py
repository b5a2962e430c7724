"""What a question asks of time: one table of rules (paper, Future Work: a dynamic temporal window).

``RULES`` are tried from the top. A rule that fires consumes the words on which it fired, so that no
later rule sees them ("last week" is a date, not "last"). It sets the fields that no earlier rule
has set. A rule without an effect only keeps words from later rules: "first name" is not "first".
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from recallm.model import TemporalIntent, TemporalOrder, TemporalWindow, Trait

__all__ = ["RULES", "Effect", "Rule"]

_TAKEN = "|"
_TENSES = Trait.PAST | Trait.PRESENT | Trait.FUTURE
_DID = re.compile(r"\bdid\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The fields of a ``TemporalReading`` that a rule sets; None for those that it leaves."""

    intent: TemporalIntent | None = None
    recency: float | None = None
    order: TemporalOrder | None = None
    window: TemporalWindow | None = None
    previous: bool | None = None
    spread: bool | None = None

    def without(self, found: Collection[str]) -> dict[str, Any]:
        """The fields that it sets, with their values, except those that are set already."""
        pairs = ((name, getattr(self, name)) for name in self.__slots__ if name not in found)
        return {name: value for name, value in pairs if value is not None}


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the table.

    It fires on a question that holds the phrases ``fires`` and ``given`` and does not hold
    ``unless``; or, if ``tense`` is set, on a question whose verbs have that tense alone. The three
    are regular expressions over the question in lower case, its words one space apart,
    contractions and hyphens split.
    """

    name: str
    fires: str
    effect: Effect
    given: str = ""
    unless: str = ""
    tense: Trait | None = None
    _patterns: tuple[re.Pattern[str], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        patterns = tuple(map(_phrase, (self.fires, self.given, self.unless)))
        object.__setattr__(self, "_patterns", patterns)

    def apply(self, remaining: str, question: str, tenses: Trait) -> str | None:
        """``remaining`` without the phrases that it fired on; None if it does not fire."""
        fires, given, unless = self._patterns
        if self.tense is not None:
            past = Trait.PAST if _DID.search(question) else Trait(0)
            return remaining if (tenses | past) & _TENSES == self.tense else None
        rest, count = fires.subn(_TAKEN, remaining)
        if not count or (self.given and not given.search(question)):
            return None
        return None if self.unless and unless.search(question) else rest


def _phrase(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'@])(?:{pattern})(?!\w)")


# Words that the rules look for, as patterns over a text in lower case.

_STATES = (
    "was|were|be|been|live|lived|work|worked|stay|stayed|reside|resided|have|had|own|owned|drive|"
    "drove|date|dated|study|studied|teach|taught|use|used|call|called|belong|belonged|play|played|"
    "keep|kept|follow|followed|like|liked|love|loved|prefer|preferred|volunteer|volunteered|"
    "commute|commuted|rent|rented|train|trained|serve|served|support|supported|learn|learned"
)
"""Verbs of states, which later states replace."""
_ROLES = (
    "wife|husband|boyfriend|girlfriend|partner|spouse|fiance|fiancee|boss|roommate|flatmate|"
    "colleague|bandmate|teammate|employer|president|soldier|marine|cop|policeman|convict|manager|"
    "captain|player|teacher|coach"
)
"""Roles that a person may have had: "ex-wife"."""
_OUTGROWN = "job|address|house|home|apartment|flat|school|phone|number|employer|company|boss|car"
"""Things that a person has had one after another: "her old address"."""
_HABITS = (
    "be|live|work|have|own|do|go|like|love|hate|play|drive|think|believe|stay|drink|smoke|eat|"
    "feel|see|visit|teach|study|read|watch|wear|run|date|dream|say|want|call|spend"
)
"""Verbs behind "use to" that make it a habit, not the use of a thing."""
_CHANGED = "moved|joined|started|became|switched|changed|married|settled|began|met"
"""Verbs by which a state begins."""
_SPELLS = r"(?:night|day|week|weekend|month|year|morning|evening|moment)s?"
"""Lengths of time."""
_BE = "is|are|was|were|be|been|being|am|'m|'s|'re"
"""Forms of "be"."""
_ASKING = (
    "is|are|was|were|do|does|did|has|have|had|'s|'ve|can|could|will|would|should|may|might|must"
)
"""Verbs that begin the main part of a question."""
_PRONOUNS = "i|you|he|she|it|we|they|this|that|these|those"
"""Words in the place of a noun."""
_FILLING = rf"(?:(?!(?:{_ASKING}|{_PRONOUNS})\b)\w+ )"
"""A word between "which" and its noun."""
_PLURAL = (
    rf"(?:(?!(?:{_ASKING}|{_PRONOUNS}|his|its|as|yes|news|always|perhaps|besides|afterwards|"
    r"sometimes|series|days|times|happens|makes|causes|leads|keeps|means|comes|goes|gives|brings|"
    r"takes|gets|becomes|starts|helps|inspires|motivates|worries|bothers)\b)\w+[^\Wsui]s|people|"
    r"children|men|women)(?!\w)"
)
"""A noun in the plural, as far as its form tells."""
_SITUATED = (
    "married|divorced|engaged|located|situated|based|called|named|employed|enrolled|retired|"
    "interested|involved|titled|known|registered|signed|scheduled|stationed|housed|buried|made|"
    "written|used|spelled|pronounced|kept|owned|dedicated|related|connected|addicted|scared|worried"
)
"""Participles that describe a state: "is married"."""
_BECOMING = "decided|become|moved|settled|changed|switched|chosen|happened"
"""Participles that describe a change."""

# Gaps in patterns are bounded: a question may be as long as a pasted text.
_DATE = r"@\w+"
_WH = "what|where|who|whom|which|whose|how"

_NOTHING = Effect()
_NOW = Effect(intent="current", recency=1.0, order="latest")
_LATELY = Effect(intent="current", recency=0.8, order="latest")
_LAST = Effect(intent="neutral", recency=0.9, order="latest")
_PREVIOUS = Effect(intent="historical", recency=0.5, order="latest", previous=True)
_FIRST = Effect(intent="historical", recency=0.0, order="earliest")
_PAST = Effect(intent="historical", recency=0.0)
_ALL = Effect(recency=0.0, order="any", spread=True)

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
    # Dates, which ``recallm.extraction.questions`` has marked by their kind; ``recallm.dating``
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
    Rule("ago", "@ago", Effect(intent="historical", recency=0.0, window="within")),
    Rule("on <weekday>", "(?:on )?@weekday", Effect(recency=0.5, window="within")),
    Rule(
        "in <date>",
        "(?:(?:in|on|during|at|of|around|for)(?: the)? )?@date",
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
        r"up to date|for the time being",
        _NOW,
    ),
    Rule("no longer", r"no longer|(?:any ?more|any longer)(?=$| \|)", _NOW),
    Rule("still", r"still", _NOW),
    Rule("yet", r"(?:as )?yet", _NOW),
    Rule("new", r"(?:my|your|her|his|their|our|its|'s) new(?= \w)", _NOW),
    Rule("latest", r"latest|newest|most recent(?:ly)?|most up to date", _NOW),
    Rule("recently", r"recent|recently|lately", _LATELY),
    Rule(
        "in the end",
        r"in the end|eventually|finally|ultimately|ends? up|ended up",
        Effect(recency=0.7, order="latest"),
    ),
    # How things were.
    Rule("previously", r"previously|previous|formerly|prior(?! to)", _PREVIOUS),
    Rule(
        "former",
        rf"former(?= \w+(?: \w+)?$)|ex(?= (?:{_ROLES})$)|"
        rf"(?:her|his|their|your|my|our|'s) old(?= (?:{_OUTGROWN})\b)",
        _PREVIOUS,
    ),
    Rule(
        "former (of somebody named so)",
        rf"former|ex(?= (?:{_ROLES})\b)",
        Effect(intent="historical", recency=0.0),
    ),
    Rule(
        "used to",
        rf"used to|use to(?= (?:{_HABITS})\b)",
        Effect(intent="historical", recency=0.3, order="latest", previous=True),
        given="did|used",
    ),
    Rule("before", r"(?:before|prior to)(?: and after)?|beforehand|earlier", _PAST),
    Rule(
        "originally",
        r"originally|original|initially|initial|at first|in the beginning|to begin with|"
        r"earliest|oldest|at the (?:start|beginning|outset)",
        _FIRST,
    ),
    Rule("first", r"(?:very )?first", _FIRST),
    Rule("last", r"last", _LAST),
    Rule("next", r"next(?! to| door)|upcoming", Effect(recency=0.8, order="latest")),
    Rule("since when", r"since when", _FIRST),
    Rule(
        "started",
        r"start|started|begin|began",
        _FIRST,
        given=r"(?:when|at what age|how old) (?:did|was|were|had|has|have)",
    ),
    Rule("since", r"(?:ever )?since", Effect(recency=0.5)),
    Rule("until when", r"(?:until|till) when", Effect(recency=0.5, order="latest")),
    Rule("until", r"until|till", Effect(intent="historical", recency=0.0)),
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
        r"how(?= (?:has|have|did|do|does)\b.{1,80} (?:change|evolve|develop|improve|progress))",
        _ALL,
    ),
    Rule(
        "which <plural>",
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
    Rule("ever", r"ever|never|(?<!at )once(?! (?:more|again|upon|\w+ \w+ed)\b)", _PAST),
    Rule(
        "when did",
        r"(?:when|(?:what|which) (?:time|day|date|month|year|week|season)) "
        r"(?:did|was|were|had|has|have)|how long ago|ago|once upon a time|historically|"
        r"in (?:the past|history)|back (?:then|when)|at (?:that|the) time|in those days|"
        r"when (?:i|you|he|she|it|we|they) (?:was|were)|"
        r"growing up|"
        r"as a (?:child|kid|teenager|boy|girl|baby)",
        _PAST,
    ),
    Rule("when will", r"when (?:is|are|will|does|do|can|should|'s)", Effect(recency=0.5)),
    Rule("how long", r"how long (?:has|have|'s)", Effect(recency=0.5)),
    # The tense alone.
    Rule(
        "present state",
        r"^(?:what|who|where|how) 's(?! (?:\w+ed|been|gone|done|become)\b)|"
        rf"(?:is|are|'s|'re|am)(?= (?:\w+ |'s ){{0,5}}(?:{_SITUATED})"
        r"(?:$| (?:to|in|at|for|by|as|with|about|on)\b))",
        Effect(intent="current", recency=0.7, order="latest"),
        unless=r"did|was|were|has|have|had|will",
    ),
    Rule(
        "plain present",
        "",
        Effect(intent="current", recency=0.7, order="latest"),
        tense=Trait.PRESENT,
    ),
    Rule("future", "", Effect(recency=0.5), tense=Trait.FUTURE),
    Rule("past tense", "", Effect(recency=0.0), tense=Trait.PAST),
)
"""Every rule, in the order in which they are tried."""
