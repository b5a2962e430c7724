"""Anaphors: the pronouns and the short definite noun phrases that may stand for a name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from spacy.symbols import ADJ, ADV, AUX, DET, NOUN, PRON, PROPN, VERB

from recallm.english.coreference.passage import OBJECT, SUBJECT, TextRead
from recallm.english.coreference.words import WORDS, by_word

Kind = Literal["he", "she", "it", "they", "phrase"]
Case = Literal["subject", "object", "possessive", "reflexive"]

_KIND_OF_PRONOUN: Final[dict[str, Kind]] = by_word("pronouns")
_CASE_OF_PRONOUN: Final[dict[str, Case]] = by_word("cases")
_PHRASE_NOUNS: Final = frozenset().union(*WORDS["nouns"].values())
_FOLLOWED_BY_NOUN: Final = frozenset({NOUN, PROPN, ADJ})
_COMPLEMENTS: Final = frozenset({"that", "to", "for", "if", "when", "how", "what", "whether", "-"})
_JUDGING_REACH: Final = 5


class Anaphor(NamedTuple):
    """A pronoun or a definite noun phrase: its tokens, what it can stand for, and its case.

    ``noun`` is the phrase's noun, empty for a pronoun.
    """

    first: int
    last: int
    kind: Kind
    case: Case
    noun: str = ""


def anaphors(text: TextRead) -> Iterator[Anaphor]:
    """The anaphors of a passage in textual order."""
    for i, word in enumerate(text.words):
        lowered = word.lowered
        if (lowered in _KIND_OF_PRONOUN or lowered == "the") and (found := read_anaphor(text, i)):
            yield found


def has_anaphors(text: TextRead) -> bool:
    """Whether a passage has an anaphor."""
    return next(anaphors(text), None) is not None


def read_anaphor(text: TextRead, i: int) -> Anaphor | None:
    """The anaphor that begins at a token, None if there is none."""
    lowered = text.words[i].lowered
    if lowered == "the":
        return _phrase(text, i)
    if (kind := _KIND_OF_PRONOUN.get(lowered)) is None or text.words[i].is_acronym:
        return None
    case = _CASE_OF_PRONOUN[lowered]
    following = text.tags[i + 1] if i + 1 < len(text.words) else 0
    if lowered == "her":
        case = "possessive" if _is_possessive(text, i) else "object"
    elif lowered == "it":
        if _stands_for_nothing(text, i):
            return None
        case = "subject" if text.roles[i] in SUBJECT or following in (VERB, AUX) else "object"
    return Anaphor(i, i + 1, kind, case)


def _is_possessive(text: TextRead, i: int) -> bool:
    """Whether "her" says whose, in place of whom."""
    if text.roles[i].startswith(("nmod:poss", "det:poss")):
        return True
    if text.roles[i] in OBJECT or text.roles[i].startswith("obl"):
        return False
    return i + 1 < len(text.words) and text.tags[i + 1] in _FOLLOWED_BY_NOUN


def _stands_for_nothing(text: TextRead, i: int) -> bool:
    """Whether an "it" is one of weather, of judgement or of extraposition."""
    if text.roles[i] == "expl":
        return True
    verbs = WORDS["verbs"]
    words = text.words[i + 1 : i + 1 + _JUDGING_REACH]
    if not words or text.roles[i] in OBJECT:
        return False
    behind = [
        word.lowered
        for word, tag in zip(words, text.tags[i + 1 :], strict=False)
        if tag not in (AUX, ADV, DET)
    ]
    if words[0].lowered in verbs["without_antecedent"]:
        return True
    return (
        text.tags[i + 1] == AUX
        and bool(behind)
        and behind[0] in verbs["judging"] | verbs["without_antecedent"]
        and (len(behind) < 2 or not behind[1].isalpha() or behind[1] in _COMPLEMENTS)
    )


def _phrase(text: TextRead, i: int) -> Anaphor | None:
    """A phrase of "the" and one noun, with nothing behind it that says which one is meant."""
    noun = i + 1
    if (
        noun >= len(text.words)
        or text.tags[noun] != NOUN
        or (lowered := text.words[noun].lowered) not in _PHRASE_NOUNS
    ):
        return None
    if noun + 1 < len(text.words):
        following = text.words[noun + 1].lowered
        if text.tags[noun + 1] in (NOUN, PROPN, PRON) or following in (
            "of",
            "-",
            "that",
            "which",
            "who",
            "where",
            "for",
            "called",
            "named",
        ):
            return None
    role = text.roles[noun]
    if role in SUBJECT:
        case: Case = "subject"
    elif noun + 1 < len(text.words) and text.words[noun + 1].lowered in ("'s", "’s"):
        case = "possessive"
    else:
        case = "object"
    return Anaphor(i, noun + 1, "phrase", case, lowered)
