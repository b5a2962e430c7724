"""What a question asks for: the traits of its answer, how it limits time, and its anchor.

``RULES`` say what a question asks of time (paper, Future Work: a dynamic temporal window).

The anchor is the value before, after or at the time of which a question asks for a state. "Where
did Ingrid live before Porto?" asks for the state before ``Porto``; "Which job did she have when she
lived in Oslo?" for the state at the time of ``she lived in Oslo``. The words of the rest are
searched, the anchor only fixes a place in the history. A question that asks when something happened
has no anchor, and a date is none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from recallm.english.dating import Interval, named_dates
from recallm.english.word_lists import ENGLISH, filled, read_table, word_set
from recallm.english.words import Word, stem
from recallm.model import AnchorRelation, Mark, TemporalAnchor, TemporalReading, Trait


def _traits_by_word(lists: Mapping[str, str]) -> dict[str, Trait]:
    """The traits of each word of the lists. A person, a place or an organisation has a name too."""
    found: defaultdict[str, Trait] = defaultdict(lambda: Trait(0))
    for name, words in lists.items():
        trait = Trait[name]
        for word in words.split():
            found[word] |= trait | (Trait.NAME if trait & _NAMED else Trait(0))
    return dict(found)


_NAMED = Trait.PERSON | Trait.PLACE | Trait.ORGANISATION
_BY_WORD = _traits_by_word(ENGLISH["asked"]["by_word"])
_BY_HOW = _traits_by_word(ENGLISH["asked"]["by_how"])
_BY_NOUN = _traits_by_word(ENGLISH["asked"]["by_noun"])
_CALLED = word_set(ENGLISH["asked"]["calling"])
_ASKED_INDIRECTLY = word_set(ENGLISH["asked"]["telling"])
_REACH = 3
"""How many words behind "what" or "which" may be the noun: "what other big cities"."""

_STEMS_OF_ORDER = word_set(ENGLISH["asked"]["stems_of_order"])
_STEMS_OF_COUNT = word_set(ENGLISH["asked"]["stems_of_count"])
_STEMS_OF_LISTING = word_set(ENGLISH["asked"]["stems_of_listing"])
_SOME_DAY = date(2000, 1, 1)
"""Which words of a question are dates does not depend on the day on which it is asked."""
_PUNCTUATION = re.compile(
    r"[^\w\s'./:–-]|(?<=[^\W\d])/|[./:'](?!\w)|(?<!\w)['.:](?!\w+\b)|(?<!\d )[-–](?!\S)"
)
"""What is not read: all but apostrophes and what stands within dates, numbers and words."""
_DATE_WORD = re.compile(r"[^\s–-]+")
_BY_TODAY = re.compile(r"\b(?:as of|by)$")
_CONTRACTION = re.compile(r"(?<=\w)(?='(?:s|re|ve|ll|d|m)\b)|(?<=\w)(?=n't\b)")
_WHATS = re.compile(r"\b(what|who|where|when|how) ?s\b")
_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w'’]*(?: (?:(?:of|the|and|a|an|in|to) )*[A-Z][\w'’]*)*")
"""A run of words with capitals inside a sentence."""
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")


def asked_traits(words: Sequence[Word]) -> Trait:
    """The traits that an answer to a question would have; none for a yes-or-no question.

    ``words`` are those of one sentence, without punctuation. The first question word decides. In a
    sentence that begins with an auxiliary ("does the man who …"), only a question word behind a
    verb of telling counts ("do you know where …").
    """
    indirect = bool(words) and bool(words[0].marks & Mark.AUXILIARY)
    for i, word in enumerate(words):
        if word.lowered in _ASKED_INDIRECTLY:
            indirect = False
        if indirect or not word.marks & Mark.ASKS:
            continue
        rest = words[i + 1 :]
        following = [other.lowered for other in rest[:_REACH]]
        if word.lowered in ("how", "hows"):
            return _BY_HOW.get(following[0], Trait(0)) if following else Trait(0)
        if word.lowered in ("what", "whats", "which"):
            return _asked_by_noun(rest) or (
                Trait.NAME
                if word.lowered == "which" or any(o.lowered in _CALLED for o in rest)
                else Trait(0)
            )
        return _BY_WORD.get(word.lowered, Trait(0))
    return Trait(0)


def _asked_by_noun(rest: Sequence[Word]) -> Trait:
    """What the noun behind "what" or "which" asks for. An auxiliary ends the search, but "what is
    the date" asks for the date."""
    words = list(rest)
    if words and words[0].marks & Mark.AUXILIARY:
        words = words[1:]
        if not (words and words[0].marks & Mark.EDGE):
            return Trait(0)
        words = words[1:]
    for word in words[:_REACH]:
        if word.marks & Mark.AUXILIARY:
            break
        if found := _BY_NOUN.get(word.lowered):
            return found
    return Trait(0)


