"""Anaphors, the pronouns that may stand for a name; and the discourse before an anaphor: whom the
anaphor can stand for, the newest first.

A **referent** is what one or more names mean: "Ingrid Meyer", and then "Ingrid". A discourse is
read from left to right: first the earlier passages, then this one, name by name and anaphor by
anaphor. A resolved anaphor is a mention of its referent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal, NamedTuple

from spacy.symbols import ADJ, NOUN, PROPN

from recallm.english.coreference.passage import VOCATIVE, Name, TextRead, by_word
from recallm.model import ConceptMention

Kind = Literal["he", "she"]
Case = Literal["subject", "object", "possessive", "reflexive"]

_KIND_OF_PRONOUN: Final[dict[str, Kind]] = by_word("pronouns")
_CASE_OF_PRONOUN: Final[dict[str, Case]] = by_word("cases")
_AFTER_POSSESSIVE: Final = frozenset({NOUN, PROPN, ADJ})
"""The tags of a word behind "her" with which "her" is a possessive ("her sister")."""


class Anaphor(NamedTuple):
    """A pronoun: its token, whom it can stand for, and its case."""

    token: int
    kind: Kind
    case: Case


def anaphors(text: TextRead) -> Iterator[Anaphor]:
    """The anaphors of a passage in textual order."""
    for i, word in enumerate(text.words):
        lowered = word.lowered
        if (kind := _KIND_OF_PRONOUN.get(lowered)) is not None and not word.is_acronym:
            case = _CASE_OF_PRONOUN[lowered]
            if lowered == "her":
                says_whose = not _AFTER_POSSESSIVE.isdisjoint(text.tags[i + 1 : i + 2])
                case = "possessive" if says_whose else "object"
            yield Anaphor(i, kind, case)


# The discourse.

MAX_CANDIDATES: Final = 16
"""Referents that an anaphor is compared with."""

_MOST_COMPARED: Final = 4 * MAX_CANDIDATES
"""Referents among which those candidates are looked for."""
_NAMES_OF_EARLIER: Final = 16
"""Names, and anaphors, that are read of the end of an earlier passage."""
_NAMES_AHEAD: Final = 4
"""Names behind an anaphor that it may stand for ("When she arrived, Ann ...")."""
_SENTENCES_AHEAD: Final = 1


@dataclass(eq=False, slots=True)
class Referent:
    """What names and resolved anaphors mean, up to a place in the discourse.

    ``last`` is its newest name, ``back`` says how many passages ago that is, ``sentence`` is its
    sentence: those of the passage are counted from 0, those before it downward from -1.
    ``anaphor`` is the newest anaphor that was resolved to it in this passage. ``total`` counts its
    names in the whole passage.
    """

    words: frozenset[str] = frozenset()
    last: Name | None = None
    back: int = 0
    sentence: int = -99
    count: int = 0
    earlier_count: int = 0
    total: int = 0
    anaphor: Anaphor | None = None
    anaphor_count: int = 0
    subject_sentence: int = -99
    female: float = 0.5
    gender_known: bool = False
    kind: str = ""
    is_speaker: bool = False
    is_listener: bool = False
    spelled: dict[int, tuple[ConceptMention, ...]] = field(default_factory=dict)
    """The longest spelling in each passage, by how many passages ago, with the parts of the name;
    if no passage read here spells it, the mention of one that refers to it."""


Candidate = tuple[Referent, Name | None]
"""A referent, and its next name shortly behind the anaphor."""


class Discourse:
    """The referents of a passage and of the passages before it."""

    def __init__(self, text: TextRead, earlier: Sequence[TextRead]) -> None:
        self.text = text
        self._newest: dict[Referent, None] = {}  # in the order in which they were last mentioned
        self._by_name: dict[str, Referent] = {}
        self._by_part: dict[str, Referent] = {}
        self._read = 0
        self._first_sentence = -sum(len(passage.sentence_starts) for passage in earlier)
        for back, passage in zip(range(len(earlier), 0, -1), earlier, strict=True):
            self._read_earlier(passage, back)
            self._first_sentence += len(passage.sentence_starts)
        self._listeners(earlier)
        # What each of the passage's names refers to.
        self.referents = [self._find(name, 0) for name in text.names]
        for referent in self.referents:
            referent.total += 1

    def advance(self, token: int) -> None:
        """Mention the names before a token."""
        names = self.text.names
        while self._read < len(names) and names[self._read].first < token:
            self._mention(self.referents[self._read], names[self._read], 0)
            self._read += 1

    def refer(self, anaphor: Anaphor, referent: Referent) -> None:
        """Mention a referent by an anaphor."""
        referent.anaphor = anaphor
        referent.anaphor_count += 1
        self._to_front(referent)

    def candidates(self, anaphor: Anaphor) -> Iterator[Candidate]:
        """The referents that an anaphor may stand for: those before it, the newest first, each with
        its next name shortly behind the anaphor, then those that only follow."""
        ahead = dict(reversed(list(self._ahead(anaphor))))
        before = (
            referent
            for referent in islice(reversed(self._newest), _MOST_COMPARED)
            if not self._takes_part(referent)
        )
        for referent in islice(before, MAX_CANDIDATES):
            yield referent, ahead.pop(referent, None)
        for referent, name in reversed(ahead.items()):
            is_new = not (referent.count or referent.earlier_count)
            if is_new and not self._takes_part(referent):
                yield referent, name

    @staticmethod
    def _takes_part(referent: Referent) -> bool:
        """Whether a referent is "I" or "you" ("Thanks, Ann!"): a third person is another, unless
        the passage speaks of its speaker by name."""
        if referent.last is not None and referent.last.role == VOCATIVE:
            return True
        return referent.is_listener or (referent.is_speaker and not referent.total)

    def _ahead(self, anaphor: Anaphor) -> Iterator[tuple[Referent, Name]]:
        names = self.text.names
        furthest = self.text.sentence_of(anaphor.token) + _SENTENCES_AHEAD
        for i in range(self._read, min(len(names), self._read + _NAMES_AHEAD)):
            if names[i].sentence > furthest:
                break
            if names[i].first > anaphor.token:
                yield self.referents[i], names[i]

    def _read_earlier(self, passage: TextRead, back: int) -> None:
        if passage.speaker is not None:
            self._of_speaker(passage.speaker, back)
        for name in passage.names[-_NAMES_OF_EARLIER:]:
            self._mention(self._find(name, back), name, back)
        for mention, pronoun in passage.referred[-_NAMES_OF_EARLIER:]:
            referent = self._by_name.get(mention.name) or self._by_part.get(mention.name)
            if referent is None:
                referent = self._new(mention.name, frozenset(mention.name.split()))
                referent.spelled[back] = (mention,)
                referent.kind = "PER"
            if (kind := _KIND_OF_PRONOUN.get(pronoun.lower())) is not None:
                referent.female, referent.gender_known = float(kind == "she"), True
            referent.earlier_count += 1
            referent.back = back
            referent.sentence = self._first_sentence + len(passage.sentence_starts) - 1
            self._to_front(referent)

    def _of_speaker(self, speaker: ConceptMention, back: int) -> Referent:
        referent = self._by_name.get(speaker.name)
        if referent is None:
            referent = self._new(speaker.name, frozenset(speaker.name.split()))
        referent.spelled.setdefault(back, (speaker,))
        return referent

    def _listeners(self, earlier: Sequence[TextRead]) -> None:
        """Mark who speaks, and in a conversation of two who listens."""
        if self.text.speaker is None:
            return
        own = self.text.speaker.name
        others = {passage.speaker.name for passage in earlier if passage.speaker} - {own}
        if (speaker := self._by_name.get(own)) is None:
            speaker = self._of_speaker(self.text.speaker, 0)
        speaker.is_speaker = True
        if len(others) == 1:
            self._by_name[others.pop()].is_listener = True

    def _find(self, name: Name, back: int) -> Referent:
        """The referent of a name: that of the same name, else the newest one of whose names it is a
        part, or whose name is a part of it."""
        mention = name.place.concept
        words = frozenset(mention.name.split())
        referent = self._by_name.get(mention.name)
        if referent is None and len(words) == 1:
            referent = self._by_part.get(mention.name)
        elif referent is None:
            referent = next(
                (
                    found
                    for word in mention.name.split()
                    if (found := self._by_part.get(word))
                    and (found.words <= words or words <= found.words)
                ),
                None,
            )
        # A surname may be a first name of the other gender: "Hillary Clinton", and then "Clinton".
        tells_gender = referent is None or words >= referent.words or not referent.gender_known
        if referent is None:
            referent = self._new(mention.name, words)
        elif len(words) > len(referent.words):
            referent.words = words
        self._by_name[mention.name] = referent
        for word in words:
            self._by_part[word] = referent
        longest = referent.spelled.get(back)
        if longest is None or len(longest[0].name) < len(mention.name):
            referent.spelled[back] = (mention, *name.place.parts)
        if tells_gender and (name.is_gender_known or not referent.gender_known):
            referent.female, referent.gender_known = name.female, name.is_gender_known
        referent.kind = referent.kind or name.kind
        return referent

    def _new(self, name: str, words: frozenset[str]) -> Referent:
        referent = Referent(words=words)
        self._by_name[name] = referent
        for word in words:
            self._by_part.setdefault(word, referent)
        return referent

    def _mention(self, referent: Referent, name: Name, back: int) -> None:
        referent.last = name
        referent.back = back
        referent.sentence = self._first_sentence + name.sentence
        if back:
            referent.earlier_count += 1
        else:
            referent.count += 1
        if name.role.startswith("nsubj"):
            referent.subject_sentence = referent.sentence
        self._to_front(referent)

    def _to_front(self, referent: Referent) -> None:
        self._newest.pop(referent, None)
        self._newest[referent] = None
