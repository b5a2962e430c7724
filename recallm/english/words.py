"""Words: all that is known of a token by its text alone, looked up once for each word.

The tables of ``data/english.toml`` give a word its marks: what it can be in a date, which form of a
verb it is, whether it is a pronoun, a question word and so on. Other modules read the marks of the
words of a sentence together with its part-of-speech tags.

Stems are the keys by which words of the same meaning are matched: the word in lower case, in
Unicode's compatibility form without accents ("José" → "jose"), cut by Porter's algorithm of 1980
(the paper, Knowledge Update, uses NLTK's). As in Porter's own program, words of one or two letters
stay as they are. Acronyms are not cut: "GPS" and "GP" are two concepts. Capitals alone make no
acronym, since people write them for emphasis: "PARIS" is Paris.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import Stemmer

from recallm.english.dating.phrases import HOLIDAYS, MONTHS, WEEKDAYS
from recallm.english.word_lists import ENGLISH, word_set
from recallm.ground.forking import new_lock
from recallm.model import Mark

LONGEST_WORD = 100
"""Characters; longer tokens are neither concepts nor terms."""

_MOST_WORDS = 100_000
_WRAPPING = ".,;:!?…()[]{}<>\"'’‘“”`_*~^|/\\-–—"
_DELIMITERS = frozenset(",;|")
_DOTTED = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_ID_CHARACTER = re.compile(r"[\d_./\\@:=+#&?]")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)")
_ID_PREFIXES = (".", "@", "#", "--", "/", "~/")
_LONG_NUMBER = 6
_JOINERS = re.compile(r"[-_.]+")
_ID_SEPARATORS = re.compile(r"[/\\@:=&?#]+")
_SHORTEST_ID_PART = 3
_MOST_ID_PARTS = 8
_LONGEST_CODE = 8
_SCHEMES = frozenset({"http", "https"})
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_FIRST_NON_LATIN = 0x0370


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A token's text and what follows from it alone.

    ``stem`` is the word's name as a concept and as a term. ``acronym`` is its name as a noun, name
    or number, unless the whole text is in capitals. ``verb_stem`` and ``noun_stem`` are the stems
    of the base of an irregular form ("ate", "children"), for terms; a concept is named by the form
    in the text. ``marks`` are those of ``Mark``. ``is_foreign``: it has letters beyond ASCII;
    ``is_non_latin``: it has no others.
    ``is_delimiter``: it stands between the cells of a row ("|", ";", ",").
    ``is_id``: it is written like no word of a language but like an id, a version, a file name or an
    address ("E-1042", "v2.1.3", "ann@example.com"). ``id_parts`` are further names of
    such a word, for exact tokens. ``exact`` is its name as an exact token, empty for
    punctuation.
    ``is_code_letters``: a number behind it may make it a code.
    ``character_pairs`` take the place of the term in scripts without spaces.
    """

    text: str
    lowered: str
    is_word: bool
    stem: str
    acronym: str
    verb_stem: str
    noun_stem: str
    marks: int
    is_stop_word: bool
    is_foreign: bool
    is_non_latin: bool
    is_capitalised: bool
    is_acronym: bool
    is_delimiter: bool
    is_id: bool
    id_parts: tuple[str, ...]
    exact: str
    is_code_letters: bool
    character_pairs: tuple[str, ...] | None


_NUMERAL = re.compile(r"\d[\d.,:/]*")
_YEAR = re.compile(r"[12]\d{3}s?|['’]?\d0s|['’]\d\d")
_DATE = re.compile(r"\d{1,4}[/.-]\d{1,2}[/.-]\d{2,4}|\d{1,2}/\d{1,2}|\d{4}-\d\d-\d\dt[\d:.z+-]*")
# "3.50" is a price or a measure far more often than a time: only a colon or am/pm tells.
_CLOCK_TIME = re.compile(
    r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?(?:[ap]\.?m\.?)?|\d{1,2}(?:\.[0-5]\d)?[ap]\.?m\.?"
)
_TIME_NUMBERS = (_YEAR, _DATE, _CLOCK_TIME)