_TAKEN = "|"
_TENSES = Trait.PAST | Trait.PRESENT | Trait.FUTURE
_DID = re.compile(r"\bdid\b")

_TABLE = read_table("data/temporal_rules.toml")
_PATTERNS: dict[str, str] = _TABLE["patterns"] | {
    name: "|".join(words.split()) for name, words in _TABLE["words"].items()
}


_ASKS_FOR_NUMBER = re.compile(filled("{asks_for_number}", _PATTERNS))
_MISLEADING = re.compile(filled(r"\b(?:{misleading})\b", _PATTERNS))
"""Words of names that say when or who as words of the language do."""
_KINDS = {kind: re.compile(pattern) for kind, pattern in _TABLE["kinds"].items()}
"""The kind of a date by its own words; "date" if none fits."""


def _phrases(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'@])(?:{filled('|'.join(patterns), _PATTERNS)})(?!\w)")


class Rule:
    """A rule of the table. ``effect`` has the fields of a ``TemporalReading`` that it sets."""

    def __init__(
        self,
        name: str,
        fires: Sequence[str] = (),
        given: Sequence[str] = (),
        unless: Sequence[str] = (),
        tense: str = "",
        sets: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.effect = sets or {}
        self.tense = Trait[tense] if tense else None
        self._fires = _phrases(fires)
        self._given = _phrases(given) if given else None
        self._unless = _phrases(unless) if unless else None

    def apply(self, remaining: str, question: str, tenses: Trait) -> str | None:
        """``remaining`` without the phrases that it fired on; None if it does not fire."""
        if self.tense is not None:
            past = Trait.PAST if _DID.search(question) else Trait(0)
            return remaining if (tenses | past) & _TENSES == self.tense else None
        rest, count = self._fires.subn(_TAKEN, remaining)
        if not count or (self._given and not self._given.search(question)):
            return None
        return None if self._unless and self._unless.search(question) else rest


RULES = tuple(Rule(**row) for row in _TABLE["rules"])
"""The rules of ``data/temporal_rules.toml``, tried from the top. A rule that fires consumes the
words on which it fired, so that no later rule sees them ("last week" is a date, not "last"). It
sets the fields that no earlier rule has set."""


def temporal_reading(text: str, tenses: Trait) -> TemporalReading:
    """What a question asks of time; a neutral reading if no rule fires.

    ``tenses`` are the traits PAST, PRESENT and FUTURE of the question's verbs.
    """
    plain = _plain(without_names(text))
    question, remaining = _split(plain), _split(_with_dates(plain))
    found: dict[str, Any] = {}
    fired: list[str] = []
    for rule in RULES:
        if rule.tense is not None and "recency" in found and "intent" in found:
            continue
        rest = rule.apply(remaining, question, tenses)
        if rest is None:
            continue
        remaining = rest
        new = {name: value for name, value in rule.effect.items() if name not in found}
        if new:
            found |= new
            fired.append(f"{rule.name} → {_described(new)}")
    return TemporalReading(**found, rules=tuple(fired))


def without_names(text: str) -> str:
    """A question with a mark in the place of each name whose words say when or who as words of the
    language do: "After the Rain", "Long Ago". Dates and names of one word stay as they are, and so
    does a text that is written in capitals."""
    words = text.split()
    if 2 * sum(word[:1].isupper() for word in words) > len(words) + 4:
        return text
    return _NAME.sub(lambda found: "Name" if _MISLEADING.search(found[0]) else found[0], text)


def asks_for_number(text: str) -> bool:
    """Whether a question asks how many answers there are."""
    return _ASKS_FOR_NUMBER.search(_plain(text)) is not None


def listing_terms(terms: Sequence[str]) -> frozenset[str]:
    """Those of a question's terms that only ask for a list or a number."""
    return _STEMS_OF_LISTING.intersection(terms)


_REQUEST = re.compile(
    r"\W*(?:(?:please|can|could|would|will|you)\W+)*(tell|remind)\s+(?:me|us)\b", re.IGNORECASE
)


def request_terms(question: str) -> frozenset[str]:
    """The stem of the verb by which a question only asks to be answered: "Tell me where I live"."""
    found = _REQUEST.match(question)
    return frozenset() if found is None else frozenset({stem(found[1])})


def time_terms(reading: TemporalReading) -> frozenset[str]:
    """The terms that ask for what the reading says already: for an order in time, for a count of
    times. "Last Friday" asks for no order."""
    terms: frozenset[str] = frozenset()
    if reading.order != "any" or reading.previous or reading.intent == "current":
        terms |= _STEMS_OF_ORDER
    if reading.spread:
        terms |= _STEMS_OF_COUNT
    return terms


def date_terms(text: str) -> frozenset[str]:
    """The terms of the dates in a question that name their year: "October 2025". The reading limits
    time by them, and what was said then need not spell them. The words of other dates ("last
    summer", "Christmas") may be what a statement is found by."""
    plain = _plain(text)
    return frozenset(
        stem(word)
        for named in named_dates(plain, None)
        if isinstance(named.means, Interval)
        for word in _DATE_WORD.findall(plain, named.start, named.end)
    )


def _plain(text: str) -> str:
    """The text in lower case, its words one space apart, without punctuation beside them."""
    return " ".join(_PUNCTUATION.sub(" ", text.lower().replace("’", "'")).split())


def _split(text: str) -> str:
    """The text with contractions and hyphens split."""
    apart = _HYPHEN.sub(" ", _CONTRACTION.sub(" ", text))
    return _WHATS.sub(r"\1 's", apart)


def _with_dates(text: str) -> str:
    """The text with a mark of its kind in the place of each date: "in june" → "in @date"."""
    pieces: list[str] = []
    end = 0
    for named in named_dates(text, _SOME_DAY):
        words = text[named.start : named.end]
        if words == "today" and _BY_TODAY.search(text, 0, max(0, named.start - 1)):
            continue
        kind = next((kind for kind, pattern in _KINDS.items() if pattern.search(words)), "date")
        pieces += (text[end : named.start], f"@{kind}")
        end = named.end
    return "".join((*pieces, text[end:]))


def _described(new: Mapping[str, Any]) -> str:
    """The fields that a rule set, in words: "recency 1, latest first"."""
    parts = [f"recency {new['recency']:g}"] if "recency" in new else []
    if new.get("order", "any") != "any":
        parts.append(f"{new['order']} first")
    if "window" in new:
        parts.append(f"window {new['window']}")
    if "previous" in new:
        parts.append("the state before")
    if "spread" in new:
        parts.append("all of them")
    return ", ".join(parts) or new["intent"]


_RELATIONS: tuple[AnchorRelation, ...] = ("before", "after", "at")
_ANCHORS = {
    name: re.compile(filled(pattern, _PATTERNS)) for name, pattern in _TABLE["anchors"].items()
}
_MOST_CHARACTERS = 400
"""Only the last characters of a long text are read: a question stands at its end."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def temporal_anchor(text: str, terms: Collection[str]) -> TemporalAnchor | None:
    """The anchor of a question whose content stems are ``terms``; None where it has none."""
    plain = " ".join(text.split())[-_MOST_CHARACTERS:].rstrip(" ?.!")
    found = _ANCHORS["behind"].search(plain) or _ANCHORS["in_front"].search(plain)
    if found is None:
        return None
    parts = found.groupdict()
    relation: AnchorRelation = next(relation for relation in _RELATIONS if parts[relation])
    asked = f"{parts['asked']}{parts.get('person') or ''}"
    # With "does" alone a question asks for no history: "What does she do when it rains?".
    is_present = _ANCHORS["present"].search(asked) and not _ANCHORS["past"].search(asked)
    if is_present or _ANCHORS["amount"].search(asked):
        return None
    stems = _stems(asked)
    own = tuple(term for term in terms if term in _stems(parts["anchor"]) and term not in stems)
    if not own:
        return None
    return TemporalAnchor(relation=relation, asked=asked, text=parts["anchor"], terms=own)


def with_anchor(reading: TemporalReading, anchor: TemporalAnchor | None) -> TemporalReading:
    """The reading with its anchor, which takes the place of every other order in time. Dates come
    first: a question that names one has no anchor."""
    if anchor is None or reading.window != "none":
        return reading
    state = "then" if anchor.relation == "at" else f"{anchor.relation} it"
    return replace(
        reading,
        intent="historical",
        recency=0.0,
        order="any",
        previous=False,
        anchor=anchor,
        rules=(f"{anchor.relation} <{anchor.text}> → the state {state}",),
    )


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(text.lower().replace("'s", ""))}
