"""A passage as coreference sees it: its tokens in one row, and the names among them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from spacy.symbols import ADJ, ADP, AUX, NOUN, PRON, PROPN, VERB

from recallm.english.concepts import ConceptPlace
from recallm.english.plain_reading import ReadText
from recallm.english.sentences import Span
from recallm.english.word_lists import read_table, word_set
from recallm.english.words import Word
from recallm.ground.forking import cached_property
from recallm.model import ConceptMention

WORDS: Final[dict[str, dict[str, frozenset[str]]]] = {
    table: {key: word_set(words) for key, words in lists.items()}
    for table, lists in read_table("data/coreference/words.toml").items()
}
"""The lists of ``data/coreference/words.toml``; comments there say what each holds."""


def by_word(table: str) -> dict[str, Any]:
    """The words of a table, each with the name of the list in which it stands."""
    return {word: name for name, words in WORDS[table].items() for word in words}


SUBJECT: Final = frozenset({"nsubj", "nsubj:pass", "nsubj:outer", "nsubjpass", "csubj"})
OBJECT: Final = frozenset({"obj", "iobj", "dobj", "dative"})
_INNER: Final = frozenset(
    {"flat", "compound", "amod", "det", "punct", "nummod", "case", "goeswith", "fixed", "list"}
)
"""Relations of words inside of a name, under its head."""
_POSSESSIVE_MARKS: Final = frozenset({"'s", "’s", "'", "’"})
_PREPOSITIONS: Final = ("of", "with", "by", "to", "in", "for", "from")
VOCATIVE: Final = "vocative"
_GREETINGS: Final = WORDS["words"]["greetings"]
_LONGEST_GREETING: Final = 4
_LONGEST_LIST: Final = 3
"""Tokens between two names of a coordination."""
_NEAR: Final = 3
"""Tokens before a name in which a title or a relation describes it."""


class Name(NamedTuple):
    """A name in a passage: the concept, its tokens, and what its surroundings tell of it.

    ``role`` is the relation of its head, for a member of a coordination that of the first member.
    ``kind`` is the recogniser's type ("PER", "ORG", "LOC", "" where it gave none). ``female`` is
    the share of women among those whom name and titles can describe. ``surroundings`` are features
    of the words around it.
    """

    place: ConceptPlace
    first: int
    last: int
    head: int
    sentence: int
    role: str
    kind: str
    female: float
    is_gender_known: bool
    surroundings: dict[str, bool]


class TextRead:
    """A passage as coreference sees it: the tokens of its blocks in one row, and its names.

    ``id`` is that of an earlier passage, None for the passage whose anaphors are resolved.
    ``speaker`` is the concept of who says it. ``referred`` are the concepts that it mentions by
    pronoun, each with the pronoun, where an earlier call resolved them.
    """

    def __init__(
        self,
        read: ReadText,
        *,
        id: str | None = None,
        speaker: ConceptMention | None = None,
        referred: Sequence[tuple[ConceptMention, str]] = (),
    ) -> None:
        self.id = id
        self.speaker = speaker
        self.referred = referred
        self.text = read.text
        self._read = read
        self.words: list[Word] = []
        self.tags: list[int] = []
        self.roles: list[str] = []
        self._block_starts: list[int] = []
        for block in read.blocks:
            tagged = block.tagged
            self._block_starts.append(len(self.words))
            self.words.extend(tagged.words)
            self.tags.extend(tagged.tags)
            self.roles.extend(tagged.roles or [""] * len(tagged.words))
        self.sentence_starts = [
            self._block_starts[sentence.block] + sentence.tokens[0] for sentence in read.sentences
        ]
        self._sentence_ends = [*self.sentence_starts[1:], len(self.words)]

    def sentence_of(self, token: int) -> int:
        """The sentence of a token, counted from the passage's beginning."""
        return max(0, bisect_right(self.sentence_starts, token) - 1)

    def sentence_span(self, sentence: int) -> Span:
        """The tokens of a sentence."""
        first = self.sentence_starts[sentence] if sentence else 0
        return first, self._sentence_ends[sentence]

    @cached_property
    def starts(self) -> list[int]:
        """The first characters of the tokens."""
        return [block.start + start for block in self._read.blocks for start in block.tagged.starts]

    @cached_property
    def names(self) -> list[Name]:
        """The names of the passage in textual order."""
        found: list[Name] = []
        kinds = [{entity[0]: entity[2] for entity in block.entities} for block in self._read.blocks]
        for sentence in self._read.sentences:
            offset = self._block_starts[sentence.block]
            for place in sentence.places:
                if place.is_name:
                    span = (offset + place.token, offset + place.end)
                    kind = kinds[sentence.block].get(place.token, "")
                    found.append(name_of_span(self, place, span, kind, found))
        return found