_NOT_PAST: Final = ("eed", "embed", "shred")
_STOP_WORDS = word_set(ENGLISH["terms"]["stop_words"])


def _marks_of_words() -> dict[str, int]:
    """The marks of each word of the tables. ``english.dating`` reads what a date means; here it is
    enough that there is one."""
    marks: defaultdict[str, int] = defaultdict(int)
    for mark, words in ENGLISH["marks"].items():
        for word in words.split():
            marks[word] |= getattr(Mark, mark)
    for month in MONTHS:
        if not marks[month] & Mark.MAYBE_TIME:
            for spelling in (month, f"{month}."):
                marks[spelling] |= Mark.TIME | Mark.CLOCK
    for day in (*WEEKDAYS, *(f"{weekday}s" for weekday in WEEKDAYS), *HOLIDAYS):
        marks[day] |= Mark.TIME
    return dict(marks)


_MARKS = _marks_of_words()


@lru_cache(maxsize=_MOST_WORDS)
def word_of(text: str) -> Word:
    """What is known of a token by its text."""
    lowered = text.lower()
    bare = _bare(text)
    is_word = len(text) <= LONGEST_WORD and any(c.isalnum() for c in bare)
    like_acronym = is_like_acronym(bare)
    marks = _marks(lowered)
    if like_acronym and lowered == "us":
        marks &= ~(Mark.FIRST_PERSON | Mark.FIRST_PLURAL | Mark.PRONOUN)
    name = stem(bare) if is_word else ""
    alphabetic = is_word and bare.isalpha()
    is_id = is_word and _is_id(text, bare, marks)
    return Word(
        text=text,
        lowered=lowered,
        is_word=is_word,
        stem=name,
        acronym=name_in_capitals(bare) if is_word and like_acronym else name,
        verb_stem=name if (base := verb_base(lowered)) == lowered else stem(base),
        noun_stem=stem(SINGULARS[lowered]) if lowered in SINGULARS else name,
        marks=marks,
        is_stop_word=lowered in _STOP_WORDS,
        is_foreign=alphabetic and not bare.isascii(),
        is_non_latin=alphabetic and all(ord(c) >= _FIRST_NON_LATIN for c in bare),
        is_capitalised=bare[:1].isupper(),
        is_acronym=is_word and like_acronym,
        is_delimiter=not is_word and not _DELIMITERS.isdisjoint(text),
        is_id=is_id,
        id_parts=_id_parts(name) if is_id else (),
        exact=name or _exact(lowered),
        is_code_letters=alphabetic and len(bare) <= _LONGEST_CODE and not marks & Mark.MAYBE_TIME,
        character_pairs=_pairs(bare) if is_word else None,
    )


def _marks(lowered: str) -> int:
    """The marks of a word in lower case: those of the tables, then those of its form."""
    marks = _MARKS.get(lowered, 0)
    if lowered[:1].isdigit():
        marks |= Mark.DIGITS | Mark.COUNT
        if _NUMERAL.fullmatch(lowered):
            marks |= Mark.NUMERAL
    if any(pattern.fullmatch(lowered) for pattern in _TIME_NUMBERS):
        marks |= Mark.TIME | Mark.TIME_NUMBER
    form = without_prefix(lowered)
    if form in PASTS or (
        lowered.endswith("ed") and len(lowered) > 3 and not lowered.endswith(_NOT_PAST)
    ):
        marks |= Mark.PAST
    if form in BARE_PASTS:
        marks |= Mark.BARE_PAST
    if form in BARE_PARTICIPLES:
        marks |= Mark.BARE_PARTICIPLE
    return marks


def _bare(text: str) -> str:
    """The text without the punctuation that wraps words and the dots of abbreviations:
    "#python" → "python", "Dr." → "Dr", "U.S." → "US"; "C#" and "C++" stay."""
    bare = text.strip(_WRAPPING).lstrip("#@")
    return bare.replace(".", "") if _DOTTED.fullmatch(bare) else bare


