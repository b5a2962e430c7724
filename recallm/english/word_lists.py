"""English words: the lists in ``data/english.toml``, and the forms of irregular verbs and nouns.

One table of irregular verbs serves the stems of terms and the tenses. A prefix ("re", "over") makes
another verb with the same forms.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_PLACE_OF_PART = re.compile(r"\{([a-z_]+)\}")


def read_table(path: str) -> dict[str, Any]:
    """A TOML file of this package; comments in the file say what it holds."""
    return tomllib.loads(files("recallm.english").joinpath(path).read_text(encoding="utf-8"))


ENGLISH = read_table("data/english.toml")
"""The lists of words; comments in the file say what each holds."""


def word_set(words: str) -> frozenset[str]:
    """The words of a text that has spaces between them: a compact spelling of tables."""
    return frozenset(words.split())


def filled(pattern: str, parts: Mapping[str, str]) -> str:
    """A pattern with its parts in the place of their names: "in {year}"."""
    return _PLACE_OF_PART.sub(lambda found: filled(parts[found[1]], parts), pattern)


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


_LOST_E: re.Pattern[str] = re.compile(
    r"""(?: ^(?:[^aeiou]|(?<=q)u)*[aeiouy][^aeiouwxy]  # "bik", "typ": a base without "e" doubles
    | [^aeiourlw]l | [cuvz](?<!zz)                    # "recycl", "notic", "argu", "solv", "realiz"
    | [aeiou]{2}s | [lnprw]s | [dlr]g | guid          # "rais", "licens", "judg"
    | (?:[aeiou]|all?en|aven|arran|[cp]han|cra?in|loun|[lp]un)g   # "manag", "challeng", "chang"
    | (?:[^aeiou]|[iu]|cre)at                         # "celebrat", "evaluat", "creat"
    | (?:[^aeiou]|qu)(?:a[dkmprs]|hal|i[bdklmnrst]|o[dksv]|u[dlmnrst]|yp)  # "prepar", "combin"
    | (?:ad|gn|pl|st)or | [mv]ot | quot | (?:comp|del|pl)et | c(?:ed|om) | [nr]ven | (?:ph|tp)on
    | (?:dh|ev|rf)er | (?:b?a|brea|clo|loa|soo)th | (?:^p|h|t|w)ast
    )$""",
    re.VERBOSE,
)
"""What is left of a verb before "ing" and "ed" where its base ends with a silent "e"."""

_NO_LOST_E: re.Pattern[str] = re.compile(
    r"""(?: (?:aud|ba|benef|cred|ed|exh?|fid|hab|her|hib|lim|mer|orb|pos|prof|rab|spir|vis|vom)it
    | (?:be|o|pro)long | ^long | (?:cata|dia)log | combat | format | pi[lv]ot | focus | ^bus | ^gas
    | bias | canvas | murmur | sugar | trumpet )$""",
    re.VERBOSE,
)
"""The same for bases that look so and end without "e": "edit", "focus"."""


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
    return rest + "e" if _LOST_E.search(rest) and not _NO_LOST_E.search(rest) else rest