def name_of_span(
    text: TextRead, place: ConceptPlace, span: Span, kind: str, before: Sequence[Name]
) -> Name:
    """What is known of a name at a range of tokens; ``before`` are the names before it."""
    first, last = span
    roles = text.roles
    sentence = text.sentence_of(first)
    head = _head(text, span, sentence)
    role = roles[head]
    is_joined = False
    if before and before[-1].sentence == sentence and 0 < first - before[-1].last <= _LONGEST_LIST:
        between = {word.lowered for word in text.words[before[-1].last : first]}
        if between <= {",", "and", "or", "&"} and (role == "conj" or "," not in between):
            is_joined = True
            role = before[-1].role
    in_apposition = role == "appos"
    if in_apposition:
        role = _role_before(text, first, sentence) or role
    if last < len(text.words) and text.words[last].lowered in _POSSESSIVE_MARKS:
        role = "nmod:poss"
    if _is_addressed(text, span, sentence):
        role = VOCATIVE
    female, is_known = _gender(text, span)
    return Name(
        place=place,
        first=first,
        last=last,
        head=min(head, last - 1),
        sentence=sentence,
        role=role,
        kind=kind,
        female=female,
        is_gender_known=is_known,
        surroundings={
            "in apposition": in_apposition,
            "coordinated": is_joined,
            "first name known": is_known,
            "first of the passage": not before,
            **_surroundings(text, span, sentence),
        },
    )


def _surroundings(text: TextRead, span: Span, sentence: int) -> dict[str, bool]:
    first, last = span
    start, end = text.sentence_span(sentence)
    behind = text.words[last].lowered if last < end else ""
    found = {
        "possessive mark": behind in _POSSESSIVE_MARKS,
        "and behind": behind == "and",
        "first of its sentence": first - start <= 1,
    }
    before = text.words[first - 1].lowered if first > start else ""
    if before and text.tags[first - 1] == ADP:
        found[f"behind {before if before in _PREPOSITIONS else 'other'}"] = True
    return found


def _is_addressed(text: TextRead, span: Span, sentence: int) -> bool:
    """Whether only a greeting stands before a name, and a mark behind it: "Thanks, Ann!"."""
    first, last = span
    start = text.sentence_span(sentence)[0]
    if first - start > _LONGEST_GREETING:
        return False
    before = [word.lowered for word in text.words[start:first]]
    return (
        bool(before)
        and before != [","]
        and all(word == "," or word in _GREETINGS for word in before)
        and last < len(text.words)
        and text.words[last].lowered in ",.!?"
    )


def _head(text: TextRead, span: Span, sentence: int) -> int:
    """The token whose role is that of a name: its first that is no inner part of it, else the noun
    beside it of which it is a part ("Justice Alito", "the Baker family")."""
    first, last = span
    start, end = text.sentence_span(sentence)
    beside: tuple[int, ...] = (
        *range(first, last),
        *range(first - 1, max(start, first - _NEAR) - 1, -1),
        *range(last, min(end, last + _NEAR)),
    )
    for i in beside:
        if not first <= i < last and text.tags[i] not in (NOUN, PROPN, ADJ):
            continue
        if text.roles[i].split(":")[0] not in _INNER:
            return i
    return last - 1


def _role_before(text: TextRead, first: int, sentence: int) -> str:
    """The role of the noun phrase that an apposition describes."""
    for i in range(first - 1, max(text.sentence_span(sentence)[0], first - 8) - 1, -1):
        if text.tags[i] in (NOUN, PROPN, PRON) and text.roles[i] not in ("appos", "nmod:poss"):
            return text.roles[i]
    return ""


def _gender(text: TextRead, span: Span) -> tuple[float, bool]:
    """The share of women among those whom a name can describe, and whether anything tells it:
    titles and relations before the name, then its first name."""
    first, last = span
    words = text.words
    for i in range(first, last):
        if (share := _GENDER_OF_WORD.get(words[i].lowered)) is not None:
            return share, True
    for i in range(first - 1, max(-1, first - 1 - _NEAR), -1):
        lowered = words[i].lowered
        if (share := _GENDER_OF_WORD.get(lowered)) is not None:
            return share, True
        if text.tags[i] in (VERB, AUX, ADP) or lowered in (".", "and", "'s", "’s"):
            break
    share = _shares().get(words[first].lowered)
    return (_UNKNOWN_SHARE, False) if share is None else (share, True)


# The gender of first names.

_UNKNOWN_SHARE: Final = 0.5
_GENDER_OF_WORD: Final[dict[str, float]] = {
    **dict.fromkeys(WORDS["beside_names"]["female"], 1.0),
    **dict.fromkeys(WORDS["beside_names"]["male"], 0.0),
}
"""The share of women among those whom a title or a relation can describe: 1 or 0."""


@cache
def _shares() -> dict[str, float]:
    return {
        name: int(tenths) / 10
        for tenths, names in read_table("data/coreference/name_genders.toml")["names"].items()
        for name in names.split()
    }