def _is_id(text: str, bare: str, marks: int) -> bool:
    """Whether a word is written like an id. Numbers and times are none, but for a number with
    several dots ("10.0.0.17") or many digits ("90182017")."""
    if bare.isalpha():
        return text.startswith(_ID_PREFIXES)
    if marks & Mark.TIME_NUMBER:
        return False
    if _NUMERAL.fullmatch(bare):
        return bare.count(".") > 1 or (bare.isdigit() and len(bare) >= _LONG_NUMBER)
    return _ID_CHARACTER.search(bare) is not None and not _ORDINAL.fullmatch(bare.lower())


def _id_parts(name: str) -> tuple[str, ...]:
    """What else an id is found by: the parts of a path, an address or an assignment
    ("ann@example.com" → "ann", "example.com"); an id with digits without what joins its parts
    ("e-1042" → "e1042"), which is also the token of "E 1042"."""
    split = (part.strip(_WRAPPING) for part in _ID_SEPARATORS.split(name))
    parts = dict.fromkeys(part.removeprefix("www.") for part in split)
    if len(parts) > 1:
        found = [part for part in parts if len(part) >= _SHORTEST_ID_PART and part not in _SCHEMES]
        return tuple(found[:_MOST_ID_PARTS])
    joined = _JOINERS.sub("", name)
    return (joined,) if any(c.isdigit() for c in joined) else ()


def _exact(lowered: str) -> str:
    """What is no word as an exact token: a picture itself; of a word that is too long for a term
    its first characters."""
    if any(unicodedata.category(c) == "So" for c in lowered):
        return lowered
    return lowered[:LONGEST_WORD] if len(lowered) > LONGEST_WORD else ""


def _pairs(text: str) -> tuple[str, ...] | None:
    """Pairs of characters of a script without spaces, whose words cannot be told apart; None for
    other scripts."""
    if not _UNSPACED.fullmatch(text):
        return None
    return tuple(text[i : i + 2] for i in range(max(1, len(text) - 1)))


# Stems.

_LONGEST_ACRONYM = 6
_VOWELS = frozenset("aeiouy")
_ACRONYMS = word_set(ENGLISH["acronyms"]["like_words"])
_HYPHENS = dict.fromkeys(map(ord, "‐‑‒–−"), "-")
"""The Unicode hyphens, and the dashes and the minus that are typed for one inside a word."""

_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
"""Latin letters that have no accent to take away."""

_COMBINING = re.compile("(?<=[a-z])[\u0300-\u036f]+")

_lock = new_lock()
_porter = Stemmer.Stemmer("porter", 0)


def plain(word: str) -> str:
    """The word in lower case and Unicode's compatibility form, Latin letters without accents."""
    if word.isascii():
        return word.lower()
    # The compatibility form of some marks begins with a space ("¸"). Format characters such as
    # soft hyphens are not letters.
    visible = (letter for letter in word if unicodedata.category(letter) != "Cf")
    lowered = unicodedata.normalize("NFKC", "".join(visible)).lower().translate(_HYPHENS)
    if not lowered.isascii():
        lowered = _COMBINING.sub("", "".join(map(_without_accent, lowered))).translate(_LETTERS)
    return "".join(lowered.split())


@lru_cache(maxsize=4096)
def _without_accent(letter: str) -> str:
    """A Latin letter without its accents. In other scripts marks make another letter."""
    first, *marks = list(unicodedata.normalize("NFKD", letter))
    return first if marks and first.isascii() else letter


def stem(word: str) -> str:
    """The Porter stem of a word: "coffee" → "coffe", "Paris" → "pari"."""
    lowered = plain(word)
    if len(lowered) <= 2:
        return lowered
    # A PyStemmer object keeps state between calls: one thread at a time.
    with _lock:
        stemmed: str = _porter.stemWord(lowered)
    return stemmed


def is_like_acronym(word: str) -> bool:
    """Whether a word is written like an acronym: two to six characters, all letters capital."""
    return 2 <= len(word) <= _LONGEST_ACRONYM and word.isupper() and word[0].isalpha()


