"""What of a conversation takes a place in a context: no small talk, and no question by itself.

* **Small talk** (``recallm.recall.ranking.replies``) takes no place, unless the question asks for
  greetings, thanks or praise.
* **Questions** that were asked in a conversation say nothing by themselves, and whoever asks the
  same again finds their own words first. A question takes a place only with its answer, where that
  is short; of those that repeat the present question only one does, and at most a fifth of the
  statements are questions, but for that of the best answer. Whoever asks for questions ("What did
  Ann ask?") gets them all.
* **Empty replies** say in other words that the answer is not known ("I have no budget for Lisbon on
  record"), or repeat the question. To "what", "how many" and the like only a new word answers.

Where nothing else matches, all of these are recalled like other statements.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from recallm.model import StoredStatement, Trait, content_terms
from recallm.recall.ranking.candidates import Candidates

_REACH = 8
"""An answer stands at most this many statements behind its question."""

_SHORT = 6
"""An answer of at most 6 content words may need its question to be understood."""


_MOST_OTHER_WORDS = 2
"""Who says that something is not known says at most 2 words of the question in other words."""

_LOOKED_AT = 2
"""Equal statements and questions take no place either: twice as many are looked at as wanted."""

_OTHERS = 4
"""A context has at least 4 other statements for each question: a fifth are questions at most."""

_NEW = int(Trait.NUMBER | Trait.TIME)


class Placed(NamedTuple):
    """The places that may be recalled, best first, and by the place of an answer that of the
    question that may stand with it."""

    order: tuple[int, ...]
    questions: Mapping[int, int]


def placed(order: Sequence[int], candidates: Candidates, *, wanted: int) -> Placed:
    """What of ``order`` takes a place, as the top of this module says. A context holds at most
    ``wanted`` statements: what is far behind them is not looked at for small talk."""
    question = candidates.question
    everything = Placed(order=tuple(order), questions={})
    asked = {*question.terms, *question.words}
    if question.tokens:  # asks for exact words
        return everything
    left_out: set[int] = set()
    if asked.isdisjoint(WORDS["stems_of_courtesy"]):
        left_out |= _small_talk(order, candidates, wanted)
    if not asked.isdisjoint(WORDS["wh_stems"]) and not question.asks_all:
        left_out |= _empty_replies(order, candidates, asked)
    questions: dict[int, int] = {}
    if asked.isdisjoint(WORDS["stems_of_questions"]):
        asks = candidates.traits & Trait.QUESTION.value
        asking = [place for place in order if asks[place]]
        left_out.update(asking)
        answers = [place for place in order if place not in left_out]
        questions = _with_short_answers(asking, answers, candidates, asked)
    rest = tuple(place for place in order if place not in left_out)
    return Placed(order=rest, questions=questions) if rest else everything


def of_best_answers(
    questions: Mapping[int, int], order: Sequence[int], wanted: int
) -> dict[int, int]:
    """The ``questions`` that stand with the best answers (by their places): at most one for each
    four others of ``order``, and a fifth of ``wanted`` statements. That of the best statement
    always stands."""
    answers = [place for place in order if place in questions]
    most = min(len(order) // _OTHERS, wanted // (_OTHERS + 1))
    most = max(most, int(answers[:1] == [*order[:1]]))
    return {place: questions[place] for place in answers[:most]}


def _with_short_answers(
    asking: Sequence[int], answers: Sequence[int], candidates: Candidates, asked: AbstractSet[str]
) -> dict[int, int]:
    """By the place of a short answer that of its question. Of the questions that repeat the present
    one in other words only the one with the best answer is there."""
    keys = {candidates.statements[place].key: place for place in answers}
    questions: dict[int, int] = {}
    for place in asking:
        answer = _answer(candidates.statements[place], candidates, keys)
        if answer is not None:
            questions[answer] = max(place, questions.get(answer, place))
    in_order = [place for place in answers if place in questions]
    repeating = [
        place for place in in_order if _mostly(candidates.statements[questions[place]], asked)
    ]
    return {place: questions[place] for place in in_order if place not in repeating[1:]}


def _small_talk(order: Sequence[int], candidates: Candidates, wanted: int) -> set[int]:
    speakers = {statement.speaker_concept for statement in candidates.read}
    names = {word for speaker in speakers if speaker is not None for word in speaker.split(" ")}
    found: set[int] = set()
    for rank, place in enumerate(order):
        if rank - len(found) > _LOOKED_AT * wanted:
            break
        statement = candidates.statements[place]
        previous = candidates.context.get(statement.previous or -1)
        if (
            Trait.QUESTION not in statement.traits
            and statement.key not in candidates.facts
            and is_small_talk(
                statement,
                names=names,
                answers=previous is not None and Trait.QUESTION in previous.traits,
            )
        ):
            found.add(place)
    return found


def _answer(
    question: StoredStatement, candidates: Candidates, answers: Mapping[int, int]
) -> int | None:
    """The place of the short answer to a recalled question: the first of ``answers`` (places by
    key) that stands behind it, by another speaker where speakers are known; None where that is
    not short, or not there."""
    row: StoredStatement | None = question
    for _ in range(_REACH):
        row = candidates.context.get(row.next) if row is not None and row.next is not None else None
        if row is None:
            return None
        is_reply = question.speaker is None or row.speaker != question.speaker
        if is_reply and row.key in answers:
            return answers[row.key] if row.length <= _SHORT else None
    return None


def _mostly(statement: StoredStatement, stems: AbstractSet[str]) -> bool:
    """Whether at least half of a statement's content words are among ``stems``."""
    terms = content_terms(statement.terms)
    return 2 * sum(term in stems for term in terms) >= len(terms)


