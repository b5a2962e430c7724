"""How people say that something changed, was said by mistake, or answers a question.

``data/changes.toml`` has the rules. A sentence that one of them fits is read as other sentences,
which say all that it means: "My rent went up to 760 euros." as "My rent is 760 euros."; behind "I
moved to Leeds." the sentence "I meant Bradford, not Leeds." as "I moved to Bradford."; behind
"Where do you live?" the answer "Oslo." as "I live in Oslo.".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile
from typing import Any, Final, NamedTuple

from recallm.english.dating.phrases import MONTHS, WEEKDAYS
from recallm.english.syntax.tree import WORDS
from recallm.english.word_lists import filled, read_table

_TABLE: Final = read_table("data/changes.toml")
_PATTERNS: Final[dict[str, str]] = {
    **{name: "|".join(words.split()) for name, words in _TABLE["words"].items()},
    **_TABLE["patterns"],
    "weekday": "|".join(WEEKDAYS),
    "month": "|".join(MONTHS),
}


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(filled(text, _PATTERNS), re.IGNORECASE)


_LONGEST: Final = 300
"""Characters; a longer sentence tells of more than a change, and would take long to match."""
_REACH: Final = 100
"""Sentences before a change among which the sentence that the change is about is looked for."""


_NEAR: Final = 4
"""Sentences before a change among which what "it" is stands."""


class Said(NamedTuple):
    """A sentence and its speaker. ``may_answer``: it is short and has no verb."""

    speaker: str | None
    text: str
    may_answer: bool = False


class Change(NamedTuple):
    """What a sentence means: sentences that are read in its place, or beside it (``also``).

    ``before`` is what was true before. ``was`` is the earlier sentence whose facts end where
    ``means`` does not repeat them; they were never so if this one ``corrects`` it.
    """

    means: tuple[str, ...]
    before: str = ""
    was: str = ""
    corrects: bool = False
    also: bool = False


class _Rule:
    """A rule of the table."""

    def __init__(
        self,
        says: Sequence[str],
        means: Sequence[str] = (),
        before: str = "",
        given: str = "",
        denies: Sequence[str] | None = None,
        *,
        also: bool = False,
        corrects: bool = False,
        restates: bool = False,
    ) -> None:
        self._says = [_pattern(text) for text in says]
        # A list may have phrases, with points between their words: the first word counts.
        words = filled(given, {name: text.replace("|", " ") for name, text in _PATTERNS.items()})
        self.given = frozenset(re.split(r"\W", word)[0] for word in words.split())
        self.means, self.before, self.denies = means, before, denies
        self.also, self.corrects, self.restates = also, corrects, restates

    def parts(self, sentence: str) -> dict[str, str] | None:
        """The parts of a sentence by their names; None if the rule does not fit it."""
        for pattern in self._says:
            if found := pattern.fullmatch(sentence):
                return {name: part for name, part in found.groupdict().items() if part}
        return None


@cache
def _rules(kind: str) -> list[_Rule]:
    rows: list[dict[str, Any]] = _TABLE[kind]
    return [_Rule(**row) for row in rows]


def _rules_for(kind: str, words: Sequence[str]) -> Iterator[_Rule]:
    """The rules that sentences with these words may fit, in order."""
    return (rule for rule in _rules(kind) if not rule.given.isdisjoint(words))


_LEADING: Final = _pattern(r"\A(?:(?:{leading})\b[,.!:;—-]*\s+)+")
_WORD: Final = re.compile(r"[^\W_]+")
_BETWEEN: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_END: Final = " \t\n.!)"
_DATE: Final = _pattern("{date}")
_CLOCK: Final = _pattern("{clock}")
_NUMBER: Final = _pattern(r"(?<![\w-])(?:{number})(?![\w-])")
_UNIT: Final = re.compile(
    rf"\s?(?:{'|'.join(map(re.escape, sorted(WORDS['units'], key=len, reverse=True)))})\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=\s)(?!I\b)[A-Z][\w'’&-]*(?:\s+[A-Z][\w'’&-]*)*")
_FIRST_PERSON: Final = re.compile(r"\b(?:i|my|mine|me|we|our|us)\b", re.IGNORECASE)
_PERSONS: Final = re.compile(rf"{_FIRST_PERSON.pattern}|\b(?:you|yours?)\b", re.IGNORECASE)
_CONTRACTED: Final = re.compile(r"(?<=^it|^he)['’]s\b|(?<=^she)['’]s\b", re.IGNORECASE)
_CLAUSE: Final = re.compile(
    r"\A(?:[,;:–—-] ?| )(?:(?:and|but|so) )?((?:i|we|he|she|they|it|my|our|his|her|their|the) .+)",
    re.IGNORECASE,
)
"""A clause behind what changes."""
_PRONOUN: Final = re.compile(r"it|that|this|they|he|she|them|him|her", re.IGNORECASE)
_TOPIC: Final = _pattern(
    r"\b(?:a|an|the|my|our)(?: (?!(?:{closing}|of|to|that|from)\b)[\w'’-]+){1,3}"
)
"""The first thing that a sentence names."""
_NAMED: Final = _pattern(r"(?P<thing>(?:the|my|our)(?: (?!(?:{barring})\b)[\w'’-]+?){1,4}){is} ")
_PREPOSITION: Final = re.compile(r"(?:in|at|on|to|for|with|from|near)\b", re.IGNORECASE)
_YES: Final = _pattern("{yes}")
_NO: Final = _pattern(r"(?:{no})(?:[,.;:!—-]|$)")


def sentences_said(speaker: str | None, text: str) -> list[Said]:
    """The sentences of an earlier text, by their marks alone."""
    return [Said(speaker, part) for part in _BETWEEN.split(text) if part.strip()]


def changes_in(
    text: Sequence[Said], earlier: Callable[[], Sequence[Said]]
) -> Iterator[tuple[int, Change]]:
    """The sentences of a text that change, correct or answer something: their places, and what.
    ``earlier`` gives the sentences of the session before the text, the last one last."""
    said_earlier = cache(earlier)
    amended: list[Said] = []

    def before() -> list[Said]:
        return [*said_earlier(), *text[:place]]

    def meant() -> list[Said]:
        """What was said before, each sentence that amends others as what that sentence means."""
        for said in before()[len(amended) :]:
            change = _change_in(said._replace(may_answer=False), lambda: amended, lambda: amended)
            means = said.text if change is None else " ".join(change.means)
            amended.append(said._replace(text=means))
        return amended

    for place, sentence in enumerate(text):
        if (change := _change_in(sentence, before, meant)) is not None:
            yield place, change


def _change_in(
    sentence: Said, before: Callable[[], Sequence[Said]], meant: Callable[[], Sequence[Said]]
) -> Change | None:
    """What a sentence changes, corrects or answers; None for all others. ``before`` gives the
    sentences before it as they were said, ``meant`` as what they mean."""
    bare = sentence.text.strip().rstrip(_END)
    if not bare or "?" in bare or len(bare) > _LONGEST:
        return None
    words = _WORD.findall(bare.lower())
    led = _LEADING.sub("", bare, count=1)
    for rule in _rules_for("amendments", words):
        for form in dict.fromkeys((led, bare)):
            parts = rule.parts(form)
            if parts and (change := _amended(rule, parts, sentence, meant()[-_REACH:])):
                return change
    for rule in _rules_for("changes", words):
        if parts := rule.parts(bare if rule.corrects else led):
            if parts.get("thing", "").lower() == "it":
                parts["thing"] = _named_before(sentence, before()[-_NEAR:])
            true_before = "".join(_sentences([rule.before] if rule.before else [], parts))
            means = (*_sentences(rule.means, parts), *_CLAUSE.findall(parts.get("rest", "")))
            was = ""
            if rule.restates:
                was = _restated(means[0], sentence, before()[-_REACH:], corrects=rule.corrects)
            if was or not rule.corrects:
                return Change(means, true_before, was, corrects=rule.corrects, also=rule.also)
    if sentence.may_answer and (answer := _answer(sentence, bare, before())):
        return answer
    # "No, she lives in Rome" denies what was said before, not that she does.
    return Change((led,)) if _NO.match(bare) and led != bare else None


def _named_before(sentence: Said, before: Sequence[Said]) -> str:
    """What "it" is: what the latest sentence is about that the speaker began by naming something.
    "it" where there is none."""
    own = (said.text for said in reversed(before) if said.speaker == sentence.speaker)
    return next((found["thing"] for text in own if (found := _NAMED.match(text))), "it")


def _restated(text: str, sentence: Said, before: Sequence[Said], *, corrects: bool) -> str:
    """The latest sentence of the speaker that differs from a text in its last words alone; empty if
    there is none. What ``corrects`` it has a number or a name in their place, as it has."""
    words = text.rstrip(_END).split()
    for said in reversed(before):
        others = said.text.rstrip(_END).split()
        if said.speaker != sentence.speaker or "?" in said.text:
            continue
        lowered = zip(map(str.lower, words), map(str.lower, others), strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], lowered))
        if not (_FEWEST_SAME <= same < len(others) and same < len(words) <= same + _MOST_OTHER):
            continue
        ends = (" ".join(words[same:]), " ".join(others[same:]))
        if not corrects or all(map(_VALUE.search, ends)):
            return said.text
    return ""


_VALUE: Final = re.compile(r"\d|\b[A-Z]")
_FEWEST_SAME: Final = 2
_MOST_OTHER: Final = 3
"""Words at the beginning and at the end of a sentence that is said again with another value."""


def _amended(
    rule: _Rule, parts: Mapping[str, str], sentence: Said, before: Sequence[Said]
) -> Change | None:
    """The latest sentence before that has what the new value takes the place of."""
    new, old = parts["new"], parts.get("old", "")
    topic = [word for word in parts.get("thing", "").split()[-1:] if not _PRONOUN.fullmatch(word)]
    asserted = [said for said in reversed(before) if "?" not in said.text]
    own = [said for said in asserted if said.speaker == sentence.speaker]
    others = [said for said in asserted if said.speaker != sentence.speaker]
    for said in (*own, *(each for each in others if not _PERSONS.search(each.text))):
        if topic and not re.search(rf"\b{re.escape(topic[0])}\b", said.text, re.IGNORECASE):
            continue
        if (text := _with_value(said.text, new, old)) and text != said.text:
            means = f"{text.rstrip('.! ')}."  # "3 pm." may end the sentence
            return Change((means,), was=said.text, corrects=rule.corrects)
    return None


def _with_value(text: str, new: str, old: str) -> str | None:
    """A text with a new value in the place of the old one, or of its last part of the same kind;
    None if it has none."""
    spans = [found.span() for found in _matches(text, new, old)]
    if not spans:
        return None
    start, end = spans[-1]
    unit = _UNIT.match(text, end)
    if unit and _UNIT.search(new):
        end = unit.end()
    if text[start] in "$€£" and new[0].isdigit():
        start += 1
    return text[:start] + new + text[end:]


def _matches(text: str, new: str, old: str) -> list[re.Match[str]]:
    """The parts of a text that are the old value, or values of the kind of the new one."""
    if old:
        return list(re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", text, re.IGNORECASE))
    for kind in (_DATE, _CLOCK):
        if kind.fullmatch(new):
            return list(kind.finditer(text))
    number = _NUMBER.match(new)
    if number and (number.end() == len(new) or _UNIT.fullmatch(new, number.end())):
        dated = [found.span() for kind in (_DATE, _CLOCK) for found in kind.finditer(text)]
        return [
            found
            for found in _NUMBER.finditer(text)
            if not any(start <= found.start() < end for start, end in dated)
        ]
    if new[0].isupper():
        return list(_NAME.finditer(text))
    # "oat milk" takes the place of "soy milk".
    head = new.rsplit(maxsplit=1)[-1]
    return list(re.finditer(rf"(?<!\w)\w+ {re.escape(head)}(?!\w)", text, re.IGNORECASE))


# Sentences out of the parts of others.

_ENDS_IN_S: Final = re.compile(r"(?<![sui])s$")


def _sentences(templates: Sequence[str], parts: Mapping[str, str]) -> Iterator[str]:
    """The sentences that templates of a rule make of the parts of another one."""
    values = dict(parts)
    thing = values.get("thing", "")
    if thing.lower() in ("i", "we"):
        thing = values["thing"] = thing.capitalize() if thing.lower() == "we" else "I"
    last = thing.lower().split()[-1:] or [""]
    is_plural = last[0] in ("we", "you", "they") or bool(_ENDS_IN_S.search(last[0]))
    values["be"] = "am" if thing == "I" else "are" if is_plural or " and " in thing else "is"
    values["s"] = "" if thing == "I" or is_plural else "s"
    if "old" in values:
        old = values["old"]
        values["state"] = f"{values['be']}{old[2:]}" if old.startswith("be ") else old
    if "new" in values and "old" in values:
        values["old"] = _with_unit(values["old"], values["new"])
    values["at"] = _before_value(values.get("new", ""))
    values["in"] = "" if _PREPOSITION.match(values.get("new", "")) else "in "
    if "clause" in values:
        clause = _CONTRACTED.sub(" is", values["clause"])
        values["clause"] = re.sub(r"^(?:it|he|she|they)\b", thing, clause, flags=re.IGNORECASE)
    if "instead" in values:
        values["turned"] = _turned(values["said"], values["instead"])
    for template in templates:
        needed = re.findall(r"\{(\w+)\}", template)
        if all(name in values for name in needed):
            text = template.format_map(values)
            yield f"{text[0].upper()}{text[1:]}."


def _with_unit(old: str, new: str) -> str:
    """An old value with the unit that it shares with the new one: "from 700 to 760 euros"."""
    if not _NUMBER.fullmatch(old):
        return old
    sign = new[0] if new[0] in "$€£" and old[0] not in "$€£" else ""
    unit = _UNIT.search(new)
    return f"{sign}{old}{unit[0] if unit else ''}"


def _before_value(value: str) -> str:
    """The preposition before a date or a time."""
    if _CLOCK.fullmatch(value):
        return "at "
    if not _DATE.fullmatch(value) or value.lower().startswith(
        ("next", "tomorrow", "the following")
    ):
        return ""
    return "on " if re.search(r"\d|day\b", value.lower()) else "in "


def _turned(said: str, instead: str) -> str:
    """What is so where something is not: "live in Rome", "in Milan" → "live in Milan"."""
    words = said.split()
    first = instead.split(maxsplit=1)[0].lower()
    lowered = [word.lower() for word in words]
    if first in lowered:
        return " ".join([*words[: lowered.index(first)], instead])
    at = max((i for i, word in enumerate(words) if _PREPOSITION.fullmatch(word)), default=-1)
    return " ".join([*words[: at + 1], instead])


def _answer(sentence: Said, bare: str, before: Sequence[Said]) -> Change | None:
    """What a short answer means, by the question just before it."""
    asked = before[-1] if before else None
    if asked is None or asked.speaker == sentence.speaker:
        return None
    question = _LEADING.sub("", asked.text.strip(), count=1)
    yes, no = _YES.fullmatch(bare), _NO.fullmatch(bare)
    if _FIRST_PERSON.search(question) or len(question) > _LONGEST:
        return None
    for rule in _rules("questions"):
        is_whether = rule.denies is not None
        parts = rule.parts(question.rstrip("?.! "))
        if (
            parts is None
            or is_whether != bool(yes or no)
            or not (is_whether or question[-1:] == "?")
        ):
            continue
        parts["new"] = _LEADING.sub("", bare, count=1)
        own = [said.text for said in before if said.speaker == sentence.speaker]
        topic = _TOPIC.search(own[-1]) if own else None
        parts["topic"] = topic[0] if topic else "me"
        templates = rule.denies if no and rule.denies is not None else rule.means
        return Change(tuple(map(_swapped, _sentences(templates, parts))))
    return None


_SWAPS: Final = {_pattern(words): person for words, person in _TABLE["swaps"].items()}


def _swapped(text: str) -> str:
    """A question's words in the mouth of who answers."""
    for pattern, person in _SWAPS.items():
        text = pattern.sub(person, text)
    return f"{text[0].upper()}{text[1:]}"