def name_in_capitals(word: str) -> str:
    """The name of a word that is written like an acronym.

    An acronym's name is the word in lower case ("GPS" → "gps"). A word with a vowel is no acronym,
    unless the table of English words lists it ("AIDS"): its name is its stem ("PARIS" → "pari").
    """
    name = plain(word)
    return stem(word) if _VOWELS.intersection(name) and name not in _ACRONYMS else name


def is_all_capitals(text: str) -> bool:
    """Whether a text has several words, all in capitals: then capitals do not mark acronyms."""
    return text.isupper() and len(text.split()) > 1


# Forms of irregular verbs and nouns. One table of irregular verbs serves the stems of terms and the
# tenses. A prefix ("re", "over") makes another verb with the same forms.

SINGULARS: dict[str, str] = ENGLISH["singulars"]
"""The singular of each plural that Porter's stemmer does not bring together with it."""

_FORMS: dict[str, list[str]] = {base: forms.split() for base, forms in ENGLISH["verbs"].items()}

PASTS = {form.rstrip("*"): base for base, forms in _FORMS.items() for form in forms if form != "="}
"""The base of each past form and participle that differs from its base."""

VERBS: dict[str, str] = {
    form: base for base, forms in _FORMS.items() for form in forms if form.isalpha()
} | ENGLISH["verb_forms"]
"""The base of each form that shares its base's stem in terms."""

BARE_PASTS = frozenset(base for base, forms in _FORMS.items() if forms[0] == "=")
"""Verbs whose past is their base: "put"."""

BARE_PARTICIPLES = frozenset(base for base, forms in _FORMS.items() if forms[-1] == "=")
"""Verbs whose participle is their base: "put", "come"."""

_BARE_FORMS = BARE_PASTS | BARE_PARTICIPLES
_PREFIXES = tuple(ENGLISH["verb_prefixes"]["prefixes"].split())
_UNDONE = word_set(ENGLISH["verb_prefixes"]["undone"])
_OTHER_WORDS = word_set(ENGLISH["verb_prefixes"]["other_words"])


def without_prefix(form: str) -> str:
    """A form in lower case without its verb's prefix: "rebuilt" → "built". The form itself if it is
    not a prefix and an irregular form."""
    if not form.startswith(_PREFIXES) or form in _OTHER_WORDS:
        return form
    for prefix in _PREFIXES:
        rest = form.removeprefix(prefix)
        base = PASTS.get(rest) or (rest if rest in _BARE_FORMS else "")
        if rest != form and base and (prefix != "un" or base in _UNDONE):
            return rest
    return form


def verb_base(form: str) -> str:
    """The base of a verb's form in lower case: "ate" → "eat", "rebuilt" → "rebuild". The form
    itself if it is not irregular."""
    rest = without_prefix(form)
    prefix = form.removesuffix(rest)
    return prefix + ((PASTS if prefix else VERBS).get(rest) or rest)


_ENDINGS = {name: re.compile(text, re.VERBOSE) for name, text in ENGLISH["verb_endings"].items()}


def regular_base(form: str) -> str:
    """The base of the form in lower case that a regular verb has with "ing" or "ed": "planning" →
    "plan", "solved" → "solve", "studied" → "study"; the form itself if it ends otherwise."""
    if form.endswith("ied"):
        return form[:-3] + "y"
    rest = next((form.removesuffix(end) for end in ("ing", "ed") if form.endswith(end)), form)
    if rest == form or form.endswith("eed") or not re.search("[aeiouy]", rest):
        return form
    if rest[-1] == rest[-2:-1]:
        is_doubled = rest[-1] not in "eflosz" or re.search("[aeiou].*(?:ell|gnall|roll)$", rest)
        return rest[:-1] if is_doubled and len(rest) > len("add") else rest
    has_lost_e = _ENDINGS["lost_e"].search(rest) and not _ENDINGS["no_e"].search(rest)
    return rest + "e" if has_lost_e else rest