def _empty_replies(
    order: Sequence[int], candidates: Candidates, asked: AbstractSet[str]
) -> set[int]:
    """Replies to earlier questions like the present one that hold no answer."""
    if WORDS["negations"] & set(candidates.question.words):
        return set()
    found = set()
    for place in order:
        statement = candidates.statements[place]
        before = candidates.context.get(statement.previous or -1)
        if before is None or Trait.QUESTION not in before.traits or int(statement.traits) & _NEW:
            continue
        if asked.isdisjoint(before.terms) or asked.isdisjoint(statement.terms):
            continue
        stems = set(content_terms(statement.terms))
        new = stems - {*asked, *before.terms}
        if Trait.NEGATION in statement.traits:
            unknown = WORDS["stems_of_not_knowing"]
            if stems.isdisjoint(unknown) or len(new - unknown) > _MOST_OTHER_WORDS:
                continue  # "I have no car" is an answer
        elif new:
            continue
        found.add(place)
    return found


# Small talk and changes.


WORDS = {
    name: frozenset(words.replace("\n", " ").split(", ") if "," in words else words.split())
    for name, words in tomllib.loads(
        files("recallm.recall.ranking").joinpath("data", "english.toml").read_text(encoding="utf-8")
    ).items()
}
"""The lists of words; comments in the file say what each holds."""

_COURTESIES = WORDS["courtesies"]
_REACTIONS = WORDS["reactions"]
_ANSWERS = WORDS["answers"]
_PRONOUNS = WORDS["others"]
_BEFORE_ACKNOWLEDGEMENT = _COURTESIES | _REACTIONS | _ANSWERS
_MOST_NAMES = 2
"""At most 2 persons are addressed; other words of content say something."""

_MOST_WORDS = 6
"""Small talk has at most 6 content words that are no filling: the names of those addressed."""

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_ADDRESSED = re.compile(
    r"(?:(?:^|,)\s*|\b(?:hey|hi|hello|thanks|bye|wow|yeah|yes|thank you)\s+)"
    r"([^\W\d_]+)(?=\s*(?:[,.!]|$))",
    re.IGNORECASE,
)
"""Whom a statement addresses: "Thanks, Deb!", "Hey Mel, …"."""

_TELLING = int(Trait.PAST | Trait.NUMBER | Trait.FUTURE)

_BEGINNINGS_OF_CHANGE = WORDS["beginnings_of_change"]
_WORDS_OF_CHANGE = WORDS["words_of_change"]
_CHANGE = re.compile(
    rf"\b(?:{'|'.join(sorted(_BEGINNINGS_OF_CHANGE))})\w*\b"
    rf"|\b(?:{'|'.join(sorted(_WORDS_OF_CHANGE))})\b"
    r"|\b(?:any more|no longer|place of|favour of)\b|\bfrom\b.{1,80}?\bto\b",
    re.IGNORECASE,
)
_START = re.compile(r"\b\w{1,3}")
_STARTS_OF_CHANGE = frozenset(
    word[:3]
    for word in (*_BEGINNINGS_OF_CHANGE, *_WORDS_OF_CHANGE, "any", "no", "place", "favour", "from")
)
"""The first three letters of what tells a change: most texts have none of these, and are not
searched."""


def is_small_talk(statement: StoredStatement, *, names: Collection[str], answers: bool) -> bool:
    """Whether a statement is small talk. ``names`` are the stems of the names of those who talk;
    ``answers``: it stands just behind a question."""
    traits = statement.traits
    if not answers and statement.length <= _MOST_NAMES and _acknowledges(statement.text):
        return True
    if int(traits) & _TELLING:
        return False
    terms = set(content_terms(statement.terms)) - WORDS["filling_stems"]
    if len(terms) > _MOST_WORDS:  # true of most, and names are slow to compare
        return False
    stems = {term for term in terms if not any(name.startswith(term) for name in names)}
    if len(stems) > _MOST_NAMES:
        return False
    words = [word.lower().replace("\u2019", "'") for word in _WORD.findall(statement.text)]
    said = {word.partition("'")[0] for word in words}
    if not said & (_COURTESIES | _REACTIONS | _ANSWERS) or said & _PRONOUNS:
        return False
    if answers and not said & (_COURTESIES | _REACTIONS - _ANSWERS):
        return False
    if Trait.FIRST_PERSON in traits and not said & _COURTESIES:
        return False
    if Trait.NEGATION in traits and not said & (_ANSWERS | {"worries", "problem", "wait"}):
        return False
    if not stems or answers:
        return not stems
    addressed = set(_ADDRESSED.findall(statement.text))
    return stems <= {
        word
        for mention in statement.concepts
        if mention.label in addressed
        for word in mention.name.split(" ")
    }


def _acknowledges(text: str) -> bool:
    """Whether a text only says that something was heard: "OK, noted."."""
    words = [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]
    while words and words[0] in _BEFORE_ACKNOWLEDGEMENT:
        del words[0]
    return " ".join(words) in WORDS["acknowledgements"]


@lru_cache(maxsize=16_384)
def tells_change(text: str) -> bool:
    """Whether a text has words of a change."""
    if _STARTS_OF_CHANGE.isdisjoint(_START.findall(text.lower())):
        return False
    return _CHANGE.search(text) is not None
